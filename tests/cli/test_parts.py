"""The parts under the commands: samples of streams, selections of rows, kinds of columns."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from localmdi.cli.app import sentence
from localmdi.cli.console import show_ranking, show_row, show_total
from localmdi.results import LocalImportance
from localmdi.tables.cells import ColumnLook, Kind
from localmdi.tables.columns import as_kind
from localmdi.tables.row_selection import Reservoir, parse_rows

MINUS = "\N{MINUS SIGN}"


def draw(lengths, size, seed=0):
    reservoir = Reservoir(size, seed=seed, concat=pa.concat_tables)
    start = 0
    for length in lengths:
        reservoir.add(pa.table({"x": np.arange(start, start + length)}), length)
        start += length
    table, rows = reservoir.result()
    assert table["x"].to_pylist() == rows.tolist()
    return rows.tolist()


@settings(max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(1, 40))
def test_a_sample_does_not_depend_on_the_cuts(lengths, size):
    assume(sum(lengths) > 0)
    rows = draw(lengths, size)
    assert rows == draw([sum(lengths)], size)
    assert len(rows) == min(size, sum(lengths))
    assert rows == sorted(set(rows))


def test_every_row_has_the_same_chance():
    counts = np.bincount(np.concatenate([draw([7, 7, 6], 5, seed) for seed in range(2000)]))
    # 2000 · 5 / 20 = 500 each; six standard deviations of a binomial count.
    assert np.abs(counts - 500).max() < 6 * np.sqrt(2000 * 0.25 * 0.75)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(1, 7))
def test_ranges_are_python_s(start, stop, single, cut):
    wanted = {*range(30)[start:stop], single}
    selection = parse_rows(f"{start}:{stop}, {single}")
    found = []
    for first in range(0, 30, cut):
        n_rows = min(cut, 30 - first)
        found += (first + selection.positions(first, n_rows)).tolist()
    assert found == sorted(wanted)
    assert max(found) < selection.end


@pytest.mark.parametrize("text", ["", ",", "a", "1-3", "-1", "1:2:3", "1.5", "٣"])
def test_selections_that_are_none(text):
    with pytest.raises(ValueError, match="counted from 0"):
        parse_rows(text)


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([["1", "2.5", None]], Kind.NUMBER),
        ([["1"], ["-1e-3", " 7 "]], Kind.NUMBER),
        ([[None], [None]], Kind.NUMBER),
        ([["1"], ["x"]], Kind.CATEGORY),
        ([["2024-01-31", None], ["1999-12-31T23:59:59Z"]], Kind.DATE),
        ([["1/31/24"], ["31/1/2024"]], Kind.CATEGORY),
        ([["1"], ["2024-01-31"]], Kind.CATEGORY),
        ([["2024-01-31"], ["1"]], Kind.CATEGORY),
        ([["2024-01-31"], ["soon"]], Kind.CATEGORY),
        ([["1.2.3"], ["1.2.33"]], Kind.CATEGORY),
        ([["true", "false"]], Kind.CATEGORY),
        ([["1,5"]], Kind.NUMBER),
    ],
)
def test_kinds_of_texts(parts, kind):
    guess = ColumnLook()
    for part in parts:
        guess.see(pa.chunked_array([pa.array(part, pa.string())]))
    assert guess.settle().kind == kind


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        (pa.array([True, None]), Kind.NUMBER, [1.0, None]),
        (pa.array(["true", None, "FALSE"]), Kind.NUMBER, [1.0, None, 0.0]),
        (pa.array([3, None], pa.int8()), Kind.CATEGORY, ["3", None]),
        (pa.array(["b", None]).dictionary_encode(), Kind.CATEGORY, ["b", None]),
        (pa.array(["1", "2"]).dictionary_encode(), Kind.NUMBER, [1.0, 2.0]),
        (pa.array([" True", "false"]), Kind.BOOLEAN, [True, False]),
        (pa.array([1, 0]), Kind.BOOLEAN, [True, False]),
    ],
)
def test_cells_become_what_a_model_knows(cells, kind, expected):
    assert as_kind(pa.chunked_array([cells]), kind, name="x").to_pylist() == expected


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (pa.array(["perhaps"]), Kind.BOOLEAN, "must hold true or false"),
        (pa.array([[1]]), Kind.CATEGORY, "must hold single values"),
        (pa.array(["true", "1"]), Kind.NUMBER, "must hold numbers; got 'true'"),
        (pa.array(["1", "x" * 500]), Kind.NUMBER, r"must hold numbers; got 'x{59}…'\. Correct"),
    ],
)
def test_cells_that_do_not(cells, kind, said):
    with pytest.raises(ValueError, match=said):
        as_kind(pa.chunked_array([cells]), kind, name="x")


def test_uncertainty_that_rises_is_shown_as_such():
    row = {"row": 3, "baseline": 1.0, "residual": 1.5, "values": {"a": -0.75, "b": 0.25}}
    assert show_row(row, unit="bits")[2:4] == [f"  {MINUS}0.7500  a (raised it)", "   0.2500  b"]
    many = {f"x{i}": 0.1 for i in range(8)}
    told = show_row({"row": 0, "baseline": 0.8, "residual": 0.0, "values": many}, unit="bits")
    assert told[-2] == "  0.3000  3 other features together"


def test_a_row_in_a_unit_without_a_symbol():
    row = {"row": 0, "baseline": 0.5, "residual": 0.0, "values": {"a": 0.5}, "target": 31.0}
    told = show_row({**row, "prediction": 31.000000000000014}, unit="gini")
    assert told[0] == "Row 0, target 31, predicted 31"
    assert told[1] == "  0.5000 Gini impurity before anything is known"
    assert told[-1] == "  0.0000 Gini impurity left"
    result = LocalImportance(
        np.ones((1, 1)), 2.0, residual=np.ones(1), unit="variance", feature_names=("a",), n_trees=1
    )
    assert show_total(result, (2.0, 0.5)) == [
        "Variance before anything is known: 2.0000 (standard deviation 1.414); left on average: "
        "0.5000 (25% of it)",
        "Mean variance removed by each feature",
    ]


def test_a_measure_without_an_account():
    row = {"row": 0, "values": {"a": 0.5}}
    assert show_row(row, unit="bits", measure="gain") == ["Row 0", "  0.5000  a"]
    result = LocalImportance(
        np.ones((1, 1)), None, residual=None, unit="bits", feature_names=("a",), n_trees=1,
        measure="gain",
    )  # fmt: skip
    assert show_total(result, None) == ["Mean gain of each feature, in bits"]


def test_more_surprise_than_before():
    row = {"row": 3, "baseline": 0.5, "residual": 1.25, "values": {"a": -1.0, "b": 0.25}}
    assert show_row(row, unit="bits", measure="loss") == [
        "Row 3",
        "   0.5000 bits of surprise when nothing is known",
        "  \N{MINUS SIGN}1.0000  a (made it worse)",
        "   0.2500  b",
        "   1.2500 bits of surprise left to the forest",
    ]
    told = show_row(row | {"expected": True}, unit="variance", measure="loss")
    assert told[0] == "Row 3, answer not known: expected values"
    assert told[1].endswith(" squared error when nothing is known")
    assert told[-1].endswith(" squared error to be expected still")
    nan = float("nan")
    gone = {"row": 4, "baseline": nan, "residual": nan, "values": {"a": nan, "b": nan}}
    assert len(show_row(gone, unit="bits", measure="loss")) == 2


def test_a_ranking_of_nothing():
    assert show_ranking(["a"], [0.0], errors=[0.0]) == ["  a  0.0000 ± 0.0000"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory. Use a smaller --max-fit-rows or --trees."),
        (ModuleNotFoundError("no", name="altair"), "altair, which is not installed; install it"),
        (ValueError("x" * 5000), " … "),
        (KeyError("x"), "unexpected KeyError"),
    ],
)
def test_sentences(error, said):
    assert said in sentence(error)
    assert len(sentence(error)) < 1000
