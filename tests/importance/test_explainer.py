"""The explainer: its batches, `out=`, the k largest, progress bars, copies and pickles."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

import localmdi as lm
from importance.models import X_CLASS, Y_CLASS
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError
from localmdi.forest import build_forest

MODEL = RandomForestClassifier(12, random_state=0).fit(X_CLASS, Y_CLASS)
EXPLAINER = lm.Explainer(MODEL)
EXPECTED = EXPLAINER(X_CLASS)
SHAPE = X_CLASS.shape


def test_batches_carry_what_belongs_to_their_rows():
    frame = pd.DataFrame(X_CLASS, index=range(500, 620))
    parts = list(EXPLAINER.iter_batches(frame, batch_rows=50))
    assert [len(part) for part in parts] == [50, 50, 20]
    assert parts[2].row_labels.tolist() == list(range(600, 620))
    assert parts[1].data.equals(frame[50:100])
    assert {part.baseline for part in parts} == {EXPECTED.baseline}
    joined = lm.LocalImportance.concat(parts)
    assert np.array_equal(joined.values, EXPECTED.values)
    assert joined.to_frame().index.equals(frame.index)


@pytest.mark.parametrize(
    "kind", [sp.csr_array, sp.csc_array, sp.coo_array, np.asfortranarray, list]
)
def test_batches_of_every_kind_of_rows(kind):
    parts = EXPLAINER.iter_batches(kind(X_CLASS), batch_rows=37)
    assert np.array_equal(np.concatenate([part.values for part in parts]), EXPECTED.values)
    sparse = EXPLAINER.iter_batches(kind(X_CLASS), batch_rows=37, output="sparse")
    assert np.array_equal(sp.vstack([p.values for p in sparse]).toarray(), EXPECTED.values)


def test_a_batch_fails_where_its_rows_are_bad():
    rows = X_CLASS.copy()
    rows[70, 0] = np.inf
    batches = EXPLAINER.iter_batches(rows, batch_rows=60)
    assert np.array_equal(next(batches).values, EXPECTED.values[:60])
    with pytest.raises(ValueError, match="finite"):
        next(batches)


@pytest.mark.parametrize("batch_rows", [0, -1, 2.5, "many"])
def test_batch_rows_must_count(batch_rows):
    with pytest.raises(ValueError, match="batch_rows must be a positive whole number"):
        EXPLAINER.iter_batches(X_CLASS, batch_rows=batch_rows)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_n_jobs_must_count(n_jobs):
    for call in (
        EXPLAINER,
        EXPLAINER.iter_batches,
        lambda X, n_jobs: EXPLAINER.top(X, 2, n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match="n_jobs must be None or a whole number"):
            call(X_CLASS, n_jobs=n_jobs)


def test_the_request_must_make_sense():
    with pytest.raises(ValueError, match="'dense' or 'sparse'; got 'csr'"):
        EXPLAINER(X_CLASS, output="csr")
    for fields in ({"standard_error": True}, {"out": np.empty(SHAPE)}):
        with pytest.raises(ValueError, match="need output='dense'"):
            EXPLAINER(X_CLASS, output="sparse", **fields)


def outs(folder):
    yield np.full(SHAPE, 7.0)
    yield np.full(SHAPE, 7.0, order="F")
    yield np.full((SHAPE[0] * 2, SHAPE[1] * 3), 7.0)[::2, ::3]
    yield np.full(SHAPE, 7.0)[::-1]
    yield np.full((3, *SHAPE), 7.0)[1]
    yield np.memmap(folder / "values", dtype="f8", mode="w+", shape=SHAPE)
    buffer = np.zeros(1 + 8 * SHAPE[0] * SHAPE[1], dtype="u1")
    yield buffer[1:].view("f8").reshape(SHAPE)  # not aligned


def test_out_of_every_layout(tmp_path):
    for out in outs(tmp_path):
        result = EXPLAINER(X_CLASS, out=out)
        assert np.array_equal(out, EXPECTED.values)
        assert np.shares_memory(result.values, out)
        assert np.array_equal(result.residual, EXPECTED.residual)
    stored = np.memmap(tmp_path / "values", dtype="f8", mode="r", shape=SHAPE)
    assert np.array_equal(stored, EXPECTED.values)


def test_out_of_one_row():
    wide = np.full((5, SHAPE[1]), 7.0)
    EXPLAINER(X_CLASS[:1], out=wide[2:3])
    assert np.array_equal(wide[2], EXPECTED.values[0])
    assert (np.delete(wide, 2, axis=0) == 7).all()


def read_only():
    out = np.empty(SHAPE)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.empty(SHAPE, dtype="f4"), "got float32"),
        (np.empty(SHAPE, dtype=">f8"), "got >f8"),
        (np.empty((SHAPE[0], 5)), r"\(120, 5\)"),
        (np.empty(SHAPE[::-1]), r"\(6, 120\)"),
        (np.empty(SHAPE).tolist(), "got list"),
        (read_only(), "read-only"),
    ],
)
def test_out_that_does_not_fit(out, words):
    with pytest.raises(ValueError, match=f"writeable float64 array of shape .*{words}"):
        EXPLAINER(X_CLASS, out=out)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_bad_value_leaves_out_untouched(n_jobs):
    for kind, bad in ((np.asarray, np.nan), (sp.csr_array, np.nan), (np.asarray, np.inf)):
        rows = X_CLASS.astype(float)
        rows[-1, -1] = bad
        model = GradientBoostingClassifier(n_estimators=2).fit(X_CLASS, Y_CLASS)
        out = np.full(SHAPE, 7.0)
        with pytest.raises(ValueError, match="X must"):
            lm.local_mdi(model, kind(rows), out=out, n_jobs=n_jobs)
        assert (out == 7).all()
    with pytest.raises(ValueError, match="6 features; got 5"):
        EXPLAINER(X_CLASS[:, :5], out=out)
    assert (out == 7).all()


def test_out_must_not_be_x():
    forest = build_forest(
        **(lm.as_forest(MODEL).table), impurity=lm.as_forest(MODEL).impurity, criterion="gini"
    )
    assert forest.row_dtype == "float64"  # so that X is read in place
    X = X_CLASS.astype(float)
    for out in (X, X[:], X[::-1]):
        with pytest.raises(ValueError, match="share memory"):
            lm.local_mdi(forest, X, out=out)
    beside = np.empty((SHAPE[0], 2 * SHAPE[1]))
    beside[:, :6] = X
    lm.local_mdi(forest, beside[:, :6], out=beside[:, 6:])
    assert np.array_equal(beside[:, 6:], lm.local_mdi(forest, X).values)


def test_top_is_that_of_the_whole_result():
    whole = EXPECTED.top(3)
    for rows in (X_CLASS, sp.csr_array(X_CLASS), pd.DataFrame(X_CLASS)):
        streamed = EXPLAINER.top(rows, 3, n_jobs=2)
        assert np.array_equal(streamed.indices, whole.indices)
        assert np.array_equal(streamed.values, whole.values)
    assert EXPLAINER.top(X_CLASS, 99).indices.shape == SHAPE
    with pytest.raises(ValueError, match="k must be at least 1"):
        EXPLAINER.top(X_CLASS, 0)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_give_the_same_bits(copied):
    assert np.array_equal(copied(EXPLAINER)(X_CLASS).values, EXPECTED.values)
    frame = pd.DataFrame(X_CLASS, columns=list("abcdef"))
    pipeline = make_pipeline(MinMaxScaler(), RandomForestClassifier(5, random_state=0))
    explainer = lm.Explainer(pipeline.fit(frame, Y_CLASS))
    again = copied(explainer)
    assert np.array_equal(again(frame).values, explainer(frame).values)
    assert again(frame).feature_names == tuple("abcdef")
    strict = copied(lm.Explainer(GradientBoostingClassifier(n_estimators=2).fit(X_CLASS, Y_CLASS)))
    with pytest.raises(ValueError, match="missing values"):
        strict(np.full((1, 6), np.nan))
    assert repr(again) == repr(explainer)


def test_the_model_may_change_or_go():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X_CLASS, Y_CLASS)
    explainer = lm.Explainer(tree)
    expected = explainer(X_CLASS).values
    tree.tree_.impurity[:] = 99.0
    tree.tree_.threshold[:] = 0.0
    assert np.array_equal(explainer(X_CLASS).values, expected)
    del tree
    assert np.array_equal(explainer(X_CLASS).values, expected)


def test_the_rows_are_not_changed():
    for kind in (np.array, sp.csr_array, pd.DataFrame):
        rows = kind(X_CLASS.astype(float))
        before = rows.copy()
        EXPLAINER(rows)
        assert abs(rows - before).sum().sum() == 0


def test_progress_shows_a_bar_and_changes_no_bit(capfd):
    rows = np.tile(X_CLASS, (30, 1))
    for options in ({}, {"n_jobs": 2}, {"output": "sparse"}, {"standard_error": True}):
        expected = EXPLAINER(rows, **options)
        assert "row" not in capfd.readouterr().err
        result = EXPLAINER(rows, progress=True, **options)
        shown = capfd.readouterr()
        assert "3600/3600" in shown.err
        assert not shown.out
        values = [np.asarray(each) for each in (result, expected)]
        assert np.array_equal(*values)
    assert EXPLAINER(rows[:0], progress=True).shape == (0, 6)


def test_progress_without_tqdm_says_what_to_install(monkeypatch):
    for module in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install localmdi\[progress\]"):
        EXPLAINER(X_CLASS, progress=True)
    assert np.array_equal(EXPLAINER(X_CLASS).values, EXPECTED.values)


def test_predict_equals_the_model_s():
    forest = lm.as_forest(MODEL)
    predicted = lm.Explainer(forest).predict(X_CLASS, n_jobs=2)
    assert np.array_equal(predicted, MODEL.predict(X_CLASS.astype(np.float32)))
    regressor = RandomForestRegressor(7, random_state=0).fit(X_CLASS, X_CLASS[:, :2] ** 2)
    expected = regressor.predict(X_CLASS)
    for model, rows in ((regressor, slice(None)), (regressor, slice(0, 1)), (regressor, slice(0))):
        ours = lm.Explainer(lm.as_forest(model)).predict(X_CLASS[rows])
        np.testing.assert_allclose(ours, expected[rows], rtol=1e-12)


def test_predict_of_several_classifications():
    targets = np.stack([Y_CLASS, np.array(["no", "yes"])[Y_CLASS % 2]], axis=1)
    model = RandomForestClassifier(9, random_state=0).fit(X_CLASS, targets)
    ours = lm.Explainer(lm.as_forest(model)).predict(X_CLASS)
    assert ours.tolist() == model.predict(X_CLASS).tolist()


def test_what_cannot_predict_says_so():
    with pytest.raises(MissingStatisticsError, match="must have value"):
        EXPLAINER.predict(X_CLASS)
    boosted = GradientBoostingClassifier(n_estimators=2).fit(X_CLASS, Y_CLASS)
    measured = lm.as_forest(boosted).with_statistics(X_CLASS, Y_CLASS, criterion="entropy")
    with pytest.raises(UnsupportedModelError, match="Use the model's own predict"):
        lm.Explainer(measured).predict(X_CLASS)
