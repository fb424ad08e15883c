"""Pairs and classes: what they refuse, and what their tables hold."""

import numpy as np
import pytest

from localmdi.results import ClassImportance, InteractionImportance, PairImportance

NAMES = ("a", "b", "c")
PAIRS = np.array([[0, 0], [1, 0], [2, 1]])
VALUES = np.array([[0.75, 0.25, -1.5], [0.25, 0.75, 0.5]])


def pairs(**fields):
    return PairImportance(
        VALUES, PAIRS, NAMES, unit="bits", index="conditional", n_trees=9, **fields
    )


def test_a_row_and_the_mean_are_different_tables():
    result = pairs(standard_error=VALUES / 10)
    row = result.to_frame(1)
    assert list(row["first"] + row["second"]) == ["ba", "cb", "aa"]
    np.testing.assert_array_equal(row["value"], [0.75, 0.5, 0.25])
    np.testing.assert_array_equal(row["standard_error"], np.array([0.75, 0.5, 0.25]) / 10)
    mean = result.to_frame()
    # By size, whatever the sign; equal ones in the order of the pairs.
    assert list(mean["first"] + mean["second"]) == ["aa", "ba", "cb"]
    np.testing.assert_array_equal(mean["value"], [0.5, 0.5, -0.5])
    assert "standard_error" not in mean


def test_interactions_of_a_row_and_of_the_mean():
    values = np.full((2, 3, 3), np.nan)
    for row, (ab, ac, bc) in enumerate([(0.1, -0.5, 0.3), (0.3, 0.1, 0.1)]):
        for i, j, value in ((0, 1, ab), (0, 2, ac), (1, 2, bc)):
            values[row, i, j] = values[row, j, i] = value
    result = InteractionImportance(
        values, NAMES, unit="bits", index="SII", standard_error=np.abs(values) / 4
    )
    row = result.to_frame(0)
    assert list(row["first"] + row["second"]) == ["ac", "bc", "ab"]
    np.testing.assert_array_equal(row["value"], [-0.5, 0.3, 0.1])
    np.testing.assert_array_equal(row["standard_error"], np.array([0.5, 0.3, 0.1]) / 4)
    mean = result.to_frame()
    np.testing.assert_allclose(np.sort(mean["value"]), [-0.2, 0.2, 0.2])
    assert "standard_error" not in mean


def test_matrices_of_a_row_and_of_the_mean():
    result = pairs()
    expected = np.zeros((3, 3))
    expected[PAIRS[:, 0], PAIRS[:, 1]] = VALUES[1]
    np.testing.assert_array_equal(result.matrix(1), expected)
    expected[PAIRS[:, 0], PAIRS[:, 1]] = VALUES.mean(axis=0)
    np.testing.assert_array_equal(result.matrix(), expected)
    index = PairImportance(VALUES[:, 1:], PAIRS[1:], NAMES, unit="bits", index="SII", n_trees=9)
    table = index.matrix(0)
    assert np.isnan(np.diag(table)).all()
    assert (table[1, 0], table[0, 1], table[2, 1], table[1, 2]) == (0.25, 0.25, -1.5, -1.5)
    assert table[0, 2] == table[2, 0] == 0
    assert index.names == ("b and a", "c and b")


def test_choosing_rows_chooses_everything_that_has_rows():
    result = pairs(
        rest=np.array([1.0, 2.0]), standard_error=VALUES / 10, row_labels=np.array(["u", "v"])
    )
    chosen = result[[1]]
    assert chosen.shape == (1, 3)
    assert (chosen.rest.tolist(), chosen.row_labels.tolist()) == ([2.0], ["v"])
    np.testing.assert_array_equal(chosen.values, VALUES[[1]])
    np.testing.assert_array_equal(chosen.standard_error, VALUES[[1]] / 10)
    assert pairs()[0].rest is None


def test_sums_by_feature_need_all_pairs():
    np.testing.assert_array_equal(pairs().by_feature(), VALUES)
    with pytest.raises(ValueError, match="got the largest pairs"):
        pairs(rest=np.zeros(2)).by_feature()
    index = PairImportance(VALUES[:, 1:], PAIRS[1:], NAMES, unit="bits", index="SII", n_trees=9)
    with pytest.raises(ValueError, match="got index='SII'"):
        index.by_feature()


@pytest.mark.parametrize("wrong", [[[0, 3]], [[-1, 0]]])
def test_pairs_are_positions(wrong):
    with pytest.raises(ValueError, match="positions of the 3 features"):
        PairImportance(VALUES[:, :1], wrong, NAMES, unit="bits", index="SII", n_trees=9)
    assert PairImportance(
        np.zeros((2, 0)), [], NAMES, unit="bits", index="SII", n_trees=9
    ).shape == (2, 0)


def by_class(**fields):
    given = {
        "values": np.arange(12.0).reshape(2, 3, 2),
        "baseline": np.array([1.0, 2.0]),
        "residual": np.ones((2, 2)),
        "classes": ("no", "yes"),
        "feature_names": NAMES,
        "unit": "bits",
        "n_trees": 9,
    }
    return ClassImportance(**given | fields)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"values": np.zeros((2, 3))}, r"values.*, 3, 2\).*\(2, 3\)"),
        ({"values": np.zeros((2, 2, 3))}, r"values.*, 3, 2\)"),
        ({"values": np.zeros((2, 3, 2), dtype=int)}, "values.*int64"),
        ({"values": [[[0.0]]]}, "got list"),
        ({"baseline": np.zeros(3)}, r"baseline.*\(2,\)"),
        ({"baseline": 1.0}, "baseline.*got float"),
        ({"residual": np.zeros((2, 3))}, r"residual.*\(2, 2\)"),
        ({"row_labels": np.array(["u"])}, "row_labels.*2 rows"),
        ({"data": np.zeros((3, 3))}, "data.*2 rows"),
        ({"frame_type": "excel"}, "frame_type"),
        ({"n_trees": -1}, "n_trees"),
        ({"unit": 3}, "unit"),
    ],
    ids=str,
)
def test_parts_must_fit_together(fields, named):
    with pytest.raises((TypeError, ValueError), match=named):
        by_class(**fields)


def test_tables_of_classes():
    result = by_class(row_labels=np.array(["u", "v"]))
    np.testing.assert_array_equal(result["yes"].values, result.values[:, :, 1])
    assert result["yes"].baseline == 2
    assert result.total().baseline == 3
    np.testing.assert_array_equal(result.total().residual, [2, 2])
    frame = result.to_frame()
    assert frame["row"].tolist() == ["u", "u", "v", "v"]
    assert frame["class"].tolist() == ["no", "yes", "no", "yes"]
    np.testing.assert_array_equal(frame["b"], [2, 3, 8, 9])
    with pytest.raises(KeyError, match="'maybe' is not among the classes"):
        result["maybe"]
    assert repr(result).splitlines()[0] == (
        "ClassImportance: 2 rows, 3 features, 2 classes, 9 trees, in bits"
    )
    many = by_class(
        values=np.zeros((2, 3, 11)),
        classes=tuple(range(11)),
        baseline=np.zeros(11),
        residual=np.zeros((2, 11)),
    )
    assert len(repr(many).splitlines()) == 12
    assert repr(many).endswith("\n  ...")
