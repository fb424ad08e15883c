"""Tables of every library: their values, names, labels and types; and pipelines over them."""

from __future__ import annotations

import datetime
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import localmdi as lm
from importance import ensembles
from localmdi.adapters import adapt
from localmdi.forest import build_forest

NAMES = ["age", "dose", "sex", "smokes"]
RNG = np.random.default_rng(0)
ARRAY = RNG.integers(0, 9, (90, 4)).astype(float)
ARRAY[:, 2:] %= 2
FRAME = pd.DataFrame(ARRAY, columns=NAMES, index=[f"patient {i}" for i in range(90)])
TARGET = (ARRAY[:, 0] + 3 * ARRAY[:, 2] > 6).astype(int)
MODEL = RandomForestClassifier(9, random_state=0).fit(FRAME, TARGET)
UNNAMED = RandomForestClassifier(9, random_state=0).fit(ARRAY, TARGET)
EXPECTED = lm.local_mdi(UNNAMED, ARRAY)
HOLES = ARRAY.copy()
HOLES[::7, 0] = HOLES[::5, 2] = np.nan
WITH_HOLES = lm.local_mdi(UNNAMED, HOLES)


def nullable(dtype):
    return pd.DataFrame(HOLES, columns=NAMES).astype(dtype)


TYPED = {"age": "Int64", "dose": "Float64", "sex": "boolean", "smokes": "boolean"}
ARROW = {"age": "int32[pyarrow]", "dose": "double[pyarrow]", "sex": "bool[pyarrow]"}
COMPLETE = {
    "float": FRAME,
    "int": FRAME.astype(int),
    "small": FRAME.astype("int8"),
    "bool": FRAME.astype({"sex": bool, "smokes": bool}),
    "nullable": FRAME.astype(TYPED),
    "arrow": FRAME.astype(ARROW),
    "object": FRAME.astype(object),
    "sparse": FRAME.astype(pd.SparseDtype("float64", 0.0)),
    "polars": pl.DataFrame(ARRAY, schema=NAMES),
    "polars bool": pl.DataFrame(ARRAY, schema=NAMES).with_columns(pl.col("sex").cast(pl.Boolean)),
    "pyarrow": pa.table(dict(zip(NAMES, ARRAY.T, strict=True))),
    "pyarrow bool": pa.table(
        {name: pa.array(c.astype(bool if c.max() == 1 else int)) for name, c in FRAME.items()}
    ),
}
INCOMPLETE = {
    "float": pd.DataFrame(HOLES, columns=NAMES),
    "nullable": nullable(TYPED),
    "nullable float": nullable("Float64"),
    "arrow": nullable(TYPED).astype(ARROW),
    "object": pd.DataFrame(HOLES, columns=NAMES).astype(object),
    "polars": pl.DataFrame(HOLES, schema=NAMES).fill_nan(None),
    "polars int": pl.DataFrame(HOLES, schema=NAMES).fill_nan(None).cast(pl.Int16),
    "polars NaN": pl.DataFrame(HOLES, schema=NAMES),
    "pyarrow": pa.table(
        {n: pa.array(c, from_pandas=True) for n, c in zip(NAMES, HOLES.T, strict=True)}
    ),
    "pyarrow chunks": pa.Table.from_batches(
        pa.Table.from_pandas(nullable(TYPED)).to_batches(max_chunksize=11)
    ),
}


@pytest.mark.parametrize("kind", COMPLETE)
def test_tables_give_what_arrays_give(kind):
    result = lm.local_mdi(MODEL, COMPLETE[kind])
    assert np.array_equal(result.values, EXPECTED.values)
    assert result.feature_names == tuple(NAMES)


@pytest.mark.parametrize("kind", INCOMPLETE)
def test_nulls_are_missing_values(kind):
    table = INCOMPLETE[kind]
    result = lm.local_mdi(MODEL, table)
    assert np.array_equal(result.values, WITH_HOLES.values)
    batches = list(lm.Explainer(MODEL).iter_batches(table, batch_rows=13))
    assert np.array_equal(np.concatenate([b.values for b in batches]), WITH_HOLES.values)


def test_a_column_of_nothing_but_nulls():
    X = HOLES[:5].copy()
    X[:, 1] = np.nan
    expected = lm.local_mdi(UNNAMED, X).values
    polars = pl.DataFrame(X, schema=NAMES).with_columns(pl.lit(None).alias("dose"))
    arrow = pl.DataFrame(X, schema=NAMES).to_arrow().set_column(1, "dose", pa.nulls(5))
    for table in (polars, arrow):
        assert np.array_equal(lm.local_mdi(MODEL, table).values, expected)


def test_large_integers_are_rounded_once():
    # Through float64 it would first become the middle of two floats, and then the lower one.
    above_the_middle = 2**54 + 2**30 + 1
    forest = build_forest(
        n_features=1,
        tree_offset=[0, 3],
        feature=[0, -1, -1],
        split_kind=[1, 0, 0],
        threshold=[2.0**54, 0, 0],
        child_offset=[0, 2, 2, 2],
        child=[1, 2],
        impurity=[1, 0.25, 0.5],
        criterion="gini",
        row_dtype="float32",
    )
    for X in (
        np.array([[above_the_middle]]),
        pd.DataFrame({"count": [above_the_middle]}),
        pd.DataFrame({"count": [above_the_middle]}, dtype="Int64"),
        pl.DataFrame({"count": [above_the_middle]}),
    ):
        assert lm.local_mdi(forest, X).residual.tolist() == [0.5]


@pytest.mark.filterwarnings("ignore:X does not have feature names")
def test_result_frames_have_the_type_and_index_of_the_input():
    pandas = lm.local_mdi(MODEL, FRAME)
    frame = pandas.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.equals(FRAME.index)
    assert list(frame.columns) == NAMES
    assert pandas[3:5].to_frame().index.tolist() == ["patient 3", "patient 4"]
    assert pandas.data is FRAME
    dates = FRAME.set_axis(pd.date_range("2020-01-01", periods=90), axis=0)
    parts = [p.to_frame() for p in lm.Explainer(MODEL).iter_batches(dates, batch_rows=40)]
    pd.testing.assert_index_equal(pd.concat(parts).index, dates.index, check_names=False)
    for kind, type_ in (("polars", pl.DataFrame), ("pyarrow", pa.Table)):
        out = lm.local_mdi(MODEL, COMPLETE[kind]).to_frame()
        assert isinstance(out, type_)
        assert lm.local_mdi(MODEL, COMPLETE[kind]).row_labels is None
    assert isinstance(lm.local_mdi(MODEL, ARRAY).to_frame(), pd.DataFrame)
    top = lm.Explainer(MODEL).top(FRAME, 2).to_frame()
    assert top["row"].tolist()[:3] == ["patient 0", "patient 0", "patient 1"]


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["dose", "age", "sex", "smokes"], "another order"),
        (["age", "dose", "sex"], "missing: 'smokes'"),
        ([*NAMES, "weight"], "not the model's: 'weight'"),
        (["AGE", "dose", "sex", "smokes"], "not the model's: 'AGE'; missing: 'age'"),
    ],
)
def test_other_names_are_refused_as_scikit_learn_does(name, columns, words):
    table = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    table = {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table),
    }
    with pytest.raises(ValueError, match="feature names should match"):
        MODEL.predict(table[name])
    for explain in (lm.local_mdi, lm.saabas):
        with pytest.raises(ValueError, match=words):
            explain(MODEL, table[name])
    with pytest.raises(ValueError, match=words):
        lm.local_mdi(lm.as_forest(MODEL), table[name])


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [(w.category, str(w.message)) for w in caught]


def test_names_on_one_side_only_are_warned_of_as_scikit_learn_does():
    for model, X in ((MODEL, ARRAY), (MODEL, sp.csr_array(ARRAY)), (UNNAMED, FRAME)):
        (theirs,) = warned(lambda m=model, x=X: m.predict(x))
        (ours,) = warned(lambda m=model, x=X: lm.local_mdi(m, x))
        assert ours[0] is theirs[0] is UserWarning
        assert "feature names" in ours[1]
        assert not warned(lambda m=model, x=X: lm.local_mdi(lm.as_forest(m), x))


def outcome(function):
    """Whether it works, and whether it warns of feature names."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function()
        except ValueError:
            return "refused"
    return "warned" if any("feature names" in str(w.message) for w in caught) else "fine"


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(("model", "y"), ensembles.CASES, ids=lambda case: type(case).__name__)
def test_names_count_as_for_predict(model, y, named):
    frame = pd.DataFrame(ensembles.X, columns=list("abcd"))
    model = clone(model).fit(frame if named else ensembles.X, ensembles.target_of(model, y))
    explainer = lm.Explainer(model)
    for rows in (
        ensembles.X,
        frame,
        frame[list("dcba")],
        frame.rename(columns={"a": "z"}),
        frame[list("abc")],
        frame.assign(e=1),
        pd.DataFrame(ensembles.X),
    ):
        theirs, ours = (outcome(lambda f=f, r=rows: f(r)) for f in (model.predict, explainer))
        assert ours == theirs, list(rows)


def named_forest(names):
    return build_forest(
        n_features=2,
        tree_offset=[0, 3],
        feature=[0, -1, -1],
        split_kind=[1, 0, 0],
        threshold=[0.5, 0, 0],
        child_offset=[0, 2, 2, 2],
        child=[1, 2],
        impurity=[1.0, 0.0, 0.0],
        criterion="entropy",
        feature_names=names,
    )


def test_a_forest_named_x0_x1_is_not_an_unnamed_one():
    frame = pd.DataFrame({"b": [0.0, 1.0], "a": [1.0, 0.0]})
    with pytest.raises(ValueError, match=r"not the model's: 'b', 'a'; missing: 'x0', 'x1'"):
        lm.local_mdi(named_forest(("x0", "x1")), frame)
    result = lm.local_mdi(named_forest(None), frame)
    assert result.feature_names == ("b", "a")
    assert lm.global_mdi(replace(named_forest(None), weight=np.array([2.0, 1.0, 1.0]))).top(1) == [
        ("x0", 1.0)
    ]


def test_names_that_are_no_texts_are_none():
    numbered = pd.DataFrame(ARRAY)
    assert not warned(lambda: lm.local_mdi(UNNAMED, numbered))
    result = lm.local_mdi(UNNAMED, pd.DataFrame(ARRAY, columns=[3, 2, 1, 0]))
    assert np.array_equal(result.values, EXPECTED.values)  # columns count by place, not by label
    assert result.feature_names == ("x0", "x1", "x2", "x3")
    levels = pd.DataFrame(ARRAY, columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]]))
    assert np.array_equal(lm.local_mdi(UNNAMED, levels).values, EXPECTED.values)
    assert warned(lambda: lm.local_mdi(MODEL, numbered))[0][0] is UserWarning
    for explain in (MODEL.predict, lambda X: lm.local_mdi(MODEL, X)):
        with pytest.raises(TypeError, match=r"str"):
            explain(pd.DataFrame(ARRAY, columns=["age", 1, 2, 3]))


def test_the_forest_takes_the_names_of_the_rows_if_it_has_none():
    result = lm.local_mdi(lm.as_forest(UNNAMED), FRAME)
    assert result.feature_names == tuple(NAMES)


@pytest.mark.parametrize(
    ("column", "word"),
    [
        (["m", "f"], "String"),
        (pd.Categorical(["m", "f"]), "Categorical"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "Datetime"),
        (pd.to_timedelta([1, 2], "h"), "Duration"),
        (np.array([1j, 2]), "Unknown"),
        (pd.Series([1, "f"], dtype=object), "could not be converted"),
        (pd.period_range("2020", periods=2, freq="Y"), "could not be converted"),
    ],
)
def test_columns_without_numbers_are_named(column, word):
    X = pd.DataFrame(ARRAY[:2], columns=NAMES).assign(sex=column)
    with pytest.raises(ValueError, match=f"column 'sex'.*{word}"):
        lm.local_mdi(MODEL, X)
    numbered = X.set_axis(range(4), axis=1)
    with pytest.raises(ValueError, match="column 2"):
        lm.local_mdi(UNNAMED, numbered)


def test_columns_without_numbers_in_polars_and_pyarrow():
    for values in (["m", "f"], [datetime.date(2020, 1, 1)] * 2, [[1], [2]], [b"m", b"f"]):
        table = pl.DataFrame({"age": [1, 2], "dose": [1, 2], "sex": values, "smokes": [0, 1]})
        for X in (table, table.to_arrow()):
            with pytest.raises(ValueError, match="column 'sex'"):
                lm.local_mdi(MODEL, X)


@pytest.mark.filterwarnings("ignore:X does not have feature names")
def test_no_rows():
    for table in (FRAME[:0], COMPLETE["polars"][:0], COMPLETE["pyarrow"][:0]):
        result = lm.local_mdi(MODEL, table, standard_error=True)
        assert result.shape == result.standard_error.shape == (0, 4)
        assert result.to_frame().shape == (0, 4)
    for rows in (ARRAY[:0], sp.csr_array(ARRAY)[:0]):
        assert lm.local_mdi(MODEL, rows).shape == (0, 4)
        assert lm.local_mdi(MODEL, rows, output="sparse").values.shape == (0, 4)
        assert lm.Explainer(MODEL).top(rows, 2).indices.shape == (0, 2)
        assert list(lm.Explainer(MODEL).iter_batches(rows)) == []


MIXED = pd.DataFrame(
    {"age": ARRAY[:, 0], "city": RNG.choice(["Liège", "Ghent", "Mons"], 90)}, index=FRAME.index
)


def mixed_pipeline():
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["city"]), remainder="passthrough"
    )
    return make_pipeline(encode, RandomForestClassifier(9, random_state=0))


def test_pipeline_over_a_frame():
    model = mixed_pipeline().fit(MIXED, TARGET)
    result = lm.local_mdi(model, MIXED)
    assert result.feature_names == tuple(model[:-1].get_feature_names_out())
    assert result.to_frame().index.equals(MIXED.index)
    inner = lm.local_mdi(model[-1], model[0].transform(MIXED)).values
    assert np.array_equal(result.values, inner)
    cities = [name for name in result.feature_names if "city" in name]
    assert result.group({"city": cities}).shape == (90, 2)
    explainer = lm.Explainer(model)
    parts = list(explainer.iter_batches(MIXED, batch_rows=40))
    assert np.array_equal(np.concatenate([part.values for part in parts]), result.values)
    assert parts[1].to_frame().index.tolist() == MIXED.index[40:80].tolist()
    assert explainer.top(MIXED, 1).to_frame()["row"].tolist() == MIXED.index.tolist()
    polars = pl.from_pandas(MIXED)
    again = mixed_pipeline().fit(polars, TARGET)
    assert isinstance(lm.local_mdi(again, polars).to_frame(), pl.DataFrame)


def test_pipeline_whose_steps_put_out_frames():
    model = mixed_pipeline().set_output(transform="pandas").fit(MIXED, TARGET)
    result = lm.local_mdi(model, MIXED)
    assert result.to_frame().index.equals(MIXED.index)
    scaled = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0))
    scaled.set_output(transform="polars").fit(ARRAY, TARGET)
    expected = lm.local_mdi(scaled, ARRAY)
    assert expected.frame_type is None
    parts = list(lm.Explainer(scaled).iter_batches(ARRAY, batch_rows=50))
    assert np.array_equal(np.concatenate([part.values for part in parts]), expected.values)
    assert isinstance(parts[0].data, pl.DataFrame)


def test_pipeline_over_texts():
    texts = ["the dose was low", "the dose was high", "no dose", "high fever"] * 5
    labels = [0, 1, 0, 1] * 5
    model = make_pipeline(TfidfVectorizer(), RandomForestClassifier(9, random_state=0))
    result = lm.local_mdi(model.fit(texts, labels), texts)
    assert result.feature_names == ("dose", "fever", "high", "low", "no", "the", "was")
    dense = lm.local_mdi(model[-1], model[0].transform(texts).toarray())
    assert np.array_equal(result.values, dense.values)
    assert lm.local_mdi(model, texts, output="sparse").values.nnz
    series = pd.Series(texts, index=range(100, 120))
    assert np.array_equal(lm.local_mdi(model, series).values, result.values)


def test_search():
    search = GridSearchCV(RandomForestClassifier(5, random_state=0), {"max_depth": [2, 3]}, cv=2)
    result = lm.local_mdi(search.fit(FRAME, TARGET), FRAME)
    best = lm.local_mdi(search.best_estimator_, FRAME)
    assert np.array_equal(result.values, best.values)
    assert result.feature_names == tuple(NAMES)
    with pytest.raises(ValueError, match="another order"):
        lm.local_mdi(search, FRAME[NAMES[::-1]])
    steps = GridSearchCV(mixed_pipeline(), {"randomforestclassifier__max_depth": [2]}, cv=2)
    result = lm.local_mdi(steps.fit(MIXED, TARGET), MIXED)
    assert result.to_frame().index.equals(MIXED.index)


def test_numbers_of_pandas_are_rounded_once():
    # 2**60 + 2**36 + 1 lies just above the middle of two float32; as a float64 it is the middle.
    frame = pd.DataFrame(
        {"whole": [2**60 + 2**36 + 1, 3], "real": [0.1, 1e300], "truth": [True, False]}
    )
    forest = build_forest(
        n_features=3,
        tree_offset=[0, 1],
        feature=[-1],
        split_kind=[0],
        threshold=[0.0],
        child_offset=[0, 0],
        child=[],
        impurity=[1.0],
        criterion="entropy",
        row_dtype="float32",
    )
    rows = adapt(forest).read(frame).batch(0, 2)
    expected = np.array(
        [[np.float32(np.int64(2**60 + 2**36 + 1)), 0.1, 1.0], [3.0, np.inf, 0.0]], dtype=np.float32
    )
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, expected)
    # Columns that are not NumPy's own take the other way, to the same numbers.
    nullable = frame.astype({"whole": "Int64", "truth": "boolean"})
    np.testing.assert_array_equal(adapt(forest).read(nullable).batch(0, 2), expected)
