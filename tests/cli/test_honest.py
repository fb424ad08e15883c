"""Rows are explained by trees that have not seen them: noise removes nothing."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import localmdi as lm

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
    assert honest["honest"]
    assert honest["mean_residual"] == pytest.approx(honest["baseline"], rel=0.02)
    assert not any(line["significant"] for line in honest["features"])
    assert all(
        abs(line["importance"]) < 4.5 * line["standard_error"] for line in honest["features"]
    )
    quality = honest["quality"]
    assert quality["accuracy"] < quality["most_frequent"] + 0.1
    plain = document(run, shuffled, "--target", "sick", *TREES, "--plain")
    assert not plain["honest"]
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
    assert 0.3 < found["quality"]["r2"] < 1
    told = {name for name, line in by_name(found).items() if line["significant"]}
    assert {"dose", "sex"} <= told
    assert "noise" not in told


def test_the_label_of_a_row_does_not_reach_its_own_values(run, measured):
    frame = pd.read_csv(measured)
    written = []
    for level in (frame["level"][7], 3.75):
        frame.loc[7, "level"] = level
        frame.to_csv(measured, index=False)
        assert run("explain", measured, "--target", "level", *TREES, "-o", "o.parquet").code == 0
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
    assert "; really left on average: 0." in text
    assert text.splitlines()[-2].endswith(" bits really left")
    assert text.endswith("\n  ↑ towards the predicted class, ↓ away from it\n")
    assert "Mean gain of each feature on unseen rows, in bits, with standard errors" in text
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
    assert "Uncertainty before" not in text
    assert " 0." in text.rpartition("Row 0")[2]
    plain = document(run, table, "--target", "sick", *TREES, "--measure", "gain", "--plain")
    assert (plain["measure"], plain["honest"]) == ("gain", False)
    assert min(plain["mean"].values()) >= 0


def test_rows_without_a_target_and_beyond_the_sample(run, table):
    frame = pd.read_csv(table)
    frame.loc[:4, "sick"] = None
    frame.to_csv(table, index=False)
    arguments = [table, "--target", "sick", *TREES, "--fit-rows", "200", "-o", "o.parquet"]
    found = document(run, *arguments)
    assert (found["rows"], found["honest"]) == (N_ROWS, True)
    assert found["fitted_rows"] < 200
    written = pd.read_parquet("o.parquet")
    assert written["_row"].tolist() == list(range(N_ROWS))
    features = written[["dose", "sex", "noise", "city"]]
    assert features.notna().all(axis=None)
    gap = features.sum(axis=1) - (written["_baseline"] - written["_residual"])
    assert gap.abs().max() < 1e-12
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
    frame.loc[0, "sick"] = "perhaps"  # one half has never seen this class
    frame.loc[1, "dose"] = None
    frame.loc[1, "sick"] = None
    frame.loc[2, "city"] = "Oslo"
    frame.to_csv(table, index=False)
    found = document(run, table, "--target", "sick", *TREES, "--show", "3")
    assert found["honest"]
    assert [row["row"] for row in found["first_rows"]] == [0, 1, 2]


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
    assert any("two forests, each fitted to half of the rows" in note for note in page["notes"])


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
    expected = lm.honest_mdi(model, X, y, measure="drop")
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
    expected = lm.honest_mdi(model, *pair, measure="drop", at=frame[["dose", "noise"]].iloc[[5]])
    np.testing.assert_array_equal(written.iloc[[5]], expected.values)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (ExtraTreesClassifier(20, random_state=0), "bootstrap=True"),
        (RandomForestClassifier(3, random_state=0), "seen by every tree"),
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
    found = document(run, *arguments, "--fit-rows", "100")
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
    assert "Mean gain of each feature on unseen rows, in bits, with standard errors given" in text
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
