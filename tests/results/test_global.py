"""GlobalImportance: shares, order, tables, merging."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from localmdi.results import GlobalImportance, LocalImportance


@pytest.fixture
def make_global():
    def make(**changes):
        fields = {
            "values": np.array([0.25, 0.75, -1.0]),
            "unit": "bits",
            "feature_names": ("a", "b", "c"),
            "n_trees": 5,
        }
        return GlobalImportance(**fields | changes)

    return make


def test_defaults_and_array(make_global):
    result = make_global()
    assert (result.weight, result.baseline, result.standard_error) == (1.0, None, None)
    assert len(result) == 3
    np.testing.assert_array_equal(np.asarray(result), [0.25, 0.75, -1.0])
    assert not result.values.flags.writeable


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("values", np.zeros(2)),
        ("values", np.zeros(3, dtype=int)),
        ("standard_error", np.zeros(4)),
        ("unit", ""),
        ("n_trees", 1.5),
        ("weight", -1.0),
        ("weight", np.nan),
        ("weight", np.inf),
        ("weight", "1"),
        ("baseline", "1"),
        ("feature_names", "abc"),
        ("measure", "entropy"),
        ("honest", 1),
    ],
)
def test_wrong_fields_are_refused_by_name(make_global, field, value):
    with pytest.raises((TypeError, ValueError), match=f"{field} must .*; got .*\\. [A-Z]"):
        make_global(**{field: value})


def test_normalized_is_scikit_learns_for_one_tree():
    X = np.random.default_rng(0).integers(0, 3, size=(60, 3))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X[:, 0] * X[:, 1])
    values = tree.tree_.compute_feature_importances(normalize=False)
    result = GlobalImportance(values, unit="gini", feature_names=("a", "b", "c"), n_trees=1)
    np.testing.assert_allclose(
        result.normalized().values, tree.feature_importances_, rtol=0, atol=1e-15
    )


def test_normalized(make_global):
    shares = make_global(values=np.array([1.0, 3.0, 0.0]), standard_error=np.ones(3)).normalized()
    np.testing.assert_array_equal(shares.values, [0.25, 0.75, 0.0])
    assert (shares.unit, shares.standard_error) == ("share", None)
    assert not make_global(values=np.zeros(3)).normalized().values.any()
    with pytest.raises(ValueError, match=r"positive sum; got 0\.0"):
        make_global().normalized()


def test_top_by_absolute_value(make_global):
    assert make_global().top(2) == [("c", -1.0), ("b", 0.75)]
    assert make_global(values=np.ones(3)).top() == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


def test_group(make_global):
    grouped = make_global(standard_error=np.ones(3), baseline=2.0).group({"g": ["a", "c"]})
    np.testing.assert_array_equal(grouped.values, [-0.75, 0.75])
    assert grouped.feature_names == ("g", "b")
    assert (grouped.standard_error.tolist(), grouped.baseline) == ([2.0, 1.0], 2.0)


def test_tables(make_global):
    frame = make_global().to_frame()
    expected = pd.DataFrame({"feature": ["a", "b", "c"], "importance": [0.25, 0.75, -1.0]})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    with_error = make_global(standard_error=np.arange(3.0))
    assert with_error.to_frame()["standard_error"].tolist() == [0.0, 1.0, 2.0]
    assert with_error.to_arrow().to_pylist()[1] == {
        "feature": "b",
        "importance": 0.75,
        "standard_error": 1.0,
    }


def test_repr(make_global):
    assert repr(make_global()).splitlines() == [
        "GlobalImportance: 3 features, 5 trees, in bits", "  c  -1", "  b  0.75", "  a  0.25",
    ]  # fmt: skip
    many = make_global(values=np.zeros(7), feature_names=[*"abcdefg"])
    assert len(repr(many).splitlines()) == 7
    none = make_global(values=np.zeros(0), feature_names=())
    assert repr(none) == "GlobalImportance: 0 features, 5 trees, in bits"


def test_merge_by_hand(make_global):
    one = make_global(weight=1.0, baseline=1.0, standard_error=np.ones(3))
    two = make_global(values=np.array([1.0, 0.0, 2.0]), weight=3.0, baseline=2.0)
    merged = GlobalImportance.merge(iter([one, two]))
    np.testing.assert_allclose(merged.values, [0.8125, 0.1875, 1.25])
    assert (merged.weight, merged.baseline, merged.standard_error) == (4.0, 1.75, None)
    assert GlobalImportance.merge([one, make_global()]).baseline is None


def test_merging_the_means_of_blocks_of_rows_is_the_mean_of_all():
    rng = np.random.default_rng(1)
    result = LocalImportance(
        rng.normal(size=(9, 3)), rng.random(9), residual=np.zeros(9), unit="bits",
        feature_names=("a", "b", "c"), n_trees=4, row_weight=rng.random(9),
    )  # fmt: skip
    merged = GlobalImportance.merge([result[:2].mean(), result[2:3].mean(), result[3:].mean()])
    np.testing.assert_allclose(merged.values, result.mean().values, atol=1e-15)
    assert merged.weight == pytest.approx(result.mean().weight)
    assert merged.baseline == pytest.approx(result.mean().baseline)


def test_merge_refuses(make_global):
    for change in (
        {"unit": "gini"},
        {"n_trees": 6},
        {"feature_names": ("a", "b", "d")},
        {"measure": "gain"},
        {"honest": True},
    ):
        with pytest.raises(ValueError, match=f"same {next(iter(change))}"):
            GlobalImportance.merge([make_global(), make_global(**change)])
    with pytest.raises(ValueError, match="positive total weight"):
        GlobalImportance.merge([make_global(weight=0.0)])
    with pytest.raises(TypeError, match="one or more GlobalImportance"):
        GlobalImportance.merge([])
