"""Tables as people have them: every one is read, or refused in one sentence."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

FAST = ("--target", "y", "--trees", "3")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "'empty.csv' is empty; a table needs a line of column names"),
        ("blank.csv", b"\n\n", "'blank.csv' is empty"),
        ("header.csv", b"x,y\n", "'header.csv' has no rows, only column names"),
        ("ragged.csv", b"x,y\n" + b"1,2\n" * 99 + b"1,2,3\n" * 98, "--separator"),
        ("one.csv", b"x,y\n1,a\n2,a\n", "at least two distinct values; got one"),
        ("none.csv", b"x,y\n1,\n2,\n", "at least two distinct values; got none"),
        ("alone.csv", b"y\n1\n2\n", "no column to learn from besides the target"),
        (
            "when.csv",
            b"x,y\n1,2024-01-31\n2,2024-02-01\n",
            "must hold classes or numbers, not dates",
        ),
        ("lie.parquet", b"x,y\n1,2\n", "says Parquet, but the content is not Parquet"),
        ("lie.csv", b"PAR1abcd", "says text, but the content looks like Parquet"),
        ("lie.csv", b"\x1f\x8b\x08\x00", "says text, but the content looks like gzip"),
        ("lie.csv.gz", b"x,y\n1,2\n", "says gzip, but the content is not gzip"),
        ("excel.csv", b"PK\x03\x04rest", "says text, but the content looks like a workbook"),
        ("broken.parquet", b"PAR1 and no more", "is not a readable Parquet file"),
        ("broken.feather", b"ARROW1 and no more", "is not a readable Feather file"),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00 and no more", "is not a readable table"),
        ("table.doc", b"PK", "must end in .csv, .tsv"),
        ("table.xlsx", b"PK\x03\x04 and no more", "is not a readable workbook"),
        ("locked.xlsx", b"\xd0\xcf\x11\xe0 and no more", "locked with a password"),
        ("list.jsonl", b"[1, 2]\n", "must be an object"),
        ("infinite.csv", b"x,y\ninf,a\n2,b\n", "no column to learn from"),
    ],
)
def test_refused_in_one_sentence(run, write, name, content, said):
    outcome = run("explain", write(name, content), *FAST, "-o", "out.csv")
    assert outcome.code == 1
    assert said in outcome.complaint
    assert ".." not in outcome.complaint
    assert not (write(name, content).parent / "out.csv").exists()


def test_a_table_without_columns(run, tmp_path):
    parquet.write_table(pa.table({}), tmp_path / "none.parquet")
    outcome = run("explain", tmp_path / "none.parquet", *FAST)
    assert outcome.code == 1
    assert outcome.complaint == "'none.parquet' has no columns."


def test_the_encoding_can_be_named(run, write):
    path = write("latin.csv", "größe,y\ncafé,1\nthé,2\n".encode("latin1"))
    document = json.loads(run("explain", path, *FAST, "--json", "--encoding", "latin1").out)
    assert document["columns"] == {"größe": "2 categories"}


def test_another_separator(run, write):
    path = write("a.csv", "x;y\n1;a\n2;b\n")
    outcome = run("explain", path, *FAST, "--separator", ",")
    assert outcome.code == 2
    assert "no column 'y'; 'a.csv' has 'x;y'. Use --separator" in outcome.complaint
    outcome = run("explain", path, *FAST, "--json")
    assert "';' between cells" in outcome.err
    assert json.loads(outcome.out)["columns"] == {"x": "number"}


def test_a_file_of_a_spreadsheet_with_decimal_commas(run, write):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = np.where(x + 0.3 * rng.normal(size=400) > 0, "ja", "nein")
    lines = [
        f"{value:.3f};{k % 7};{label}".replace(".", ",")
        for k, (value, label) in enumerate(zip(x, y, strict=True))
    ]
    text = "\n".join(["Export", "", "Größe;Tag;krank", *lines, "Summe;;"])
    outcome = run("explain", write("a.csv", text.encode("cp1252")), "--target", "krank", "--json")
    document = json.loads(outcome.out)
    assert "cp1252, ';' between cells, names in line 3, decimal comma" in outcome.err
    assert "totals" in outcome.err
    assert document["columns"] == {"Größe": "number", "Tag": "number"}
    told = {one["feature"]: one["significant"] for one in document["features"]}
    assert told == {"Größe": True, "Tag": False}


def test_a_workbook_lines_of_json_and_standard_input(run, tmp_path, monkeypatch):
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5] * 5, "y": list("abc") * 5})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.xlsx", "a.jsonl", "a.csv"):
        document = json.loads(run("explain", tmp_path / name, *FAST, "--json").out)
        assert document["columns"] == {"x": "number"}
        assert document["rows"] == 15
    with (tmp_path / "a.xlsx").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        outcome = run("explain", "-", *FAST, "--json")
    assert json.loads(outcome.out)["rows"] == 15


def test_the_standard_input_has_a_bound(run, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,a\n2,b\n" * 9)
    monkeypatch.setattr("localmdi.tables.open._MOST_INPUT", 40)
    with (tmp_path / "a.csv").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        outcome = run("explain", "-", *FAST)
    assert outcome.code == 1
    assert "the standard input is larger than" in outcome.complaint


def test_names_that_stand_there_twice(run, write):
    outcome = run("explain", write("a.csv", "x,x,y\n1,2,3\n4,5,6\n"), *FAST, "--json")
    assert list(json.loads(outcome.out)["columns"]) == ["x", "x (2)"]
    assert "repeated names" in outcome.err


def test_a_byte_order_mark(run, write):
    path = write("a.csv", b"\xef\xbb\xbfx,y\n1,a\n2,b\n")
    assert list(json.loads(run("explain", path, *FAST, "--json").out)["mean"]) == ["x"]


def test_a_huge_cell(run, write):
    path = write("large.csv", f"x,y\n{'z' * 900_000},a\nsmall,b\n")
    outcome = run("explain", path, *FAST)
    assert outcome.code == 0
    assert len(outcome.out) < 2000
    path = write("huge.csv", f"x,y\nsmall,b\n{'z' * 3_000_000},a\n")
    outcome = run("explain", path, *FAST)
    assert outcome.code == 1
    assert "has a line of more than 1 MB" in outcome.complaint


def test_a_type_that_changes_late(run, write):
    # Far behind the first block, of which a reader would guess the types.
    lines = [f"{i},{i % 2}" for i in range(3000)]
    path = write("a.csv", "\n".join(["x,y", *lines, "unknown,1"]))
    document = json.loads(run("explain", path, *FAST, "--json").out)
    assert document["columns"] == {"x": "3,001 categories"}


def test_texts_that_look_like_numbers(run, write):
    path = write("a.csv", 'x,z,y\n 1 ," 2.5",a\n1e3,NA,b\n-4,n/a,b\n')
    document = json.loads(run("explain", path, *FAST, "--json").out)
    assert document["columns"] == {"x": "number", "z": "number, 2 missing"}
    assert document["first_rows"][0]["data"] == {"x": 1.0, "z": 2.5}


def test_a_column_without_a_value(run, write):
    path = write("a.csv", "x,z,y\n1,,a\n2,,b\n")
    document = json.loads(run("explain", path, *FAST, "--json").out)
    assert document["columns"]["z"] == "number, 2 missing"
    assert document["mean"] == {"x": 1.0, "z": 0.0}


def test_cells_over_several_lines(run, write):
    path = write("a.csv", 'x,y\n"a\nb",1\n"c,""d""",2\n')
    document = json.loads(run("explain", path, *FAST, "--json").out)
    assert document["first_rows"][0]["data"] == {"x": "a\nb"}


HOSTILE = [
    "with space",
    'quo"te',
    "<script>alert(1)</script>",
    "naïve 😀",
    "a,b",
    "\x1b[2J",
    "_row",
]


def test_hostile_names(run, tmp_path):
    cells = {name: [float(i), 1.0, 2.0, 3.0] for i, name in enumerate(HOSTILE)}
    table = pa.table(cells | {"y y": ["<b>", "'", "<b>", "'"]})
    csv.write_csv(table, tmp_path / "a.csv")
    parquet.write_table(table, tmp_path / "a.parquet")
    for path in ("a.csv", "a.parquet"):
        outcome = run("explain", path, "--target", "y y", "--trees", "3", "-o", "out.csv")
        assert outcome.code == 0, outcome.err
        assert "\x1b" not in outcome.out
        names = pd.read_csv("out.csv").columns.tolist()
        assert names == ["__row", *HOSTILE, "_baseline", "_residual", "_prediction"]
    outcome = run("explain", path, "--target", "y y", "--trees", "3", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    assert "<script>alert(1)" not in (tmp_path / "r.html").read_text()


def test_the_index_of_pandas_is_no_feature(run, tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": list("aba")}, index=[7, 8, 10])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    for path in ("a.csv", "a.parquet"):
        outcome = run("explain", path, *FAST, "--json")
        assert list(json.loads(outcome.out)["mean"]) == ["x"]
        assert "a column without a name is ignored; it only numbers the rows" in outcome.err


def test_types_of_parquet(run, tmp_path):
    table = pa.table(
        {
            "flag": [True, False, None],
            "count": pa.array([1, 2, 3], pa.int8()),
            "big": pa.array([2**62, 1, 2], pa.int64()),
            "price": pa.array([1.5, 2.5, None]).cast(pa.decimal128(5, 2)),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "nothing": pa.nulls(3),
            "y": [0, 1, 0],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    document = json.loads(run("explain", "a.parquet", *FAST, "--json").out)
    assert document["columns"] == {
        "flag": "2 categories, 1 missing",
        "count": "number",
        "big": "number",
        "price": "number, 1 missing",
        "kind": "2 categories",
        "nothing": "number, 3 missing",
    }


@pytest.mark.parametrize("cells", [pa.array([[1], [2]]), pa.array([b"a", b"b"])])
def test_types_that_are_left_out(run, tmp_path, cells):
    parquet.write_table(pa.table({"x": cells, "z": [1, 2], "y": [0, 1]}), tmp_path / "a.parquet")
    outcome = run("explain", "a.parquet", *FAST, "--json")
    assert list(json.loads(outcome.out)["columns"]) == ["z"]
    assert "'x' holds lists or other structures" in outcome.err


def test_dates_as_categories(run, write):
    path = write("a.csv", "x,y\n2024-01-31,a\n2024-02-01,b\n")
    outcome = run("explain", path, *FAST, "--json", "--categorical", "x")
    assert json.loads(outcome.out)["columns"] == {"x": "2 categories"}


def test_no_rows_in_parquet(run, tmp_path):
    empty = pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())})
    parquet.write_table(empty, tmp_path / "a.parquet")
    assert "has no rows, only column names" in run("explain", "a.parquet", *FAST).complaint
