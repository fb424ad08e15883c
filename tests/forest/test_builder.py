"""build_forest: what it converts, fills in, keeps without a copy, and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from forest.tables import STUMP, fields_of_forests
from localmdi import local_mdi
from localmdi.exceptions import InvalidForestError, MissingStatisticsError
from localmdi.forest import build_forest
from localmdi.forest.rules import FLOATS, STRUCTURE, convert, freeze

CLASSIFIER = STUMP | {"classes": (np.array(["no", "yes"]),), "criterion": "gini"}


@given(fields_of_forests())
@settings(max_examples=100)
def test_fields_come_back(fields):
    forest = build_forest(**fields)
    for field, value in fields.items():
        kept = getattr(forest, field)
        if isinstance(value, np.ndarray):
            assert not kept.flags.writeable
            np.testing.assert_array_equal(kept, value)
        elif field in ("classes", "categories") and value is not None:
            assert [*map(str, kept)] == [*map(str, value)]
        else:
            assert kept == (tuple(value) if isinstance(value, list) else value)


def test_defaults():
    forest = build_forest(**STUMP)
    assert forest.feature_names is None
    assert forest.names_for(None) == ("x0", "x1")
    assert forest.missing_child.tolist() == [-1, -1, -1]
    assert forest.category_offset.tolist() == [0, 0, 0, 0]
    assert forest.category_bits.tolist() == []
    assert forest.tree_weight.tolist() == [1.0]
    assert (forest.weight, forest.impurity, forest.value) == (None, None, None)
    assert (forest.criterion, forest.classes, forest.categories) == (None, None, None)
    assert (forest.aggregation, forest.row_dtype, forest.boosted) == ("mean", "float64", False)
    assert build_forest(**STUMP, **dict.fromkeys(["missing_child", "tree_weight"])) == forest


def test_a_tree_of_weight_zero_does_not_count():
    forest = build_forest(
        n_features=2,
        tree_offset=[0, 3, 6],
        feature=[0, -1, -1, 1, -1, -1],
        split_kind=[1, 0, 0] * 2,
        threshold=[0.5, 0, 0] * 2,
        child_offset=[0, 2, 2, 2, 4, 4, 4],
        child=[1, 2, 4, 5],
        impurity=[1.0, 0.25, 0.5, 0.75, 0.5, 0.0],
        tree_weight=[0, 2],
        criterion="entropy",
    )
    result = local_mdi(forest, [[0.0, 1.0]])
    np.testing.assert_array_equal(result.values, [[0.0, 0.75]])
    assert (result.baseline, result.residual[0]) == (0.75, 0.0)


def test_types_are_converted_without_loss():
    wide = {field: np.asarray(STUMP.get(field, [])) for field in STRUCTURE if field in STUMP}
    assert wide["feature"].dtype == np.int64
    forest = build_forest(n_features=np.int8(2), **wide, weight=[3, 2, 1], tree_weight=(2,))
    for field, dtype in STRUCTURE.items():
        assert getattr(forest, field).dtype == dtype
    for field in FLOATS:
        assert getattr(forest, field) is None or getattr(forest, field).dtype == np.float64
    assert type(forest.n_features) is int
    assert forest.weight.tolist() == [3.0, 2.0, 1.0]


def test_other_byte_orders_strides_and_subclasses(tmp_path):
    mapped = np.memmap(tmp_path / "threshold", dtype=np.float64, mode="w+", shape=3)
    mapped[:] = STUMP["threshold"]
    unaligned = np.frombuffer(b"\0" + np.array([1, 2]).tobytes(), dtype=np.int64, offset=1)
    forest = build_forest(
        **STUMP
        | {
            "threshold": mapped,
            "child": unaligned,
            "feature": np.array(STUMP["feature"], dtype=">i4"),
            "split_kind": np.repeat(np.array(STUMP["split_kind"], dtype=np.uint8), 2)[::2],
        }
    )
    assert forest == build_forest(**STUMP)
    for column in (forest.threshold, forest.child, forest.feature, forest.split_kind):
        assert type(column) is np.ndarray
        assert column.flags.c_contiguous
        assert column.flags.aligned
        assert column.dtype.isnative


def test_what_was_checked_cannot_be_changed():
    threshold = np.array(STUMP["threshold"])
    forest = build_forest(**STUMP | {"threshold": threshold})
    assert threshold.flags.writeable
    threshold[0] = np.nan
    assert forest.threshold[0] == 0.5
    assert not forest.threshold.flags.writeable
    again = build_forest(**STUMP | {"threshold": forest.threshold})
    assert np.shares_memory(again.threshold, forest.threshold)


def test_a_new_array_is_frozen_where_it_is():
    converted = convert("threshold", [0.5, 0.0], dtype=np.dtype(np.float64))
    frozen = freeze("threshold", converted, dtype=converted.dtype, shape=(2,))
    assert np.shares_memory(frozen, converted)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature": [1.0, -1.0, -1.0]}, "feature must hold int32; got float64"),
        ({"feature": [2**32, -1, -1]}, "feature must fit int32.* from -1 to 4294967296"),
        ({"split_kind": [256, 0, 0]}, "split_kind must fit uint8.* to 256"),
        ({"split_kind": [-1, 0, 0]}, "split_kind must fit uint8.* from -1"),
        ({"child": np.array([1, 2**63 + 2], dtype=np.uint64)}, "child must fit int64"),
        ({"child": ["1", "2"]}, "child must hold int64; got <U1"),
        ({"child": [[1], [2, 3]]}, "child must be an array"),
        ({"child": [[1, 2]]}, r"child must have the shape \(any\); got int64 of shape \(1, 2\)"),
        ({"threshold": [0.5, 0, None]}, "threshold must hold float64; got object"),
        ({"threshold": [0.5j, 0, 0]}, "threshold must hold float64; got complex128"),
        ({"threshold": [0.5, 0]}, r"threshold must have the shape \(3\)"),
        ({"feature": None}, "feature must be an array of int32; got None"),
        ({"weight": [1.0, np.nan, 0.0]}, "weight must be finite and not.* nan at node 1 of tree 0"),
        ({"weight": [1.0, 0.0, -1.0]}, r"weight must be .* got -1\.0 at node 2"),
        ({"weight": [1.0, 0.0]}, r"weight must have the shape \(3\)"),
        ({"impurity": [np.inf, -np.inf, 0.0]}, "impurity must be finite; got inf at node 0"),
        ({"value": [0.0, 1.0, 2.0]}, r"value must have the shape \(3, any\)"),
        ({"value": np.zeros((3, 0))}, "value must have a column"),
        ({"value": [[0, 0], [0, 0], [0, np.nan]]}, "value must be finite; got nan at node 2"),
        ({"tree_weight": [-1.0]}, "tree_weight must be finite"),
        ({"tree_weight": [0.0]}, "tree_weight must be .* with a positive sum"),
        ({"tree_weight": [np.nan]}, "tree_weight must be finite"),
        ({"tree_weight": [np.inf]}, "tree_weight must be finite"),
        ({"tree_weight": [1.0, 1.0]}, r"tree_weight must have the shape \(1\)"),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_that_are_refused(changes, message):
    with pytest.raises(InvalidForestError, match=message):
        build_forest(**STUMP | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_features": 0}, "n_features must be an integer from 1"),
        ({"n_features": 2.0}, "n_features must be an integer"),
        ({"n_features": True}, "n_features must be an integer"),
        ({"n_features": 2**31}, "n_features must be an integer from 1 to 2147483647"),
        ({"n_features": None}, "n_features must be an integer"),
        ({"feature_names": "ab"}, "feature_names must be None or a sequence of strings"),
        ({"feature_names": 2}, "feature_names must be None or a sequence of strings"),
        ({"feature_names": ["a", 1]}, r"sequence of strings; got \['a', 1\]"),
        ({"feature_names": ["a"]}, "one name per feature, 2; got 1"),
        ({"feature_names": ["a", "a"]}, "feature_names must differ; got 'a' twice"),
        ({"criterion": "ginny"}, "criterion must be one of 'entropy', .*; got 'ginny'"),
        ({"criterion": ["gini"]}, "criterion must be one of"),
        ({"aggregation": "median"}, "aggregation must be one of 'mean', 'sum'"),
        ({"aggregation": None}, "aggregation must be one of"),
        ({"row_dtype": "float16"}, "row_dtype must be one of 'float32', 'float64'"),
        ({"row_dtype": np.float32}, "row_dtype must be one of"),
        ({"boosted": 1}, "boosted must be one of False, True; got 1"),
        ({"classes": np.array([0, 1])}, "classes must be None or a tuple of arrays"),
        ({"classes": ()}, "classes must be None or a tuple of arrays"),
        ({"classes": (0, 1)}, "classes must hold vectors of labels; got int64 of shape ()"),
        ({"classes": ([[1], [2, 3]],)}, "classes must hold vectors of labels"),
        ({"classes": (np.array([{}, {}]),)}, "classes must hold vectors of labels"),
        ({"classes": ([],)}, "every output must have a class"),
        ({"classes": (["a", "a"],)}, "the labels in classes must differ"),
        ({"value": np.zeros((3, 3))}, r"value must have the shape \(3, 2\)"),
        ({"categories": (None,)}, "categories must .* one entry per feature, 2; got 1"),
        ({"categories": "ab"}, "categories must be None or have one entry"),
        ({"categories": (None, 3)}, "categories must hold vectors"),
    ],
    ids=str,
)  # fmt: skip
def test_headers_that_are_refused(changes, message):
    with pytest.raises(InvalidForestError, match=message):
        build_forest(**CLASSIFIER | changes)


def test_value_has_a_column_per_class_of_every_output():
    labels = (np.array([0, 1]), np.array(["a", "b", "c"]))
    assert build_forest(**STUMP, classes=labels, value=np.ones((3, 5))).value.shape == (3, 5)
    with pytest.raises(InvalidForestError, match=r"shape \(3, 5\)"):
        build_forest(**STUMP, classes=labels, value=np.ones((3, 6)))


def test_sums_beyond_float64_are_not_taken_for_infinite_terms():
    huge = [1.5e308, 1.5e308, 0.0]
    forest = build_forest(**STUMP, weight=huge, impurity=huge)
    assert forest.weight.tolist() == forest.impurity.tolist() == huge


def test_unknown_and_missing_keywords():
    with pytest.raises(TypeError, match="depth"):
        build_forest(**STUMP, depth=3)
    with pytest.raises(TypeError, match="child"):
        build_forest(**{field: value for field, value in STUMP.items() if field != "child"})
    with pytest.raises(TypeError, match="feature"):
        build_forest(n_features=2)


@pytest.mark.parametrize(
    ("fields", "advised"),
    [
        ({}, "squared_error"),
        ({"criterion": "absolute_error"}, "squared_error"),
        ({"criterion": "poisson"}, "squared_error"),
        ({"criterion": "loss"}, "entropy"),
        ({"criterion": "gini"}, "gini"),
        ({"classes": (np.array(["no", "yes"]),)}, "entropy"),
    ],
    ids=str,
)
def test_the_criterion_that_is_advised_fits_the_target(fields, advised):
    forest = build_forest(**STUMP | {"impurity": None, "value": None, "criterion": None} | fields)
    with pytest.raises(MissingStatisticsError, match=f"criterion='{advised}'"):
        forest.statistic("impurity")
