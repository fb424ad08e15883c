"""Numbers and dates as people write them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localmdi.tables.cells import ColumnLook, Kind, read_days, read_numbers
from localmdi.tables.columns import decisions, look_at


def strings(cells):
    return pa.chunked_array([pa.array(cells, pa.string())])


def settled(cells, **usual):
    look = ColumnLook()
    look.see(strings(cells))
    return look.settle(**usual)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "2"], [1, 2]),
        (["1.5", " 2 "], [1.5, 2]),
        (["1,5", "2"], [1.5, 2]),
        (["1,234", "5,678.5"], [1234, 5678.5]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["0.123", "0.456"], [0.123, 0.456]),
        (["1.234", "1.2"], [1.234, 1.2]),
        (["12.345,6", "1.000"], [12345.6, 1000]),
        (["1.234.567", "1"], [1234567, 1]),
        (["1 234,5", "7"], [1234.5, 7]),
        (["1\N{NO-BREAK SPACE}234", "7"], [1234, 7]),
        (["1'234.50", "2"], [1234.5, 2]),
        (["$1,200.50", "$3"], [1200.5, 3]),
        (["-$5", "$3"], [-5, 3]),
        (["1.234,56 €", "0 €"], [1234.56, 0]),
        (["EUR 5", "EUR 1.000,00"], [5, 1000]),
        (["5 %", "0"], [5, 0]),
        (["12,5%", "3%"], [12.5, 3]),
        (["\N{MINUS SIGN}5", "+3"], [-5, 3]),
        (["-", "3"], [None, 3]),
        (["?", "3.5", "n.a."], [None, 3.5, None]),
        (["1e5", "2E-3"], [1e5, 2e-3]),
        (["inf", "2"], [np.inf, 2]),
        ([None, None], [None, None]),
    ],
)
def test_numbers(cells, numbers):
    form = settled(cells)
    assert form.kind == Kind.NUMBER
    assert read_numbers(strings(cells), form).to_pylist() == numbers


@pytest.mark.parametrize(
    "cells",
    [["a", "3"], ["5 €", "7 $"], ["1,2,3"], ["12,34,567.8"], ["1.2.3"], ["32/01/2024"], ["?", "x"]],
)
def test_categories(cells):
    assert settled(cells).kind == Kind.CATEGORY


def test_what_cells_leave_open_is_as_usual():
    cells = ["1,234", "5,678"]
    assert read_numbers(strings(cells), settled(cells)).to_pylist() == [1234, 5678]
    german = settled(cells, usual=",")
    assert read_numbers(strings(cells), german).to_pylist() == [1.234, 5.678]
    assert german.guessed
    assert not settled(["12", "13"]).guessed


def test_other_columns_decide_what_one_leaves_open():
    table = pa.table({"a": ["1.234"], "b": ["0.5"], "c": ["7.25"], "d": ["1,5"]})
    found = look_at([table], table.column_names, usual=",")
    assert [form.decimal for form in found.values()] == [".", ".", ".", ","]


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["2024-01-31", "2024/2/1"], ["2024-01-31", "2024-02-01"]),
        (["2024-01-31T08:15:00Z", "2024-02-01 23:59"], ["2024-01-31", "2024-02-01"]),
        (["31.12.2024", "1.1.2024"], ["2024-12-31", "2024-01-01"]),
        (["12/31/2024", "01/02/2024"], ["2024-12-31", "2024-01-02"]),
        (["13/01/24", "1/2/99", None], ["2024-01-13", "1999-02-01", None]),
        (["01/02/2024"], ["2024-02-01"]),
        (["29.02.2024"], ["2024-02-29"]),
    ],
)
def test_dates(cells, days):
    form = settled(cells)
    assert form.kind == Kind.DATE
    expected = [None if day is None else datetime.date.fromisoformat(day) for day in days]
    assert read_days(strings(cells), form).to_pylist() == expected


def test_the_month_first_if_told():
    form = settled(["01/02/2024"], day_first=False)
    assert read_days(strings(["01/02/2024"]), form).to_pylist() == [datetime.date(2024, 1, 2)]
    # Cells that tell are believed.
    assert settled(["31/01/2024"], day_first=False).order == "day first"


def test_a_later_part_may_change_what_a_column_is():
    look = ColumnLook()
    for part in (["1.5", "2"], ["2024-01-31"]):
        look.see(strings(part))
    assert look.settle().kind == Kind.CATEGORY
    look = ColumnLook()
    for part in (["1", "2"], ["3,5"], ["4"]):
        look.see(strings(part))
    assert look.settle().decimal == ","


def test_cells_of_another_form_are_not_numbers():
    form = settled(["1,5"])
    assert read_numbers(strings(["1,5", "x"]), form) is None
    assert read_days(strings(["31.1.2024", "x"]), settled(["31.1.2024"])) is None


def test_decisions_are_said():
    table = pa.table({"price": ["1,50 €", "2 €"], "born": ["1.2.2024", "3.4.2024"]})
    said = decisions(look_at([table], table.column_names))
    assert said[:2] == ["decimal comma", "€ in 'price'"]
    assert "'born'" in said[2]
    assert "open" in said[2]


amounts = st.lists(
    st.integers(-(10**9), 10**9).map(lambda cents: cents / 100), min_size=1, max_size=20
)


@given(amounts, st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'"), (",", "")]))
def test_amounts_come_back(values, marks):
    decimal, thousands = marks
    cells = [
        f"{value:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
        for value in values
    ]
    form = settled(cells)
    assert read_numbers(strings(cells), form).to_pylist() == pytest.approx(values)


@given(st.lists(st.dates(datetime.date(1970, 1, 1), datetime.date(2068, 12, 31)), min_size=1))
def test_days_come_back(days):
    for style in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%y"):
        cells = [day.strftime(style) for day in days]
        assert read_days(strings(cells), settled(cells)).to_pylist() == days
