"""What a person is told: row numbers, quality, suspicious columns, signs, numbers, booleans."""

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

QUICK = ("--trees", "20", "--jobs", "1")


@pytest.fixture
def table(tmp_path):
    """120 rows with a weak target, an identifier, many postcodes and a flag."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "flag": rng.random(n) < 0.5,
            "postcode": [f"P{i}" for i in rng.integers(0, 60, n)],
            "code": [f"K{i:05}" for i in rng.permutation(n)],
            "number": rng.permutation(10 * n)[:n],
        }
    )
    frame["sick"] = np.where(frame.age + 40 * frame.flag + rng.normal(0, 25, n) > 70, "yes", "no")
    frame["cost"] = 1e5 * (frame.age + rng.normal(0, 20, n))
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_reports_keep_the_numbers_of_the_rows(run, table, pages):
    told = run(
        "explain", table, "--target", "sick", "--rows", "100:110", *QUICK, "--report", "a.html"
    )
    assert told.code == 0, told.err
    (page,) = pages
    assert list(page["result"].row_labels) == list(range(100, 110))
    assert "Row 100" in told.out


def test_a_sampled_report_knows_the_whole(run, table, pages, monkeypatch):
    monkeypatch.setattr("localmdi.cli.commands.explain.REPORT_ROWS", 30)
    told = run(
        "explain", table, "--target", "sick", *QUICK, "--report", "a.html", "--plain", "-o", "v.csv"
    )
    assert told.code == 0, told.err
    (page,) = pages
    values = pd.read_csv("v.csv")
    assert page["whole"].n_rows == 120
    names = list(page["result"].feature_names)
    assert np.allclose(page["whole"].mean, values[names].mean().to_numpy())
    rows = values.set_index("_row").loc[list(page["result"].row_labels), names]
    assert np.allclose(rows.to_numpy(), page["result"].values)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("fitted_on", ["booleans", "text"])
def test_pipelines_fitted_on_booleans(run, table, tmp_path, kind, fitted_on):
    frame = pd.read_csv(table)[["age", "flag", "sick"]]
    if fitted_on == "text":
        frame["flag"] = np.where(frame.flag, "true", "false")
        steps = make_column_transformer((OneHotEncoder(), ["flag"]), remainder="passthrough")
    else:
        steps = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    model = make_pipeline(steps, RandomForestClassifier(5, random_state=0))
    model.fit(frame[["age", "flag"]], frame.sick)
    skops.io.dump(model, tmp_path / "pipe.skops")
    data = tmp_path / f"rows.{kind}"
    getattr(frame, f"to_{kind}")(data, index=False)
    told = run("explain", data, "--model", "pipe.skops", "-o", "v.parquet")
    assert told.code == 0, told.err
    predicted = pd.read_parquet("v.parquet")["_prediction"]
    assert predicted.tolist() == model.predict(frame[["age", "flag"]]).tolist()


def test_text_where_numbers_were_fitted_names_the_column(run, table, tmp_path):
    frame = pd.read_csv(table)
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    model.fit(frame[["age", "number"]], frame.sick)
    skops.io.dump(model, tmp_path / "pipe.skops")
    broken = frame[["age", "number"]].astype(object)
    broken.loc[3, "number"] = "seven"
    broken.to_csv(tmp_path / "broken.csv", index=False)
    told = run("explain", "broken.csv", "--model", "pipe.skops")
    assert told.code == 1
    assert "'number'" in told.complaint
    assert "seven" in told.complaint


def quality_of(told):
    (line,) = [line for line in told.out.splitlines() if "predicted with" in line]
    return line


def save(model, frame, target, path, features=("age", "number")):
    skops.io.dump(model.fit(frame[list(features)], frame[target]), path)
    return model


@pytest.mark.parametrize(("target", "kind"), [("sick", "accuracy"), ("cost", "R²")])
def test_a_model_of_the_table_is_judged_out_of_bag(run, table, tmp_path, target, kind, pages):
    frame = pd.read_csv(table)
    make = RandomForestClassifier if target == "sick" else RandomForestRegressor
    model = make(60, random_state=0, oob_score=True)
    save(model, frame, target, tmp_path / "m.skops")
    told = run(
        "explain", table, "--model", "m.skops", "--target", target, "--json", "--report", "a.html"
    )
    assert told.code == 0, told.err
    quality = json.loads(told.out)["quality"]
    found = quality["accuracy"] if target == "sick" else quality["r2"]
    assert found == pytest.approx(model.oob_score_, abs=0.02)
    assert "may have seen" not in told.err
    (page,) = pages
    assert page["quality"].describe() == quality
    assert kind in page["quality"].sentence()
    # The predictions shown are those of trees that have not seen the row.
    shown = np.array(page["prediction"])
    inside = model.predict(frame[["age", "number"]])
    assert (shown != inside).mean() > 0.1


@pytest.mark.parametrize("target", ["sick", "cost"])
def test_a_plain_model_has_a_quality_line_that_warns(run, table, tmp_path, target, pages):
    frame = pd.read_csv(table)
    make = RandomForestClassifier if target == "sick" else ExtraTreesRegressor
    options = {"bootstrap": False} if target == "sick" else {}
    save(make(10, random_state=0, **options), frame, target, tmp_path / "m.skops")
    told = run("explain", table, "--model", "m.skops", "--target", target, "--report", "a.html")
    assert told.code == 0, told.err
    line = quality_of(told)
    assert ("accuracy 1.000" if target == "sick" else "R² 1.000") in line
    assert "may have learned from them" in line
    assert not pages[0]["quality"].unseen


def test_no_target_no_quality(run, table, tmp_path):
    frame = pd.read_csv(table)
    save(RandomForestClassifier(5, random_state=0), frame, "sick", tmp_path / "m.skops")
    told = run("explain", table, "--model", "m.skops")
    assert "predicted with" not in told.out


def test_suspicious_columns_are_named(run, table, pages):
    told = run(
        "explain", table, "--target", "sick", "--exclude", "cost", *QUICK, "--report", "a.html"
    )
    for name, word in (("code", "identifier"), ("number", "identifier"), ("postcode", "60")):
        in_terminal = [line for line in told.err.splitlines() if f"'{name}'" in line]
        assert any(word in line or "different values" in line for line in in_terminal), told.err
        assert any(f"'{name}'" in note for note in pages[0]["notes"])
    assert "'age'" not in told.err
    assert "'flag'" not in told.err


def test_signs_are_those_of_the_values(run, table):
    told = run("explain", table, "--target", "sick", "--rows", "0:1", *QUICK, "--json")
    row = json.loads(told.out)["first_rows"][0]
    text = run("explain", table, "--target", "sick", "--rows", "0:1", *QUICK).out
    block = text[text.index("Row 0") :]
    for name, value in row["values"].items():
        if f" {name} = " in block:
            (line,) = [one for one in block.splitlines() if f" {name} = " in one]
            number = float(line.split()[0].replace("\N{MINUS SIGN}", "-"))
            assert number == pytest.approx(value, abs=1e-4)


def test_large_numbers_are_readable(run, table):
    told = run(
        "explain", table, "--target", "cost", "--task", "regression", *QUICK, "--rows", "0:1"
    )
    assert "e+" not in told.out
    assert "\N{MULTIPLICATION SIGN} 10" in told.out
    assert "standard deviation" in told.out
    assert "variance of variance" not in told.out
    assert "00000000" not in told.out
