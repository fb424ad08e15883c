"""Names and cells that mean something to a spreadsheet, a terminal or a shell stay text."""

import csv
import os
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\N{FULLWIDTH EQUALS SIGN}1"]
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture
def table(tmp_path):
    n = 8
    cells = {name: [float((i * j) % 5) for i in range(n)] for j, name in enumerate(FORMULAS, 1)}
    labels = ["=cmd|' /C calc'!A0", "plain"] * (n // 2)
    parquet.write_table(pa.table(cells | {"y": labels}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


@pytest.mark.parametrize(("name", "separator"), [("out.csv", ","), ("out.tsv", "\t")])
def test_formulas(run, table, name, separator):
    arguments = ("explain", table, "--target", "y", "--trees", "3", "-o", name)
    for safe in (False, True):
        assert run(*arguments, *(["--safe-csv"] if safe else [])).code == 0
        with open(name, encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file, delimiter=separator))
        names, predictions = head[1:-3], {row[-1] for row in rows}
        if safe:
            assert names == [f"'{formula}" for formula in FORMULAS]
            assert predictions == {"'=cmd|' /C calc'!A0", "plain"}
            assert not any(cell.lstrip(" ").startswith(DANGEROUS) for cell in names)
        else:
            assert names == FORMULAS
        # Numbers stay numbers, negative ones too.
        assert all(float(cell) is not None for row in rows for cell in row[:-1])


def test_other_commands_and_formats(run, table):
    few = ("--target", "y", "--trees", "3", "--safe-csv")
    assert run("global", table, *few, "-o", "g.csv").code == 0
    with open("g.csv", encoding="utf-8", newline="") as file:
        assert "'=1+1" in {cell for row in csv.reader(file) for cell in row}
    assert run("explain", table, *few, "-o", "p.parquet").code == 0
    assert parquet.read_schema("p.parquet").names[1] == "=1+1"


CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))}
HOSTILE = ["\x1b[2J\x1b]0;title\x07", "\x9b31m", "a\rb\nc", "\u202egnp", "$(touch touched)"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal(tmp_path):
    import pty

    cells = {name: [float((i * j) % 3) for i in range(8)] for j, name in enumerate(HOSTILE, 1)}
    name = "\x1b[5m t.parquet"
    parquet.write_table(pa.table(cells | {"y": [HOSTILE[0], "b"] * 4}), tmp_path / name)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "localmdi", "explain", name, "--target", "y", "--trees", "3",
         "-o", "\x1b[1m.csv"],
        cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break  # the other end is closed
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(60) == 0
    text = shown.decode("utf-8")
    assert "Row 0" in text
    # A progress bar may go back to the start of its line and up again; nothing else moves.
    controls = {
        character for character in text if ord(character) < 32 or 127 <= ord(character) < 160
    }
    assert controls <= {"\r", "\n"}, sorted(controls)
    assert "\u202e" not in text
    assert not (tmp_path / "touched").exists()
