"""Rows are explained by trees that have not seen them: the account of the forest's own loss."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from pyarrow import csv
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import localmdi as lm
from localmdi.honest.folds import assign_folds

N_ROWS = 300
TREES = ("--trees", "60")


def make_table(seed=0):
    """A number and a category that tell something, and one of each that tell nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=N_ROWS).round(6),
            "sex": rng.choice(["f", "m"], N_ROWS),
            "noise": rng.random(N_ROWS).round(6),
            "city": rng.choice(["Bern", "Rom", "Wien"], N_ROWS),
        }
    )
    level = frame["dose"] + (frame["sex"] == "m") + rng.normal(size=N_ROWS) / 2
    return frame.assign(sick=np.where(level > 0.5, "yes", "no")), level


@pytest.fixture
def table(tmp_path):
    frame, _ = make_table()
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def shuffled(tmp_path):
    frame, _ = make_table()
    frame["sick"] = np.random.default_rng(1).permutation(frame["sick"])
    frame.to_csv(tmp_path / "shuffled.csv", index=False)
    return tmp_path / "shuffled.csv"


@pytest.fixture
def measured(tmp_path):
    """A regression."""
    frame, level = make_table()
    frame = frame.assign(sick=level.round(6)).rename(columns={"sick": "level"})
    frame.to_csv(tmp_path / "measured.csv", index=False)
    return tmp_path / "measured.csv"


def document(run, *arguments):
    outcome = run("explain", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def by_name(found):
    return {line["feature"]: line for line in found["features"]}


def test_chance_removes_nothing(run, shuffled):
    honest = document(run, shuffled, "--target", "sick", *TREES)
    assert (honest["honest"], honest["measure"]) == (True, "loss")
    # The forest believes what it has learned by heart, which is worse than knowing nothing.
    assert honest["mean_residual"] > honest["baseline"]
    assert max(honest["mean"].values()) < 0.03
    assert not any(line["significant"] for line in honest["features"])
    assert all(
        abs(line["importance"]) < 4.5 * line["standard_error"] for line in honest["features"]
    )
    quality = honest["quality"]
    assert quality["accuracy"] < quality["most_frequent"] + 0.1
    assert quality["log_loss"] == pytest.approx(honest["mean_residual"])
    plain = document(run, shuffled, "--target", "sick", *TREES, "--plain")
    assert (plain["honest"], plain["measure"]) == (False, "drop")
    assert plain["mean_residual"] < 0.1 * plain["baseline"]
    assert plain["features"] is None
    quality = plain["quality"]
    assert (quality["accuracy"], quality["brier"], quality["unseen"]) == (1.0, 0.0, False)
    assert quality["most_frequent"] < 1


def test_noise_is_at_zero_beside_a_signal(run, table):
    found = document(run, table, "--target", "sick", *TREES)
    features = by_name(found)
    for name, tells in {"dose": True, "sex": True, "noise": False, "city": False}.items():
        line = features[name]
        assert line["significant"] is tells
        assert (abs(line["importance"]) < 3 * line["standard_error"]) is not tells
    assert found["mean_residual"] < 0.9 * found["baseline"]
    assert found["additivity_error"] < 1e-12
    assert found["quality"]["accuracy"] > 0.75
    assert 0 < found["quality"]["brier"] < 0.4


def test_regression(run, measured):
    found = document(run, measured, "--target", "level", *TREES)
    assert (found["unit"], found["honest"]) == ("variance", True)
    quality = found["quality"]
    assert 0.3 < quality["r2"] < 1
    assert quality["error"] ** 2 == pytest.approx(found["mean_residual"])
    told = {name for name, line in by_name(found).items() if line["significant"]}
    assert {"dose", "sex"} <= told
    assert "noise" not in told


@pytest.mark.parametrize("task", ["sick", "level"])
def test_two_folds_by_hand(run, table, measured, task):
    path, kind = (
        (table, lm.RandomizedForestClassifier)
        if task == "sick"
        else (measured, lm.RandomizedForestRegressor)
    )
    found = document(
        run, path, "--target", task, *TREES, "-o", "o.parquet", "--show-rows", str(N_ROWS)
    )
    frame = csv.read_csv(path)
    y = np.array(frame[task].to_pylist())
    X = frame.drop_columns(task)
    fold = assign_folds(y, 2)
    written = pd.read_parquet("o.parquet")
    log_loss = []
    for k in (0, 1):
        model = kind(30, random_state=k).fit(X, y, sample_weight=(fold != k).astype(float))
        held = np.flatnonzero(fold == k)
        expected = lm.honest_mdi(
            model.forest_, X.take(held), y[held], held_out=True, measure="loss"
        )
        part = written.iloc[held]
        np.testing.assert_array_equal(part[list(X.column_names)], expected.values)
        np.testing.assert_array_equal(part["_residual"], expected.residual)
        np.testing.assert_array_equal(part["_baseline"], expected.baseline)
        said = model.predict(X.take(held))
        if task == "sick":
            assert (part["_prediction"] == said).all()
            sure = [found["first_rows"][i]["sure"] for i in held]
            np.testing.assert_allclose(sure, model.predict_proba(X.take(held)).max(axis=1))
            log_loss.append(expected.quality().figures["log_loss"] * len(held))
        else:
            np.testing.assert_allclose(part["_prediction"], said)
    if task == "sick":
        assert found["quality"]["log_loss"] == pytest.approx(sum(log_loss) / N_ROWS)


def test_expectations_are_the_mean_of_both_forests(run, table):
    frame = pd.read_csv(table)
    frame.loc[7, "sick"] = None
    frame.to_csv(table, index=False)
    document(run, table, "--target", "sick", *TREES, "-o", "o.parquet")
    X = csv.read_csv(table).drop_columns("sick")
    known = np.delete(np.arange(N_ROWS), 7)
    y, of_row, X_known = frame["sick"][known].to_numpy(str), X.take([7]), X.take(known)
    fold = assign_folds(y, 2)
    found = []
    for k in (0, 1):
        model = lm.RandomizedForestClassifier(30, random_state=k)
        model.fit(X_known, y, sample_weight=(fold != k).astype(float))
        held = np.flatnonzero(fold == k)
        given = {"X": X_known.take(held), "y": y[held], "held_out": True, "measure": "loss"}
        found.append(lm.honest_mdi(model.forest_, **given, at=of_row))
    written = pd.read_parquet("o.parquet").iloc[7]
    mean = (found[0].values + found[1].values)[0] / 2
    np.testing.assert_allclose(written[list(X.column_names)].to_numpy(float), mean)
    assert written["_residual"] == pytest.approx((found[0].residual + found[1].residual)[0] / 2)


def test_the_label_of_a_row_does_not_reach_its_own_prediction(run, measured):
    frame = pd.read_csv(measured)
    written = []
    for level in (frame["level"][7], 3.75):
        frame.loc[7, "level"] = level
        frame.to_csv(measured, index=False)
        arguments = ["--target", "level", *TREES, "--measure", "gain", "-o", "o.parquet"]
        assert run("explain", measured, *arguments).code == 0
        written.append(pd.read_parquet("o.parquet"))
    features = ["dose", "sex", "noise", "city", "_prediction"]
    one, two = (part.loc[7, features].to_numpy(float) for part in written)
    np.testing.assert_allclose(one, two, rtol=1e-9)
    assert not np.allclose(written[0].loc[8, features], written[1].loc[8, features], rtol=1e-9)


def test_what_is_said(run, table):
    text = run("explain", table, "--target", "sick", *TREES).out
    assert "60 trees each fitted on half of 300 rows" in text
    assert "These values are honest: measured on rows that the trees have not seen." in text
    assert "Unseen rows are predicted with accuracy 0." in text
    assert "Surprise before anything is known, on average: " in text
    assert " bits; left to the forest: 0." in text
    assert text.splitlines()[-2].endswith(" bits of surprise left to the forest")
    assert text.endswith("\n  ↑ towards the predicted class, ↓ away from it\n")
    assert "Mean gain of each feature on unseen rows, in bits, with standard errors\n" in text
    by_class = run("explain", table, "--target", "sick", *TREES, "--by-class").out
    assert "Mean surprise removed in the rows of each class, in bits" in by_class
    ranked = [line.split()[0] for line in text.splitlines() if " ± " in line]
    assert ranked[:2] == ["dose", "sex"]
    marked = [line for line in text.splitlines() if line.endswith("not distinguishable from noise")]
    assert sorted(line.split()[0] for line in marked) == ["city", "noise"]
    plain = run("explain", table, "--target", "sick", *TREES, "--plain").out
    assert "These values are plain" in plain
    assert "0.0000 bits left" in plain


def test_gains(run, table):
    found = document(run, table, "--target", "sick", *TREES, "--measure", "gain", "-o", "o.csv")
    assert (found["measure"], found["honest"]) == ("gain", True)
    assert found["baseline"] is found["mean_residual"] is found["additivity_error"] is None
    assert "_baseline" not in pd.read_csv("o.csv")
    text = run("explain", table, "--target", "sick", *TREES, "--measure", "gain").out
    assert "before anything is known" not in text
    text = run("explain", table, "--target", "sick", *TREES, "--measure", "gain", "--by-class").out
    assert "Mean gain in the rows of each class, in bits" in text
    assert " 0." in text.rpartition("Row 0")[2]
    plain = document(run, table, "--target", "sick", *TREES, "--measure", "gain", "--plain")
    assert (plain["measure"], plain["honest"]) == ("gain", False)
    assert min(plain["mean"].values()) >= 0


def test_rows_without_a_target_and_beyond_the_sample(run, table):
    frame = pd.read_csv(table)
    frame.loc[:4, "sick"] = None
    frame.to_csv(table, index=False)
    arguments = [table, "--target", "sick", *TREES, "--max-fit-rows", "200", "-o", "o.parquet"]
    found = document(run, *arguments)
    assert (found["rows"], found["honest"]) == (N_ROWS, True)
    assert found["fitted_rows"] < 200
    written = pd.read_parquet("o.parquet")
    assert written["_row"].tolist() == list(range(N_ROWS))
    features = written[["dose", "sex", "noise", "city"]]
    assert features.notna().all(axis=None)
    gap = features.sum(axis=1) - (written["_baseline"] - written["_residual"])
    assert gap.abs().max() < 1e-12
    (note,) = [note for note in found["notes"] if "their values are expectations" in note]
    assert note.startswith(f"{N_ROWS - found['fitted_rows']} rows of unknown 'sick'")
    assert [row["expected"] for row in found["first_rows"]] == [True]
    text = run("explain", *arguments).out
    assert "answer not known: expected values" in text
    assert text.splitlines()[-4].endswith(" bits of surprise to be expected still")
    assert run("explain", *arguments, "--rows", "3,100:110").code == 0
    some = pd.read_parquet("o.parquet")
    expected = written.iloc[[3, *range(100, 110)]].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, expected)


def test_jobs_do_not_change_a_bit(run, table):
    arguments = ["explain", table, "--target", "sick", *TREES, "-o"]
    assert run(*arguments, "one.csv", "--jobs", "1").code == 0
    assert run(*arguments, "two.csv", "--jobs", "2").code == 0
    folder = table.parent
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()


def test_rare_classes_and_gaps(run, table):
    frame = pd.read_csv(table)
    frame.loc[0, "sick"] = "perhaps"  # the fold that explains this row has never seen this class
    frame.loc[1, "dose"] = None
    frame.loc[1, "sick"] = None
    frame.loc[2, "city"] = "Oslo"
    frame.to_csv(table, index=False)
    arguments = [table, "--target", "sick", *TREES, "--show-rows", "3", "-o", "o.parquet"]
    found = document(run, *arguments)
    assert found["honest"]
    assert [row["row"] for row in found["first_rows"]] == [0, 1, 2]
    assert [row["expected"] for row in found["first_rows"]] == [False, True, False]
    alone = found["first_rows"][0]
    assert alone["residual"] is alone["baseline"] is alone["values"]["dose"] is None
    assert None not in found["mean"].values()
    written = pd.read_parquet("o.parquet")
    assert written["_residual"].isna().tolist() == [True, *[False] * (N_ROWS - 1)]
    assert found["mean_residual"] == pytest.approx(written["_residual"].mean())
    assert "no honest values: every tree has seen the row" in run("explain", *arguments).out


def test_few_rows_have_plain_values(run, table):
    pd.read_csv(table).head(39).to_csv(table, index=False)
    found = document(run, table, "--target", "sick", *TREES)
    assert not found["honest"]
    assert any("39 rows with a target are too few" in note for note in found["notes"])


def test_the_saved_forest_has_learned_from_all_rows(run, table):
    arguments = [table, "--target", "sick", "--trees", "9"]
    assert document(run, *arguments, "--save-model", "f.lmdi")["trees"] == 10
    forest = lm.load_forest("f.lmdi")
    assert forest.n_trees == 9
    roots = forest.weight[forest.tree_offset[:-1]]
    assert set(roots.tolist()) == {float(N_ROWS)}
    assert document(run, *arguments, "--save-model", "f.lmdi")["honest"]


def test_the_report_gets_what_is_shown(run, table, pages):
    assert run("explain", table, "--target", "sick", *TREES, "--report", "r.html").code == 0
    (page,) = pages
    assert page["result"].honest
    importance = page["global_importance"]
    assert (importance.honest, importance.measure, importance.error_kind) == (
        True,
        "gain",
        "sample",
    )
    assert importance.significant().tolist() == [True, True, False, False]
    assert page["quality"].sentence().startswith("Unseen rows are predicted with accuracy")
    assert any("two forests, each fitted to one half" in note for note in page["notes"])


def numbers_of(table):
    frame = pd.read_csv(table)[["dose", "noise", "sick"]]
    frame.to_csv(table, index=False)
    return frame[["dose", "noise"]], frame["sick"]


def test_a_model_with_bootstrap(run, table):
    X, y = numbers_of(table)
    model = RandomForestClassifier(80, random_state=0).fit(X, y)
    skops.io.dump(model, "model.skops")
    found = document(run, table, "--model", "model.skops", "--target", "sick", "-o", "o.parquet")
    assert (found["honest"], found["trees"]) == (True, 80)
    assert found["quality"]["unseen"]
    expected = lm.honest_mdi(model, X, y, measure="loss")
    assert found["unit"] == expected.unit == "gini"
    assert found["quality"] == expected.quality().describe()
    written = pd.read_parquet("o.parquet")
    np.testing.assert_array_equal(written[["dose", "noise"]], expected.values)
    np.testing.assert_array_equal(written["_residual"], expected.residual)
    assert [line["significant"] for line in found["features"]] == [True, False]
    plain = document(run, table, "--model", "model.skops", "--target", "sick", "--plain")
    assert not plain["honest"]


def test_a_regression_model_and_rows_without_a_target(run, measured):
    frame = pd.read_csv(measured)[["dose", "noise", "level"]]
    frame.loc[5, "level"] = None
    frame.to_csv(measured, index=False)
    known = frame.dropna()
    model = RandomForestRegressor(80, random_state=0).fit(known[["dose", "noise"]], known["level"])
    skops.io.dump(model, "model.skops")
    arguments = [measured, "--model", "model.skops", "--target", "level", "-o", "o.parquet"]
    assert document(run, *arguments)["honest"]
    written = pd.read_parquet("o.parquet")[["dose", "noise"]]
    pair = known[["dose", "noise"]], known["level"]
    expected = lm.honest_mdi(model, *pair, measure="loss", at=frame[["dose", "noise"]].iloc[[5]])
    np.testing.assert_array_equal(written.iloc[[5]], expected.values)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (ExtraTreesClassifier(20, random_state=0), "bootstrap=True"),
        (AdaBoostClassifier(n_estimators=5, random_state=0), "boosted trees do not store"),
    ],
)
def test_a_model_that_cannot_be_honest(run, table, model, said):
    X, y = numbers_of(table)
    skops.io.dump(model.fit(X, y), "model.skops")
    found = document(run, table, "--model", "model.skops", "--target", "sick")
    assert not found["honest"]
    assert any(said in note for note in found["notes"]), found["notes"]
    assert "These values are plain" in run("explain", table, "--model", "model.skops").out


def test_a_model_of_other_rows(run, table):
    X, y = numbers_of(table)
    skops.io.dump(RandomForestClassifier(20, random_state=0).fit(X[::-1], y[::-1]), "model.skops")
    found = document(run, table, "--model", "model.skops", "--target", "sick")
    assert not found["honest"]
    assert any("are not what fit got" in note for note in found["notes"])


def test_a_table_too_large_to_hold(run, table):
    X, y = numbers_of(table)
    skops.io.dump(RandomForestClassifier(80, random_state=0).fit(X, y), "model.skops")
    arguments = [table, "--model", "model.skops", "--target", "sick"]
    found = document(run, *arguments, "--max-fit-rows", "100")
    assert not found["honest"]
    assert any("more than 100 rows" in note for note in found["notes"])


def test_global_is_that_of_explain(run, table):
    arguments = [table, "--target", "sick", *TREES]
    found = json.loads(run("global", *arguments, "--json", "-o", "out.csv").out)
    assert (found["honest"], found["measure"]) == (True, "gain")
    explained = document(run, *arguments)
    assert found["features"] == explained["features"]
    assert found["quality"] == explained["quality"]
    assert pd.read_csv("out.csv")["feature"].tolist() == ["dose", "sex", "noise", "city"]
    text = run("global", *arguments).out
    assert "Mean gain of each feature on unseen rows, in bits, with standard errors\n" in text
    assert "Unseen rows are predicted with accuracy" in text


def test_global_finds_nothing_in_noise(run, shuffled):
    def features(*options):
        outcome = run("global", shuffled, "--target", "sick", *TREES, *options, "--json")
        return json.loads(outcome.out)["features"]

    honest = features()
    assert not any(entry["significant"] for entry in honest)
    assert max(abs(entry["importance"]) for entry in honest) < 0.05
    # Fully grown trees claim to know nearly all of the bit of uncertainty.
    assert sum(entry["importance"] for entry in features("--plain")) > 0.9


def test_rows_that_every_tree_has_seen(run, table):
    X, y = numbers_of(table)
    model = RandomForestClassifier(6, criterion="entropy", random_state=0).fit(X, y)
    skops.io.dump(model, "model.skops")
    arguments = [table, "--model", "model.skops", "--target", "sick", "-o", "o.parquet"]
    found = document(run, *arguments, "--show-rows", str(N_ROWS), "--report", "r.html")
    with pytest.warns(UserWarning, match="every tree"):
        expected = lm.honest_mdi(model, X, y, measure="loss")
    unknown = np.isnan(expected.residual)
    assert 3 < unknown.sum() < 60
    written = pd.read_parquet("o.parquet")
    np.testing.assert_array_equal(written[["dose", "noise"]], expected.values)
    assert any(f"{unknown.sum()} rows of {N_ROWS} were seen" in note for note in found["notes"])
    np.testing.assert_allclose(list(found["mean"].values()), expected.mean().values)
    assert found["mean_residual"] == pytest.approx(np.nanmean(expected.residual))
    assert found["quality"] == expected.quality().describe()
    sure = np.array([np.nan if row["sure"] is None else row["sure"] for row in found["first_rows"]])
    np.testing.assert_array_equal(np.isnan(sure), unknown)
    # In bag nobody knows how sure the forest is; what it says of such a row is what it predicts.
    assert (written["_prediction"][unknown] == model.predict(X)[unknown]).all()
    assert "nan" not in run("explain", *arguments, "--show-rows", "40").out


def test_a_balanced_forest_keeps_its_weights(run, table):
    X, y = numbers_of(table)
    model = RandomForestClassifier(
        80, criterion="entropy", class_weight="balanced_subsample", random_state=0
    ).fit(X, y)
    skops.io.dump(model, "model.skops")
    found = document(run, table, "--model", "model.skops", "--target", "sick")
    expected = lm.honest_mdi(model, X, y, measure="loss")
    assert expected.row_weight is not None
    np.testing.assert_allclose(list(found["mean"].values()), expected.mean().values)
    assert found["quality"]["log_loss"] == pytest.approx(found["mean_residual"])


def test_even_chances_are_one_bit_at_most(run, table):
    frame = pd.read_csv(table).head(41)
    frame["sick"] = np.where(np.arange(41) % 2, "yes", "no")
    frame.to_csv(table, index=False)
    text = run("explain", table, "--target", "sick", *TREES).out
    (line,) = [line for line in text.splitlines() if line.startswith("Surprise before")]
    before, left = (float(part.split()[0]) for part in line.split(": ")[1:])
    assert before <= 1
    # Chance costs: the way ends above where it starts.
    assert left > before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--measure", "drop"], "add --plain"),
        (["--measure", "loss", "--plain"], "leave out --plain"),
    ],
)
def test_measures_that_do_not_fit(run, table, options, said):
    outcome = run("explain", table, "--target", "sick", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.complaint


def test_a_model_without_a_target_has_no_loss(run, table):
    X, y = numbers_of(table)
    skops.io.dump(RandomForestClassifier(9, random_state=0).fit(X, y), "model.skops")
    arguments = ["explain", table, "--model", "model.skops", "--exclude", "sick"]
    outcome = run(*arguments, "--measure", "loss")
    assert outcome.code == 2
    assert "name the --target" in outcome.complaint
    assert json.loads(run(*arguments, "--measure", "drop", "--json").out)["measure"] == "drop"


def test_drop_and_gain_are_the_plain_measures(run, table):
    X, y = numbers_of(table)
    model = RandomForestClassifier(20, criterion="entropy", random_state=0).fit(X, y)
    skops.io.dump(model, "model.skops")
    arguments = [table, "--model", "model.skops", "--target", "sick", "--plain", "-o", "o.parquet"]
    for options, measure in (
        ([], "drop"),
        (["--measure", "drop"], "drop"),
        (["--measure", "gain"], "gain"),
    ):
        assert document(run, *arguments, *options)["measure"] == measure
        expected = lm.local_mdi(model, X, measure=measure)
        np.testing.assert_array_equal(
            pd.read_parquet("o.parquet")[["dose", "noise"]], expected.values
        )


def test_accounts_are_compared(run, table):
    for seed in "12":
        arguments = ["--target", "sick", *TREES, "--seed", seed, "-o", f"{seed}.parquet"]
        assert run("explain", table, *arguments).code == 0
    found = json.loads(run("compare", "1.parquet", "2.parquet", "--json").out)
    assert (found["rows"], found["unit"]) == (N_ROWS, "bits")
