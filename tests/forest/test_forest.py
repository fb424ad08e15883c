"""Forest: frozen, checked however it is made, compared by content, readable."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings

from forest.tables import STUMP, fields_of_forests
from localmdi._core import NodeTable
from localmdi._criteria import criterion_names
from localmdi.exceptions import InvalidForestError, MissingStatisticsError
from localmdi.forest import Forest, SplitKind, build_forest


@pytest.fixture
def stump():
    return build_forest(
        **STUMP,
        weight=[10.0, 4.0, 6.0],
        impurity=[1.0, 0.0, 0.5],
        criterion="entropy",
        feature_names=("age", "dose"),
        classes=(np.array(["no", "yes"]),),
    )


def test_fields_and_arrays_are_frozen(stump):
    with pytest.raises(dataclasses.FrozenInstanceError):
        stump.child = np.array([2, 1])
    for array in (*stump.classes, *stump.table.values(), stump.weight, stump.impurity):
        if isinstance(array, np.ndarray) and array.size:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[-1]


def test_replace_checks_again(stump):
    assert dataclasses.replace(stump, criterion="log_loss").unit == "bits"
    with pytest.raises(InvalidForestError, match="child must lie after its parent"):
        dataclasses.replace(stump, child=np.array([1, 0]))
    with pytest.raises(InvalidForestError, match="child must be an array of int64; got int32"):
        dataclasses.replace(stump, child=np.array([1, 2], dtype=np.int32))


def test_the_constructor_checks_too(stump):
    fields = {field.name: getattr(stump, field.name) for field in dataclasses.fields(stump)}
    assert Forest(**fields) == stump
    with pytest.raises(InvalidForestError, match="feature must lie in"):
        Forest(**fields | {"n_features": 1, "feature_names": ("age",)})


@given(fields_of_forests())
@settings(max_examples=50)
def test_copies_are_equal_and_frozen(fields):
    forest = build_forest(**fields)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(forest, protocol=protocol))
        assert twin == forest
        assert hash(twin) == hash(forest)
        assert not twin.child.flags.writeable
    assert copy.deepcopy(forest) == copy.copy(forest) == forest


def test_a_pickle_cannot_bring_in_what_a_file_cannot(stump):
    function, (fields,) = stump.__reduce__()
    with pytest.raises(InvalidForestError, match="child must lie after its parent"):
        function(fields | {"child": np.array([0, 2])})


def test_equality_is_by_content(stump):
    assert stump == dataclasses.replace(stump)
    assert stump != dataclasses.replace(stump, impurity=None)
    assert stump != dataclasses.replace(stump, weight=stump.weight + 1)
    assert stump != dataclasses.replace(stump, feature_names=("dose", "age"))
    assert stump != dataclasses.replace(stump, row_dtype="float32")
    assert stump != dataclasses.replace(stump, classes=(np.array(["yes", "no"]),))
    assert stump != dataclasses.replace(stump, classes=(np.array(["no", "yes"], dtype=object),))
    assert stump != "forest"
    nan = build_forest(**STUMP | {"threshold": [0.5, np.nan, np.nan]})
    assert nan == copy.copy(nan)
    assert nan != build_forest(**STUMP)


def test_counts_and_table(stump):
    assert (stump.n_trees, stump.n_nodes, stump.n_features) == (1, 3, 2)
    assert NodeTable(**stump.table).problem() is None
    assert len(stump.table) == 10


@pytest.mark.parametrize(
    ("criterion", "unit"),
    [
        ("entropy", "bits"), ("log_loss", "bits"), ("gini", "gini"), ("variance", "variance"),
        ("squared_error", "variance"), ("friedman_mse", "variance"), ("absolute_error", "mae"),
        ("poisson", "poisson"), (None, None),
    ],
)  # fmt: skip
def test_units(stump, criterion, unit):
    assert dataclasses.replace(stump, criterion=criterion).unit == unit
    assert criterion is None or criterion in criterion_names()


def test_statistics_that_are_not_there(stump):
    assert stump.statistic("impurity") is stump.impurity
    with pytest.raises(MissingStatisticsError, match=r"must have value.*with_statistics\(X, y,"):
        stump.statistic("value")


def test_repr(stump):
    assert repr(stump) == (
        "Forest: 1 tree, 3 nodes, 2 features (age, dose)\n"
        "  criterion: entropy, in bits\n"
        "  node statistics: weight, impurity\n"
        "  classes: no, yes"
    )
    many = build_forest(
        **STUMP | {"n_features": 1000}, feature_names=["n" * 99, *map(str, range(999))]
    )
    assert repr(many).splitlines()[0] == (
        f"Forest: 1 tree, 3 nodes, 1,000 features ({'n' * 29}…, 0, 1, 2, 3, ...)"
    )
    assert "node statistics: none" in repr(many)


def test_kinds_of_split_are_the_core_s():
    assert [kind.value for kind in SplitKind] == [0, 1, 2, 3, 4]
    assert [kind.name for kind in SplitKind][1:3] == ["LESS_EQUAL", "LESS"]
