"""``global``, ``infinite`` and ``demo``."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from pyarrow import parquet
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import localmdi as lm


def test_plain_global_of_a_table(run, people):
    arguments = ["global", people, "--target", "sick", "--trees", "8", "--plain"]
    document = json.loads(run(*arguments, "--json").out)
    frame = pd.read_csv(people)
    model = lm.RandomizedForestClassifier(8, random_state=0)
    importance = lm.global_mdi(model.fit(frame.drop(columns="sick"), frame["sick"]))
    listed = document["features"]
    assert [entry["feature"] for entry in listed] == ["sex", "age", "city"]
    np.testing.assert_allclose([entry["importance"] for entry in listed], importance.values)
    np.testing.assert_allclose(
        [entry["standard_error"] for entry in listed], importance.standard_error
    )
    assert (document["honest"], document["quality"]) == (False, None)
    assert "These values are plain" in run(*arguments).out


def test_global_of_few_rows_is_plain(run, people):
    outcome = run("global", people, "--target", "sick", "--trees", "4")
    assert "too few to hold some of them out" in outcome.err
    assert "These values are plain" in outcome.out


def test_global_of_a_model(run, people, tmp_path):
    frame = pd.read_csv(people).dropna()
    X, y = frame[["age"]], frame["sick"]
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    skops.io.dump(model, tmp_path / "m.skops")
    document = json.loads(run("global", "--model", "m.skops", "--json").out)
    (entry,) = document["features"]
    assert entry["importance"] == lm.global_mdi(model).values[0]
    boosted = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    skops.io.dump(boosted, tmp_path / "m.skops")
    outcome = run("global", "--model", "m.skops", "--json")
    assert json.loads(outcome.out)["features"][0]["standard_error"] is None
    assert "±" not in run("global", "--model", "m.skops").out


def test_global_of_one_tree_has_no_error(run, people):
    arguments = ["global", people, "--target", "sick", "--plain", "--trees", "1", "--json"]
    assert json.loads(run(*arguments).out)["features"][0]["standard_error"] is None
    text = run(*arguments[:-1]).out
    assert text.startswith(str(people) + ": 3 features; 1 tree\n")
    assert "nan" not in text
    assert "±" not in text
    assert "standard error" not in text


@pytest.fixture
def led(tmp_path):
    X, y = lm.datasets.make_led()
    frame = pd.DataFrame(X, columns=[f"segment {i}" for i in range(1, 8)])
    frame.assign(digit=y).to_csv(tmp_path / "led.csv", index=False)
    return tmp_path / "led.csv"


def test_infinite(run, led):
    outcome = run("infinite", led, "--target", "digit", "-o", "out.parquet")
    assert outcome.code == 0, outcome.err
    assert "infinitely many trees, exact" in outcome.out
    written = pd.read_parquet("out.parquet")
    result = lm.infinite_mdi(*lm.datasets.make_led())
    np.testing.assert_allclose(written[[f"segment {i}" for i in range(1, 8)]], result.values)
    # There is no number of trees to tell.
    assert "0 tree" not in outcome.out
    about = parquet.read_schema("out.parquet").metadata
    assert (about[b"localmdi.unit"], b"localmdi.trees" in about) == (b"bits", False)


def test_infinite_at_some_rows(run, led, pages):
    arguments = ["infinite", led, "--target", "digit", "--at", "6", "--criterion", "gini"]
    outcome = run(*arguments, "--json", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    X, y = lm.datasets.make_led()
    expected = lm.infinite_mdi(X, y, X[6:7], criterion="gini").values[0]
    (row,) = document["first_rows"]
    assert row["row"] == 6
    np.testing.assert_allclose(list(row["values"].values()), expected)
    assert document["unit"] == "gini"
    (page,) = pages
    assert page["title"] == "digit in led.csv"
    assert page["result"].data.to_pylist()[0]["segment 1"] == 1.0
    assert "no row 10; the file has 10 rows" in run(*arguments[:-3], "10").complaint


def test_infinite_of_numbers(run, people):
    arguments = ["infinite", people, "--target", "sick"]
    complaint = run(*arguments).complaint
    assert "--bins age=4 and --missing category" in complaint
    assert "bins=" not in complaint
    assert "--missing category" in run(*arguments, "--bins", "2").complaint
    cut = [*arguments, "--missing", "category", "--bins"]
    for bins in ("2", "age=2"):
        document = json.loads(run(*cut, bins, "--json").out)
        assert document["columns"]["age"] == "numbers cut into 2 bins"
    assert "'height'" in run(*cut, "height=2").complaint
    outcome = run(*cut, "2", "--criterion", "variance")
    assert "needs a numeric target; 'sick' holds strings" in outcome.complaint


def test_infinite_says_what_became_of_the_bins(run, tmp_path):
    table = tmp_path / "doses.csv"
    rows = [f"{19 - i},{max(i - 16, 0) / 7},{'yes' if i > 16 else 'no'}" for i in range(20)]
    table.write_text("\n".join(["age,dose,sick", *rows]))
    document = json.loads(run("infinite", table, "--target", "sick", "--bins", "4", "--json").out)
    assert document["columns"]["dose"] == "numbers cut into 2 bins"
    identifier, merged, whole = document["notes"]
    assert "'age' has a different value in every row" in identifier
    assert "'dose' has 2 instead of 4" in merged
    assert "'age' (20 values)" in whole
    assert "--bins age=4" in whole
    document = json.loads(run("infinite", table, "--target", "sick", "--json").out)
    assert document["columns"] == {"age": "20 categories", "dose": "numbers"}


def test_infinite_regression(run, led):
    document = json.loads(run("infinite", led, "--target", "segment 1", "--json").out)
    assert document["unit"] == "bits"
    arguments = ["infinite", led, "--target", "digit", "--criterion", "variance", "--json"]
    assert json.loads(run(*arguments).out)["unit"] == "variance"


def test_demo(run, pages):
    outcome = run("demo", "--trees", "30")
    assert outcome.code == 0, outcome.err
    assert "Surprise before anything is known, on average: 3.3218 bits; left to" in outcome.out
    assert "These values are honest" in outcome.out
    assert "Row 0, target 0, predicted 0" in outcome.out
    assert "bits of surprise left to the forest" in outcome.out
    assert "report: localmdi-demo.html" in outcome.out
    (page,) = pages
    assert (str(page["path"]), page["title"]) == ("localmdi-demo.html", "Handwritten digits")
    assert page["result"].shape == (1797, 64)
    assert (page["result"].honest, page["result"].measure) == (True, "loss")
    # The corner of an image is empty: it tells nothing.
    assert not page["global_importance"].significant()[0]
    assert page["global_importance"].significant().sum() > 20
    assert page["target"][:3] == [0, 1, 2]


def test_demo_of_one_tree_per_half(run, pages):
    outcome = run("demo", "--trees", "1")
    assert "explained by 2 trees in" in outcome.out
    assert "nan" not in outcome.out
    (page,) = pages
    assert page["notes"][1].startswith("2 totally randomized trees, half of them grown on one half")


def test_criteria_by_their_other_names(run, led):
    arguments = ["infinite", led, "--target", "digit", "--json", "--criterion"]
    for name, unit in (("log_loss", "bits"), ("squared_error", "variance")):
        assert json.loads(run(*arguments, name).out)["unit"] == unit


def test_demo_as_json(run, pages):
    outcome = run("demo", "--trees", "5", "--json", "--report", "d.html", "--max-features", "sqrt")
    document = json.loads(outcome.out)
    assert document["files"] == {"report": "d.html"}
    (row,) = document["first_rows"]
    assert sum(row["values"].values()) == pytest.approx(row["baseline"] - row["residual"])
    assert len(document["mean"]) == 64
    assert document["quality"]["accuracy"] > 0.5
