"""``localmdi compare``: two files of importances of the same rows."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import localmdi as lm
from localmdi.results import LocalImportance

QUICK = ("--trees", "10", "--jobs", "1", "-q")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame({"age": rng.integers(20, 80, n), "dose": rng.normal(size=n).round(2)})
    frame["city"] = rng.choice(["Rom", "Oslo"], n)
    frame["sick"] = np.where(frame.age + rng.normal(0, 10, n) > 50, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def old(run, table):
    assert run("explain", table, "--target", "sick", *QUICK, "-o", "old.parquet").code == 0
    return table.parent / "old.parquet"


@pytest.fixture
def new(run, table):
    arguments = ("--rows", "5:60", "--seed", "1", *QUICK, "-o", "new.parquet")
    assert run("explain", table, "--target", "sick", *arguments).code == 0
    return table.parent / "new.parquet"


def read(path):
    frame = pd.read_parquet(path).set_index("_row")
    return frame[["age", "dose", "city"]]


def test_the_numbers_are_those_of_compare(run, old, new):
    outcome = run("compare", old, new, "--json", "--show-rows", "3")
    document = json.loads(outcome.out)
    first, second = read(old).loc[5:], read(new)
    results = [
        LocalImportance(
            frame.to_numpy(),
            unit="bits",
            feature_names=tuple(frame.columns),
            n_trees=10,
            row_labels=frame.index.to_numpy(),
        )
        for frame in (first, second)
    ]
    expected = lm.compare(*results, names=("old", "new"))
    assert document["rows"] == 55
    assert document["unit"] == "bits"
    assert document["same_largest_feature"] == expected.same_top_fraction
    assert document["mean_row_correlation"] == pytest.approx(expected.row_correlation.mean())
    assert document["features"] == expected.to_frame().to_dict("records")
    assert [one["row"] for one in document["changed_rows"]] == expected.rows(3)["row"].tolist()
    assert document["notes"] == ["5 rows that only one of the files has are not compared."]
    # The other way round the rows of the second file have other positions.
    again = json.loads(run("compare", new, old, "--json").out)
    assert again["mean_row_correlation"] == pytest.approx(document["mean_row_correlation"])


def test_text_table_and_page(run, old, new):
    outcome = run(
        "compare", old, new, "--names", "2024", "2025", "-o", "c.csv", "--report", "c.html"
    )
    assert outcome.code == 0
    assert "largest by mean value, 2024 → 2025:" in outcome.out
    assert "Rows that changed most, and in which feature" in outcome.out
    lines = pd.read_csv("c.csv")
    assert list(lines) == ["feature", "mean_2024", "mean_2025", "difference", "rank_correlation"]
    page = (old.parent / "c.html").read_text(encoding="utf-8")
    assert "<title>2024 and 2025</title>" in page
    assert "localmdi compare" in page
    assert "5 rows that only one of the files has are not compared." in page


def test_saved_results_can_be_compared(run, tmp_path, old):
    values = read(old)
    saved = LocalImportance(
        values.to_numpy(), unit="bits", feature_names=tuple(values.columns), n_trees=10
    )
    saved.save(tmp_path / "saved.lmdi")
    document = json.loads(run("compare", old, "saved.lmdi", "--json").out)
    assert document["mean_row_correlation"] == 1.0
    assert document["rows"] == 60
    assert run("compare", old, old, "--show-rows", "0").out.count("first → second") == 1


def test_a_feature_may_be_called_like_a_column_of_ours(run, tmp_path):
    pd.DataFrame(
        {"_row": range(50), "_baseline": np.arange(50) % 7, "y": np.arange(50) % 2}
    ).to_csv("odd.csv", index=False)
    run("explain", "odd.csv", "--target", "y", "--keep", "_row", *QUICK, "-o", "odd.parquet")
    document = json.loads(run("compare", "odd.parquet", "odd.parquet", "--json").out)
    assert {one["feature"] for one in document["features"]} == {"_row", "_baseline"}


def other_parquet(path):
    parquet.write_table(pa.table({"a": [1.0]}), path)


def damaged_parquet(path):
    path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")


def global_result(path):
    lm.results.GlobalImportance(np.ones(1), unit="bits", feature_names=("age",), n_trees=1).save(
        path
    )


def other_rows(path):
    LocalImportance(
        np.ones((2, 1)),
        unit="bits",
        feature_names=("age",),
        n_trees=1,
        row_labels=np.array([900, 901]),
    ).save(path)


def double_rows(path):
    LocalImportance(
        np.ones((2, 1)), unit="bits", feature_names=("age",), n_trees=1, row_labels=np.array([1, 1])
    ).save(path)


def other_features(path):
    LocalImportance(np.ones((2, 1)), unit="bits", feature_names=("x",), n_trees=1).save(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_text("a,b\n1,2\n"), "does not say in which unit"),
        (other_parquet, "not a file of importances"),
        (damaged_parquet, "not a file of importances"),
        (global_result, "it holds global importances"),
        (other_rows, "must have rows in common"),
        (double_rows, "the second file has some twice"),
        (other_features, "must share features"),
    ],
)
def test_what_cannot_be_compared_says_why(run, old, tmp_path, make, message):
    make(tmp_path / "other")
    outcome = run("compare", old, tmp_path / "other")
    assert outcome.code == 1
    assert message in outcome.complaint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--names", "a", "a"), "--names must be two different names"),
        (("--names", "row", "b"), "none of 'change'"),
        (("--report", "old.parquet"), "already an input"),
        (("-o", "c.txt"), "-o must name a file"),
    ],
)
def test_wrong_use(run, old, arguments, message):
    outcome = run("compare", old, old, *arguments)
    assert outcome.code == 2
    assert message in outcome.complaint
