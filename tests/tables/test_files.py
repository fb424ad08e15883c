"""Files as people have them: delimiters, encodings, notes above and below."""

import csv
import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localmdi.tables.open import open_table
from localmdi.tables.rows import JsonLinesTable, SheetTable
from localmdi.tables.text import TextTable


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def cells_of(table):
    parts = list(table.batches(table.names, 1000))
    return [tuple(row.values()) for row in pa.concat_tables(parts).to_pylist()] if parts else []


@pytest.mark.parametrize(
    ("content", "encoding", "names", "cells"),
    [
        ("a,b\n1,2\n", "utf-8", ("a", "b"), [("1", "2")]),
        ("\ufeffa,b\n1,2\n", "utf-8", ("a", "b"), [("1", "2")]),
        ("a;b\n1,5;2,5\n3,5;4,5\n", "utf-8", ("a", "b"), [("1,5", "2,5"), ("3,5", "4,5")]),
        ("a\tb\n1\t2\n", "utf-16", ("a", "b"), [("1", "2")]),
        ("a\tb\n1\t2\n", "utf-16-le", ("a", "b"), [("1", "2")]),
        ("größe;b\n1;2\n", "cp1252", ("größe", "b"), [("1", "2")]),
        ("a|b|c\n1|2|3\n", "utf-8", ("a", "b", "c"), [("1", "2", "3")]),
        ("sep=;\na;b\n1;2\n", "utf-8", ("a", "b"), [("1", "2")]),
        ("a,b\r1,2\r3,4\r", "utf-8", ("a", "b"), [("1", "2"), ("3", "4")]),
        ('a,b\r\n"x\ny",2\r\n', "utf-8", ("a", "b"), [("x\ny", "2")]),
        ('n,t\nA,"hello; you, there"\nB,"x; y"\n', "utf-8", ("n", "t"), None),
        ("a\n1\n2\n", "utf-8", ("a",), [("1",), ("2",)]),
        ("Report of May\n\nx;y\na;1\nb;2\n", "utf-8", ("x", "y"), [("a", "1"), ("b", "2")]),
        ("x,x,y\n1,2,3\n", "utf-8", ("x", "x (2)", "y"), [("1", "2", "3")]),
        ("age,sex\n1,31,m\n2,42,f\n", "utf-8", ("", "age", "sex"), None),
    ],
)
def test_tables_are_read(write, content, encoding, names, cells):
    table = TextTable(write(content, encoding=encoding))
    assert table.names == names
    if cells is not None:
        assert cells_of(table) == cells


def test_compressed(write):
    path = write(gzip.compress("größe;b\n1;2\n".encode("cp1252")), "table.csv.gz")
    assert cells_of(TextTable(path)) == [("1", "2")]


def test_a_letter_far_behind_decides_on_the_encoding(write):
    rows = "x,1\n" * 200_000
    table = TextTable(
        write(f"a,b\n{rows}caf\N{LATIN SMALL LETTER E WITH ACUTE},2\n", encoding="cp1252")
    )
    assert table.dialect.encoding == "cp1252"
    assert cells_of(table)[-1] == ("café", "2")


def test_totals_are_left_out(write):
    table = open_table(write("who;n\na;1\nb;2\nTotal:;3\n"))
    assert cells_of(table) == [("a", "1"), ("b", "2")]
    assert "totals" in table.notes[0]
    # In the middle it is a row as any other.
    assert len(cells_of(open_table(write("who;n\nTotal;1\nb;2\n")))) == 2


def test_rows_of_another_width_are_left_out_and_said(write):
    table = TextTable(write("a,b\n1,2\n3\n4,5\nsource: the web\n"))
    assert cells_of(table) == [("1", "2"), ("4", "5")]
    assert table.notes[0].startswith("2 rows")
    assert "line 3" in table.notes[0]


def test_many_rows_of_another_width_are_refused(write):
    table = TextTable(write("a,b\n" + "1,2\n" * 50 + "1,2,3\n" * 49))
    with pytest.raises(ValueError, match="separator="):
        cells_of(table)


def test_what_is_said_wins(write):
    path = write("notes\na;b,c\n1;2,3\n", "named.csv")
    assert TextTable(path, separator=",", header_row=2).names == ("a;b", "c")
    assert TextTable(write("x;y;z\na;b;c\n1;2;3\n"), header_row=2).names == ("a", "b", "c")
    with pytest.raises(ValueError, match="encoding"):
        TextTable(
            write("caf\N{LATIN SMALL LETTER E WITH ACUTE}\n1\n", encoding="cp1252"),
            encoding="utf-8",
        )
    with pytest.raises(ValueError, match="no-such"):
        TextTable(path, encoding="no-such")


@pytest.mark.parametrize("content", ["", "\n\n", " \n"])
def test_empty_files(write, content):
    with pytest.raises(ValueError, match="empty"):
        TextTable(write(content))


words = st.text(st.characters(codec="cp1252", exclude_categories=["Cc"]), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(words, words, st.integers().map(str)), min_size=3, max_size=30),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
)
def test_what_a_program_writes_comes_back(write, rows, separator, encoding):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([("one", "two", "three"), *rows])
    table = TextTable(write(file.getvalue(), encoding=encoding))
    assert table.names == ("one", "two", "three")
    missing = {"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"}
    given = [tuple(None if cell in missing else cell for cell in row) for row in rows]
    assert cells_of(table)[:-1] == given[:-1]


def workbook(path, sheets):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet(tmp_path):
    import datetime

    rows = [
        ["Patients of May"],
        [],
        ["age", "born", "ok", "note"],
        [31, datetime.date(1990, 1, 2), True, None],
        [42.5, datetime.datetime(1980, 5, 6, 7, 8), False, "1,5"],
        [],
        [None, None, True, "x"],
    ]
    path = workbook(tmp_path / "t.xlsx", {"empty": [], "data": rows})
    table = SheetTable(path)
    assert table.names == ("age", "born", "ok", "note")
    assert table.decisions() == ["sheet 'data'", "names in row 3"]
    assert cells_of(table) == [
        ("31", "1990-01-02", "true", None),
        ("42.5", "1980-05-06T07:08", "false", "1,5"),
        (None, None, "true", "x"),
    ]
    with pytest.raises(ValueError, match="'data'"):
        SheetTable(path, sheet="nothing")
    with pytest.raises(ValueError, match="no table"):
        SheetTable(path, sheet="empty")


def test_a_damaged_workbook(write):
    with pytest.raises(ValueError, match="workbook"):
        SheetTable(write(b"PK\x03\x04" + b"x" * 100, "t.xlsx"))


def test_lines_of_json(write):
    table = JsonLinesTable(write('{"a": 1, "b": "x", "c": [1]}\n\n{"a": 2.5, "b": null}\n'))
    assert table.names == ("a", "b")
    assert cells_of(table) == [("1", "x"), ("2.5", None)]
    assert "'c'" in table.notes[0]


@pytest.mark.parametrize("content", ["[1, 2]\n", '{"a": 1}\nx\n', "{" * 100_000, '{"a": [1]}\n'])
def test_what_is_no_line_of_json(write, content):
    with pytest.raises(ValueError, match=r"table\.csv"):
        cells_of(JsonLinesTable(write(content)))
