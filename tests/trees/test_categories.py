"""Columns of categories: which ones they are, missing ones, and ones that were never seen."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localmdi import local_mdi
from localmdi.forest import SplitKind
from trees.models import classifier, mixed_table, regressor

X = np.array([["a", "u"], ["a", "v"], ["b", "u"], ["c", "v"]])
Y = np.array([0, 1, 1, 2])


def kinds(model):
    forest = model.forest_
    return {
        name: {SplitKind(kind).name for kind in forest.split_kind[forest.feature == j]}
        for j, name in enumerate(forest.names_for(None))
    }


def test_categories_from_the_dtype():
    table, y = mixed_table(np.random.default_rng(0))
    assert kinds(classifier().fit(table, y)) == {
        "dose": {"LESS_EQUAL"},
        "site": {"MULTIWAY"},
        "treated": {"MULTIWAY"},
        "count": {"LESS_EQUAL"},
        "same": set(),
    }


@pytest.mark.parametrize(
    "wanted", [[3], ["count"], np.array([3]), [False, False, False, True, False]]
)
def test_categories_by_request(wanted):
    table, y = mixed_table(np.random.default_rng(0))
    table = table.drop(columns="site").assign(site=0)[list(table.columns)]
    assert kinds(classifier(categorical_features=wanted).fit(table, y))["count"] == {"MULTIWAY"}
    assert kinds(classifier(categorical_features=wanted).fit(table, y))["treated"] == {"LESS_EQUAL"}


@pytest.mark.parametrize("wanted", [[7], ["nothing"], "nothing", [1.5], [-1]])
def test_unknown_columns(wanted):
    with pytest.raises(ValueError, match="categorical_features must be"):
        classifier(categorical_features=wanted).fit(*mixed_table(np.random.default_rng(0)))


def test_none_means_no_categories():
    with pytest.raises(ValueError, match=r"could not convert|must hold numbers|dtype"):
        classifier(categorical_features=None).fit(X, Y)
    assert kinds(classifier(categorical_features=None).fit(X == "a", Y))["x0"] == {"LESS_EQUAL"}


def test_one_child_per_value_in_the_node():
    forest = classifier(n_estimators=200).fit(X, Y).forest_
    roots = forest.tree_offset[:-1]
    n_children = np.diff(forest.child_offset)[roots]
    assert set(zip(forest.feature[roots].tolist(), n_children.tolist(), strict=True)) == {
        (0, 3),
        (1, 2),
    }
    # Below u on the second column only a and b are left on the first.
    below = forest.child[forest.child_offset[roots[forest.feature[roots] == 1]]]
    assert set(np.diff(forest.child_offset)[below].tolist()) == {2}


def test_unseen_category_stops_the_row():
    model = classifier(n_estimators=100).fit(X, Y)
    unseen = np.array([["?", "u"], ["a", "?"]])
    forest = model.forest_
    ends = model.apply(unseen) + forest.tree_offset[:-1]
    stopped = forest.feature[ends] == [[0], [1]]
    assert stopped.all()
    assert (forest.impurity[ends[0]] > 0).all()
    result = local_mdi(model, unseen)
    np.testing.assert_allclose(result.residual, forest.impurity[ends].mean(axis=1))
    assert result.additivity_error() < 1e-12
    np.testing.assert_allclose(model.predict_proba(unseen), forest.value[ends].mean(axis=1))


def test_a_category_absent_from_the_node_stops_the_row_too():
    # ("c", "u") was never seen together: below u the first column has a and b only.
    model = classifier(n_estimators=50).fit(X, Y)
    forest = model.forest_
    ends = model.apply([["c", "u"]])[0] + forest.tree_offset[:-1]
    first = forest.feature[forest.tree_offset[:-1]]
    assert (forest.feature[ends][first == 1] == 0).all()
    assert (forest.feature[ends][first == 0] == -1).all()


def test_missing_is_a_category_of_its_own():
    table = pd.DataFrame({"site": ["a", "b", None, "a", np.nan, "b"]})
    y = [0, 1, 2, 0, 2, 1]
    model = classifier().fit(table, y)
    assert model.predict(table).tolist() == y
    np.testing.assert_allclose(model.local_importances_.residual, 0)
    assert model.predict(pd.DataFrame({"site": [None, pd.NA]})).tolist() == [2, 2]


def test_missing_that_was_never_seen_is_an_unseen_category():
    model = classifier().fit(X, Y)
    unseen = np.array([[None, "u"]], dtype=object)
    assert (
        model.forest_.impurity[model.apply(unseen)[0] + model.forest_.tree_offset[:-1]] > 0
    ).all()


def test_missing_numbers_go_to_a_remembered_side():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 3))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    y = np.isnan(rows[:, 0]) * 2 + (rows[:, 1] > 0)
    model = classifier(n_estimators=200).fit(rows, y)
    assert model.score(rows, y) == 1.0
    forest = model.forest_
    split = forest.feature >= 0
    share = forest.missing_child[split].mean()
    assert set(forest.missing_child[split].tolist()) == {0, 1}
    assert 0.4 < share < 0.75  # a little above 1/2: a constant column with gaps has them second


def test_missing_numbers_where_there_were_none():
    model = classifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=r"must not be missing \(NaN\)"):
        model.predict([[np.nan, 1.0]])


def test_gaps_alone_can_be_split():
    rows, y = np.array([[1.0], [1.0], [np.nan], [np.nan]]), [0, 0, 1, 1]
    assert classifier().fit(rows, y).predict(rows).tolist() == y
    assert np.all(classifier().fit(np.full((2, 1), np.nan), [0, 1]).local_importances_.values == 0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    table, y = mixed_table(np.random.default_rng(0))
    table["site"] = table["site"].astype("category")
    frame = {
        "pandas": lambda: table,
        "polars": lambda: pl.from_pandas(table),
        "pyarrow": lambda: pa.Table.from_pandas(table, preserve_index=False),
    }[library]()
    expected = classifier().fit(table, y)
    model = classifier().fit(frame, y)
    np.testing.assert_array_equal(
        model.local_importances_.values, expected.local_importances_.values
    )
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(table))
    np.testing.assert_array_equal(local_mdi(model, frame).values, local_mdi(model, table).values)
    assert type(model.local_importances_.to_frame()).__module__.split(".")[0] == library
    assert model.feature_names_in_.tolist() == list(table.columns)


def test_codes_of_another_frame_do_not_matter():
    # The same values, listed in another order, have other codes in pandas.
    y = [0, 1, 2, 0]
    first = pd.DataFrame({"site": pd.Categorical(["a", "b", "c", "a"])})
    second = pd.DataFrame(
        {"site": pd.Categorical(["a", "b", "c", "a"], categories=["c", "b", "a"])}
    )
    assert classifier().fit(first, y).predict(second).tolist() == y


def test_integers_as_categories():
    rows = np.array([[10], [-3], [7], [10]])
    model = regressor(categorical_features=[0]).fit(rows, [1.0, 2.0, 3.0, 5.0])
    assert model.predict(rows).tolist() == [3.0, 2.0, 3.0, 3.0]
    assert model.predict([[11]]).tolist() == [2.75]
    assert model.forest_.categories[0].tolist() == [-3, 7, 10]


def test_wrong_width_and_kind():
    model = classifier().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :1])
    table, y = mixed_table(np.random.default_rng(0))
    model = classifier().fit(table, y)
    with pytest.raises(ValueError, match="column 'dose'"):
        model.predict(table.assign(dose="much"))
    with pytest.raises(ValueError, match="finite"):
        model.predict(table.assign(dose=np.inf))
    with pytest.raises(ValueError, match="X must be finite; column 'dose'"):
        model.fit(table.assign(dose=np.inf), y)
