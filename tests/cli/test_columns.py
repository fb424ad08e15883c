"""Columns that need a decision: dates become numbers, and what only names the rows is left out."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from localmdi.cli.tables.dates import split_dates
from localmdi.cli.tables.open import open_table

QUICK = ("--trees", "10", "--json")
DAYS = pd.date_range("2019-12-20", periods=60, freq="13D")


def table(path, dates, **columns):
    frame = pd.DataFrame({"visit": dates, "x": np.arange(60) % 7, **columns})
    frame["sick"] = np.where(DAYS.year > 2020, "yes", "no")
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("name", "dates"),
    [
        ("iso.csv", DAYS.strftime("%Y-%m-%d")),
        ("slashes.csv", DAYS.strftime("%Y/%m/%d")),
        ("times.csv", DAYS.strftime("%Y-%m-%dT%H:%M")),
        ("dots.csv", DAYS.strftime("%d.%m.%Y 10:30")),
        ("typed.parquet", DAYS),
        ("days.parquet", DAYS.date),
        ("text.parquet", DAYS.strftime("%Y-%m-%d")),
    ],
)
def test_dates_become_numbers(tmp_path, name, dates):
    found = split_dates(open_table(table(tmp_path / name, dates)), ["visit"])
    assert found.names == ("visit year", "visit month", "visit days since 1970", "x", "sick")
    batches = found.batches(["visit days since 1970", "x", "visit year", "visit month"], 25)
    whole = pa.concat_tables(list(batches))
    assert whole["visit year"].to_pylist() == DAYS.year.tolist()
    assert whole["visit month"].to_pylist() == DAYS.month.tolist()
    days = (DAYS - pd.Timestamp("1970-01-01")).days.tolist()
    assert whole["visit days since 1970"].to_pylist() == days


@pytest.mark.parametrize("command", ["explain", "global", "infinite"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_every_command_learns_from_dates(run, tmp_path, command, ending):
    path = table(tmp_path / f"visits{ending}", DAYS)
    options = ["--json", "--bins", "3"] if command == "infinite" else list(QUICK)
    outcome = run(command, path, "--target", "sick", "--date", "visit", *options)
    assert outcome.code == 0, outcome.err
    columns = json.loads(outcome.out)["columns"]
    assert list(columns) == ["visit year", "visit month", "visit days since 1970", "x"]


def test_missing_dates(run, tmp_path):
    dates = DAYS.strftime("%Y-%m-%d").to_series().reset_index(drop=True)
    dates[::6] = None
    path = table(tmp_path / "a.csv", dates)
    outcome = run("explain", path, "--target", "sick", "--date", "visit", *QUICK)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["columns"]["visit year"] == "number, 10 missing"


def test_the_refusal_names_the_option(run, tmp_path):
    path = table(tmp_path / "a.csv", DAYS.strftime("%Y-%m-%d"))
    assert "with --date" in run("explain", path, "--target", "sick").complaint


@pytest.mark.parametrize(
    ("dates", "complaint"),
    [
        (DAYS.strftime("%m/%d/%Y"), "got '12/20/2019'"),
        (["2024-02-31"] * 60, "there is no day '2024-02-31'"),
        (["soon"] * 60, "got 'soon'"),
    ],
    ids=["month first", "no such day", "text"],
)
def test_what_is_no_date(run, tmp_path, dates, complaint):
    path = table(tmp_path / "a.csv", dates)
    outcome = run("explain", path, "--target", "sick", "--date", "visit", *QUICK)
    assert "written as 2024-01-31" in outcome.complaint
    assert complaint in outcome.complaint


def test_wrong_columns_of_dates(run, tmp_path):
    path = table(tmp_path / "a.csv", DAYS, **{"visit year": 1})
    assert (
        "no column 'when'" in run("explain", path, "--target", "sick", "--date", "when").complaint
    )
    assert (
        "has one already" in run("explain", path, "--target", "sick", "--date", "visit").complaint
    )
    pq.write_table(pa.table({"visit": [1, 2], "y": ["a", "b"]}), tmp_path / "b.parquet")
    outcome = run("explain", tmp_path / "b.parquet", "--target", "y", "--date", "visit")
    assert "its type is int64" in outcome.complaint


def test_names_of_rows_are_left_out(run, tmp_path):
    columns = {
        "code": [f"K{i:03}" for i in range(60)],
        "row": np.arange(60) * 3 + 7,
        "year": np.arange(1950, 2010),
        "people": np.random.default_rng(0).permutation(1000)[:60],
    }
    path = table(tmp_path / "a.csv", 1, **columns)
    arguments = ["explain", path, "--target", "sick", *QUICK]
    outcome = run(*arguments)
    assert list(json.loads(outcome.out)["columns"]) == ["visit", "x", "year", "people"]
    said = {
        name: [line for line in outcome.err.splitlines() if f"'{name}'" in line] for name in columns
    }
    for name in ("code", "row"):
        assert "is left out. Use --keep" in said[name][0]
    assert "Leave it out with --drop" in said["people"][0]
    kept = run(*arguments, "--keep", "code", "--keep", "row")
    assert "code" in json.loads(kept.out)["columns"]
    assert "'code'" not in kept.err
    assert "--keep: no column 'size'" in run(*arguments, "--keep", "size").complaint


def test_the_only_column_is_kept(run, tmp_path):
    lines = [f"n{i},{'ab'[i % 2]}" for i in range(50)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["name,y", *lines]))
    outcome = run("explain", path, "--target", "y", *QUICK)
    assert list(json.loads(outcome.out)["columns"]) == ["name"]
