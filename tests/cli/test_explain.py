"""What is computed is what the library computes, from every format."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import localmdi as lm

FAST = ("--trees", "8", "--target", "sick")


def frame_of(people):
    """The table as a user would read it."""
    return pd.read_csv(people)


def expected(people, **options):
    frame = frame_of(people)
    model = lm.RandomizedForestClassifier(8, random_state=0, **options)
    return model.fit(frame.drop(columns="sick"), frame["sick"])


def test_values_are_the_library_s(run, people):
    outcome = run("explain", people, *FAST, "-o", "out.parquet")
    assert outcome.code == 0
    written = pd.read_parquet("out.parquet")
    model = expected(people)
    importance = model.local_importances_
    np.testing.assert_array_equal(written[["sex", "age", "city"]], importance.values)
    np.testing.assert_array_equal(written["_residual"], importance.residual)
    np.testing.assert_array_equal(written["_baseline"], importance.baseline)
    assert written["_row"].tolist() == list(range(8))
    assert written["_prediction"].tolist() == frame_of(people)["sick"].tolist()
    assert list(written) == ["_row", "sex", "age", "city", "_baseline", "_residual", "_prediction"]
    about = parquet.read_schema("out.parquet").metadata
    assert about[b"localmdi.unit"] == b"bits"


@pytest.mark.parametrize(
    "name", ["a.tsv", "a.csv.gz", "a.tsv.gz", "a.parquet", "a.feather", "a.PQ"]
)
def test_every_format_gives_the_same(run, people, name, tmp_path):
    frame = frame_of(people)
    path = tmp_path / name
    if name.lower().endswith(("parquet", "pq")):
        frame.to_parquet(path)
    elif name.endswith("feather"):
        feather.write_feather(pa.Table.from_pandas(frame), str(path))
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    assert run("explain", people, *FAST, "-o", "one.csv").code == 0
    assert run("explain", path, *FAST, "-o", "two.csv").code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz"])
def test_written_texts(run, people, name):
    assert run("explain", people, *FAST, "-o", "out.parquet").code == 0
    assert run("explain", people, *FAST, "-o", name).code == 0
    separator = "\t" if ".tsv" in name else ","
    if name.endswith(".gz"):
        with gzip.open(name, "rt") as file:
            assert file.readline().startswith('"_row"')
    table = csv.read_csv(name, parse_options=csv.ParseOptions(delimiter=separator))
    written = parquet.read_table("out.parquet")
    assert table.column_names == written.column_names
    # The shortest text of a float is read back as the same float.
    assert [table[n].cast(pa.float64()) for n in ("sex", "age")] == [
        written[n] for n in ("sex", "age")
    ]


def test_summary(run, people):
    outcome = run("explain", people, *FAST, "--show-rows", "2")
    assert outcome.code == 0
    text = outcome.out
    assert "target sick: classification (strings)" in text
    assert "age: number, 1 missing" in text
    assert "city: 3 categories, 1 missing" in text
    assert "Uncertainty before anything is known: 1.0000 bits; left on average: 0.0000 bits" in text
    assert "Mean uncertainty removed by each feature, in bits" in text
    assert "1.0000 bits of uncertainty before anything is known" in text
    assert "0.0000 bits left" in text
    assert "Row 0, target no, predicted no" in text
    assert "Row 1, target yes, predicted yes" in text
    assert "Row 2" not in text


def test_json(run, people):
    outcome = run("explain", people, *FAST, "--json", "-q")
    document = json.loads(outcome.out)
    assert outcome.err == ""
    importance = expected(people).local_importances_
    mean = dict(zip(importance.feature_names, importance.values.mean(axis=0), strict=True))
    assert document["mean"] == pytest.approx(mean)
    assert document["baseline"] == importance.baseline
    assert document["unit"] == "bits"
    assert document["task"] == "classification"
    assert document["columns"]["sex"] == "2 categories"
    assert document["additivity_error"] < 1e-12
    (first,) = document["first_rows"]
    assert first["values"] == dict(
        zip(importance.feature_names, importance.values[0].tolist(), strict=True)
    )
    assert first["data"] == {"sex": "f", "age": 31.0, "city": "Bern"}


def test_rows(run, people):
    assert run("explain", people, *FAST, "-o", "all.parquet").code == 0
    assert run("explain", people, *FAST, "-o", "some.parquet", "--rows", "1,5:7").code == 0
    everything, some = pd.read_parquet("all.parquet"), pd.read_parquet("some.parquet")
    pd.testing.assert_frame_equal(everything.iloc[[1, 5, 6]].reset_index(drop=True), some)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("8", "no row 8; the file has 8 rows, counted from 0"),
        ("8:9", "no row selected; the file has 8 rows"),
    ],
)
def test_rows_that_do_not_exist(run, people, rows, said):
    outcome = run("explain", people, *FAST, "--rows", rows, "-o", "out.csv")
    assert outcome.code == 1
    assert said in outcome.complaint
    assert not people.with_name("out.csv").exists()


def test_singular_and_plural(run, write):
    wrong = re.compile(r"\b(1 \w*(rows|trees|features|bits|categories|columns|cells)|0 trees)\b")
    path = write("a.csv", "x,y\na,0\na,1\n")
    one = write("one.csv", "x\na\n")
    save = ["--save-model", "f.lmdi"]
    outcome = run("explain", path, "--target", "y", "--trees", "1", "--rows", "0", *save)
    assert f"{path}: 1 row, 1 feature; 1 tree fitted on 2 rows\n" in outcome.out
    assert "  x: 1 category\n" in outcome.out
    infinite = run("infinite", path, "--target", "y", "--at", "0")
    beyond = run("explain", one, "--model", "f.lmdi", "--rows", "5")
    assert beyond.complaint.startswith("no row 5; the file has 1 row, counted from 0.")
    none = run("explain", one, "--model", "f.lmdi", "--rows", "5:")
    assert none.complaint.startswith("no row selected; the file has 1 row, counted from 0.")
    for text in (outcome.out, infinite.out, beyond.err, none.err):
        assert not wrong.search(text), text


def test_regression(run, people):
    arguments = ["explain", people, "--target", "age", "--trees", "8", "--json"]
    document = json.loads(run(*arguments, "-o", "out.parquet").out)
    assert (document["task"], document["unit"]) == ("regression", "variance")
    assert document["fitted_rows"] == 7  # one age is missing; the row is explained all the same
    assert any("1 row without a value of 'age'" in note for note in document["notes"])
    frame = frame_of(people).dropna(subset="age")
    model = lm.RandomizedForestRegressor(8, random_state=0)
    model.fit(frame.drop(columns="age"), frame["age"])
    written = pd.read_parquet("out.parquet")
    rest = frame_of(people).drop(columns="age")
    np.testing.assert_allclose(written["_prediction"], model.predict(rest), rtol=1e-12)
    assert len(written) == 8


@pytest.mark.parametrize(
    ("column", "task"),
    [
        ("0 1 0 1 1 0", "classification"),
        ("0 1 2 3 4 5", "classification"),
        ("0.0 1.0 0.0 1.0 1.0 0.0", "classification"),
        ("0.5 1 2 3 4 5", "regression"),
        ("true false true true false true", "classification"),
        (" ".join(map(str, range(21))), "regression"),
    ],
)
def test_task_by_the_look_of_the_target(run, write, column, task):
    cells = column.split()
    path = write("a.csv", "x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    document = json.loads(run("explain", path, "--target", "y", "--trees", "3", "--json").out)
    assert document["task"] == task


def test_task_by_option(run, write):
    path = write("a.csv", "x,y\n1,0\n2,1\n3,2\n4,2\n")
    arguments = ["explain", path, "--target", "y", "--trees", "3", "--json"]
    assert json.loads(run(*arguments).out)["unit"] == "bits"
    assert json.loads(run(*arguments, "--task", "regression").out)["unit"] == "variance"
    texts = write("b.csv", "x,y\n1,a\n2,b\n")
    outcome = run("explain", texts, "--target", "y", "--task", "regression")
    assert "of a regression must hold numbers, not strings" in outcome.complaint
    measured = write("c.csv", "x,y\n1,0.5\n2,1.5\n")
    arguments = ["explain", measured, "--target", "y", "--trees", "3", "--json"]
    document = json.loads(run(*arguments, "--task", "classification").out)
    assert document["first_rows"][0]["prediction"] == "0.5"


def test_categorical_and_drop(run, people):
    arguments = ["explain", people, *FAST, "--json", "--exclude", "city"]
    document = json.loads(run(*arguments, "--categorical", "age").out)
    assert document["columns"] == {"sex": "2 categories", "age": "7 categories, 1 missing"}


def test_learning_from_some_rows(run, write):
    lines = [f"{i},{i % 3},{'ab'[i % 2]}" for i in range(500)]
    path = write("a.csv", "\n".join(["x,z,y", *lines]))
    arguments = ["explain", path, "--target", "y", "--trees", "5", "--json", "--max-fit-rows", "50"]
    documents = [json.loads(run(*arguments, "--seed", seed).out) for seed in (0, 0, 1)]
    assert [document["fitted_rows"] for document in documents] == [50] * 3
    assert documents[0]["rows"] == 500
    assert any("50 rows drawn at random from 500" in note for note in documents[0]["notes"])
    assert documents[0]["mean"] == documents[1]["mean"] != documents[2]["mean"]


def test_jobs_do_not_change_a_bit(run, people):
    assert run("explain", people, *FAST, "-o", "one.csv", "--jobs", "1").code == 0
    assert run("explain", people, *FAST, "-o", "two.csv", "--jobs", "-1").code == 0
    folder = people.parent
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()


def test_no_prediction(run, people):
    assert run("explain", people, *FAST, "-o", "out.parquet", "--no-predict").code == 0
    assert "_prediction" not in parquet.read_schema("out.parquet").names


def test_many_rows_grow_fewer_trees(run, people, monkeypatch):
    from localmdi.tables import training

    monkeypatch.setattr(training, "_MOST_PATHS", 900)
    outcome = run("explain", people, "--target", "sick", "--json")
    document = json.loads(outcome.out)
    assert document["trees"] == 112
    assert "growing 112 trees instead of 1,000" in outcome.err


def test_columns_that_only_name_the_rows(run, write):
    lines = [f"n{i},{i % 3},{'ab'[i % 2]}" for i in range(30)]
    path = write("a.csv", "\n".join(["name,x,y", *lines]))
    arguments = ["explain", path, "--target", "y", "--trees", "3", "--plain"]
    outcome = run(*arguments)
    assert "column 'name' has a different value in every row, like an identifier" in outcome.err
    assert "is left out. Use --keep" in outcome.err
    assert "note" not in run(*arguments, "--exclude", "name").err


def test_targets_and_predictions_have_one_type(run, write, pages):
    path = write("a.csv", "x,y\n1,0\n2,1\n3,\n")
    arguments = ["explain", path, "--target", "y", "--trees", "3", "--report", "r.html"]
    assert run(*arguments).code == 0
    assert pages[0]["target"] == [0, 1, None]
    assert pages[0]["prediction"][:2] == [0, 1]
    assert run(*arguments, "--task", "regression").code == 0
    assert pages[1]["target"] == [0.0, 1.0, None]


def test_gaps_that_the_forest_has_not_met(run, write):
    # The only gap of x is in a row without target; that of z may not be among the rows drawn.
    lines = [f"{i},{i},{'ab'[i % 2]}" for i in range(100)]
    path = write("a.csv", "\n".join(["x,z,y", *lines, ",7,", "7,,a"]))
    for fit_rows in ("5", "200"):
        outcome = run(
            "explain", path, "--target", "y", "--trees", "9", "--max-fit-rows", fit_rows, "--json"
        )
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["rows"] == 102


def test_missing_numbers_are_missing_in_every_format(run, tmp_path):
    table = pa.table({"x": [1.0, float("nan"), 3.0, None], "y": list("abab")})
    parquet.write_table(table, tmp_path / "a.parquet")
    arguments = [
        "explain",
        "a.parquet",
        "--target",
        "y",
        "--trees",
        "3",
        "--json",
        "--show-rows",
        "4",
    ]
    document = json.loads(run(*arguments).out)
    assert document["columns"] == {"x": "number, 2 missing"}
    assert [row["data"]["x"] for row in document["first_rows"]] == [1.0, None, 3.0, None]


def test_many_columns_are_told_by_kind(run, write):
    names = [f"x{i}" for i in range(25)]
    lines = [",".join([*["1"] * 24, "c", "ab"[i % 2]]) for i in range(4)]
    path = write("a.csv", "\n".join([",".join([*names, "y"]), *lines]))
    outcome = run("explain", path, "--target", "y", "--trees", "2")
    assert "24 numeric columns: x0, x1, x2, x3, x4, …" in outcome.out
    assert "1 categorical column: x24" in outcome.out


def test_quiet(run, write):
    path = write("a.csv", "x,y\n1,a\n2,b\n3,\n")
    arguments = ["explain", path, "--target", "y", "--trees", "3"]
    assert "1 row without a value of 'y' is not learned from" in run(*arguments).err
    assert run(*arguments, "--quiet").err == ""
