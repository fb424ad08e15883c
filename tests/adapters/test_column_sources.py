"""Groups of features behind a Pipeline: every feature belongs to the column it was made of."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import localmdi as lm
from localmdi.adapters.column_sources import groups_by_column

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.normal(50, 10, 120),
        "colour": RNG.choice(["red", "blue", "green"], 120),
        "bmi": RNG.normal(25, 4, 120),
        "size": RNG.choice(["S", "M"], 120),
    }
)
Y = ((X["age"] > 50) ^ (X["colour"] == "red")).astype(int)
TEXT = ["colour", "size"]
NUMBERS = ["age", "bmi"]


def explain(*steps):
    model = make_pipeline(*steps, ExtraTreesClassifier(20, random_state=0)).fit(X, Y)
    return model, lm.local_mdi(model, X)


def check(result, *, names=("age", "colour", "bmi", "size")):
    grouped = result.group("auto")
    assert set(grouped.feature_names) == set(names)
    np.testing.assert_allclose(grouped.values.sum(axis=1), result.values.sum(axis=1))
    for name in set(names) & set(result.groups):
        members = list(result.groups[name])
        expected = result[:, members].values.sum(axis=1)
        np.testing.assert_allclose(grouped[:, name].values[:, 0], expected)
    return grouped


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(),
        OneHotEncoder(drop="first"),
        OneHotEncoder(drop="if_binary", sparse_output=False),
        OneHotEncoder(max_categories=2),
        OrdinalEncoder(),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    ],
    ids=["plain", "drop first", "drop binary", "rare", "ordinal", "pipeline"],
)
@pytest.mark.parametrize("prefix", [True, False])
def test_a_column_transformer(encoder, prefix):
    step = make_column_transformer(
        (StandardScaler(), NUMBERS), (encoder, TEXT), verbose_feature_names_out=prefix
    )
    _, result = explain(step)
    grouped = check(result)
    assert result.groups["age"] == (f"{'standardscaler__' * prefix}age",)
    shown = grouped.attach_data(X)
    assert shown.data["colour"].tolist() == X["colour"].tolist()


def test_columns_in_every_notation():
    for text, numbers in (
        ([1, 3], [0, 2]),
        ([False, True, False, True], slice(0, 3, 2)),
        (
            make_column_selector(dtype_exclude="number"),
            make_column_selector(dtype_include="number"),
        ),
        ([-1, 1], ["age", "bmi"]),
    ):
        step = make_column_transformer((OneHotEncoder(), text), (StandardScaler(), numbers))
        check(explain(step)[1])


@pytest.mark.filterwarnings("error")
def test_remainder_and_dropped_columns():
    step = make_column_transformer((OneHotEncoder(), TEXT), remainder="passthrough")
    check(explain(step)[1])
    step = make_column_transformer(
        (OneHotEncoder(), TEXT), ("drop", ["bmi"]), ("passthrough", ["age"])
    )
    check(explain(step)[1], names=("colour", "size", "age"))
    step = make_column_transformer(
        (OneHotEncoder(), slice("colour", "colour")), ("passthrough", ["age"])
    )
    check(explain(step)[1], names=("colour", "age"))


def test_steps_one_after_the_other():
    step = make_column_transformer((OneHotEncoder(), TEXT), ("passthrough", NUMBERS))
    check(explain(step, StandardScaler(), SimpleImputer())[1])
    _, result = explain(step, SelectKBest(k=3))
    kept = {column for column in X if column in result.groups}
    assert set(result.group("auto").feature_names) == kept
    assert sum(map(len, result.groups.values())) == 3


def test_bins():
    one_hot = KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform")
    step = make_column_transformer((one_hot, NUMBERS), (OrdinalEncoder(), TEXT))
    _, result = explain(step)
    assert len(result.groups["age"]) == 4
    check(result)


def test_what_is_made_of_several_columns_stays():
    step = make_column_transformer((PCA(2), NUMBERS), (OneHotEncoder(), TEXT))
    check(explain(step)[1], names=("pca__pca0", "pca__pca1", "colour", "size"))
    step = make_column_transformer((PolynomialFeatures(2, include_bias=False), NUMBERS))
    _, result = explain(step)
    assert result.groups == {
        "age": ("polynomialfeatures__age",),
        "bmi": ("polynomialfeatures__bmi",),
    }
    assert "polynomialfeatures__age bmi" in result.group("auto").feature_names


def test_a_step_that_does_not_tell():
    step = FunctionTransformer(lambda frame: frame[NUMBERS].to_numpy())
    _, result = explain(step)
    with pytest.raises(ValueError, match="not a Pipeline whose steps say so"):
        result.group("auto")


def test_no_pipeline_and_another_word():
    model = ExtraTreesClassifier(5, random_state=0).fit(X[NUMBERS], Y)
    result = lm.local_mdi(model, X[NUMBERS])
    with pytest.raises(ValueError, match="Pass a dict of group name"):
        result.group("auto")
    with pytest.raises(TypeError, match="or 'auto'; got 'best'"):
        result.group("best")


def test_arrays_without_names():
    text = X[TEXT].to_numpy(dtype=object)
    model = make_pipeline(OneHotEncoder(), ExtraTreesClassifier(5, random_state=0)).fit(text, Y)
    assert lm.local_mdi(model, text).group("auto").feature_names == ("x0", "x1")


def test_every_measure_and_selection(tmp_path):
    step = make_column_transformer((OneHotEncoder(), TEXT), ("passthrough", NUMBERS))
    model = make_pipeline(step, RandomForestClassifier(20, random_state=0)).fit(X, Y)
    for result in (lm.decompose_global(model, X), lm.honest_mdi(model, X, Y)):
        assert len(result.group("auto").feature_names) == 4
    result = lm.local_mdi(model, X)
    some = result[:5, ["onehotencoder__colour_red", "passthrough__age"]]
    assert some.group("auto").feature_names == ("colour", "age")
    result.save(tmp_path / "result.lmdi")
    loaded = lm.load_importance(tmp_path / "result.lmdi")
    assert loaded.groups == result.groups
    np.testing.assert_array_equal(loaded.group("auto").values, result.group("auto").values)
    assert result.group("auto").groups is None


def test_a_search_around_the_pipeline():
    step = make_column_transformer((OneHotEncoder(), TEXT), ("passthrough", NUMBERS))
    pipe = make_pipeline(step, ExtraTreesClassifier(5, random_state=0))
    search = GridSearchCV(pipe, {"extratreesclassifier__max_depth": [3]}, cv=2).fit(X, Y)
    check(lm.local_mdi(search, X))


@pytest.mark.parametrize("field", ["transformers_", "output_indices_"])
def test_a_step_with_one_field_of_a_column_transformer(field):
    step = StandardScaler().fit(X[NUMBERS])
    setattr(step, field, {})
    groups = groups_by_column([step], NUMBERS, features=["a", "b"])
    assert groups == {"age": ("a",), "bmi": ("b",)}


def test_steps_that_contradict_themselves():
    encoder = OneHotEncoder().fit(X[TEXT])
    assert groups_by_column([encoder], TEXT, features=["a", "b"]) is None
    assert groups_by_column([], TEXT, features=TEXT) is None


def test_wrong_groups():
    fields = {"unit": "bits", "feature_names": ("a",), "n_trees": 1}
    for wrong in (["a"], {1: ("a",)}, {"a": "a"}):
        with pytest.raises(TypeError, match=r"(groups|feature_names) must be"):
            lm.LocalImportance(np.ones((1, 1)), groups=wrong, **fields)
