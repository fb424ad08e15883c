"""Columns that need a decision: dates become numbers, and what only names the rows is left out."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from localmdi.tables.columns import understand
from localmdi.tables.open import open_table

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
    found = understand(open_table(table(tmp_path / name, dates)))
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
    outcome = run(command, path, "--target", "sick", *options)
    assert outcome.code == 0, outcome.err
    columns = json.loads(outcome.out)["columns"]
    assert list(columns) == ["visit year", "visit month", "visit days since 1970", "x"]


def test_missing_dates(run, tmp_path):
    dates = DAYS.strftime("%Y-%m-%d").to_series().reset_index(drop=True)
    dates[::6] = None
    path = table(tmp_path / "a.csv", dates)
    outcome = run("explain", path, "--target", "sick", *QUICK)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["columns"]["visit year"] == "number, 10 missing"


@pytest.mark.parametrize(
    ("style", "options", "said"),
    [
        ("%m/%d/%Y", (), "with the month first"),
        ("%d/%m/%y", (), "with the day first"),
        ("%d.%m.%Y", (), "with the day first"),
    ],
)
def test_the_order_of_dates_is_found(run, tmp_path, style, options, said):
    path = table(tmp_path / "a.csv", DAYS.strftime(style))
    outcome = run("explain", path, "--target", "sick", *QUICK, *options)
    assert said in outcome.err
    assert next(iter(json.loads(outcome.out)["columns"])) == "visit year"


def test_an_open_order_is_the_day_first_unless_told(run, tmp_path):
    days = pd.date_range("2019-01-01", periods=60).map(
        lambda day: day.replace(day=day.day % 12 + 1)
    )
    path = table(tmp_path / "a.csv", days.strftime("%d/%m/%Y"))
    assert "open" in run("explain", path, "--target", "sick", *QUICK).err
    assert "month first" in run("explain", path, "--target", "sick", "--month-first", *QUICK).err


@pytest.mark.parametrize(
    "dates", [["2024-02-31"] * 30 + ["2024-02-01"] * 30, ["soon", "late"] * 30]
)
def test_what_is_no_date_is_a_category(run, tmp_path, dates):
    path = table(tmp_path / "a.csv", dates)
    outcome = run("explain", path, "--target", "sick", *QUICK)
    assert json.loads(outcome.out)["columns"]["visit"] == "2 categories"


def test_dates_as_they_are_written(run, tmp_path):
    path = table(tmp_path / "a.csv", DAYS.strftime("%Y-%m-01"))
    outcome = run("explain", path, "--target", "sick", "--categorical", "visit", *QUICK)
    assert "categories" in json.loads(outcome.out)["columns"]["visit"]


def test_a_column_with_the_name_of_a_part(run, tmp_path):
    path = table(tmp_path / "a.csv", DAYS, **{"visit year": 1})
    outcome = run("explain", path, "--target", "sick", *QUICK)
    assert "'visit' holds dates" in outcome.err
    assert list(json.loads(outcome.out)["columns"]) == ["x", "visit year"]


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
    assert "Leave it out with --exclude" in said["people"][0]
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
