"""NaN, infinities and numbers beyond float32: refused where the model's predict refuses them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import localmdi as lm
from importance.ensembles import CASES, FEW, HOLES, LABELS, X, target_of

VALUES = [np.nan, np.inf, -np.inf, 1e300, -1e39, 3e38]


def works(function, rows):
    try:
        function(rows)
    except ValueError:
        return False
    return True


def predicts(model, rows):
    with np.errstate(over="ignore"):  # SciPy warns of sparse numbers beyond float32
        return works(model.predict, rows)


@pytest.mark.parametrize("holes", [False, True], ids=["complete", "holes"])
@pytest.mark.parametrize(("model", "y"), CASES, ids=lambda case: type(case).__name__)
def test_what_predict_refuses_is_refused(model, y, holes):
    model = clone(model)
    try:
        model.fit(HOLES if holes else X, target_of(model, y))
    except ValueError:
        return  # cannot learn from missing values
    explainer = lm.Explainer(model)
    for value in VALUES:
        rows = X[:3].astype(float)
        rows[1, 2] = value
        for kind in (np.asarray, sp.csr_array, sp.csc_array):
            given = kind(rows)
            assert works(explainer, given) == predicts(model, given), (value, kind)


def test_the_messages_say_what_to_do():
    explainer = lm.Explainer(GradientBoostingClassifier(**FEW).fit(X, LABELS))
    with pytest.raises(ValueError, match=r"too large for float32.*as_forest"):
        explainer(np.full((2, 4), 1e300))
    for rows, kind in (
        (np.full((2, 4), np.nan), "dense"),
        (sp.csr_array([[np.nan] * 4]), "sparse"),
    ):
        with pytest.raises(ValueError, match=f"must not contain missing.*{kind}.*Impute"):
            explainer(rows)


@pytest.mark.parametrize("n_rows", [3, 200])
def test_a_forest_routes_infinities(n_rows):
    model = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    forest = lm.as_forest(model)
    rows = np.resize(X, (n_rows, 4)).astype(float)
    rows[::2, 0], rows[1::2, 1] = np.inf, -np.inf
    # Beyond all thresholds every number goes the same way.
    clipped = np.clip(rows, -1e30, 1e30)
    expected = lm.local_mdi(model, clipped).values
    huge = np.where(np.isinf(rows), np.sign(rows) * 1e300, rows)
    for given in (rows, huge, sp.csr_array(rows), sp.csr_array(huge)):
        assert np.array_equal(lm.local_mdi(forest, given).values, expected)
        assert not works(lambda r: lm.local_mdi(model, r), given)


def test_missing_values_in_compressed_rows_of_a_forest():
    model = RandomForestClassifier(5, random_state=0).fit(HOLES, LABELS)
    forest = lm.as_forest(model)
    expected = lm.local_mdi(model, HOLES).values
    assert np.array_equal(lm.local_mdi(forest, HOLES).values, expected)
    assert np.array_equal(lm.local_mdi(forest, sp.csr_array(HOLES)).values, expected)
    with pytest.raises(ValueError, match="sparse"):
        lm.local_mdi(model, sp.csr_array(HOLES))


def test_a_finite_sum_is_not_needed():
    # The quick check adds all values up; that this sum overflows or cancels says nothing.
    model = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    large = np.full((4, 4), 3e38, dtype=np.float32)
    assert lm.local_mdi(model, large).shape == (4, 4)
    large[2] = [np.inf, -np.inf, 0, 0]
    with pytest.raises(ValueError, match="finite"):
        lm.local_mdi(model, large)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (X[0], r"two-dimensional.* got shape \(4,\).*reshape\(1, -1\)"),
        (X[None], r"two-dimensional.* got shape \(1, "),
        (X[:, :3], "4 features; got 3"),
        (np.zeros((2, 5)), "4 features; got 5"),
        (sp.csr_array(X[:, :3]), "4 features; got 3"),
        (X.astype(complex), "complex"),
        (sp.csr_array(X.astype(complex)), "complex"),
        (np.array([["a", 1, 2, 3]], dtype=object), "could not convert string"),
        (np.array([[{}, 1, 2, 3]], dtype=object), "could not be converted"),
        ([[10**400, 1, 2, 3]], "could not be converted"),
        (np.array([["1", "2", "3", "4"]]), "numbers or booleans.*U1"),
        (np.zeros((2, 4), dtype="datetime64[D]"), "datetime64"),
        (np.zeros((2, 4), dtype=[("a", "f4")]), "numbers or booleans"),
        ([["a", 1, 2, 3]], "numbers or booleans"),
        ([[1, 2, 3, 4], [1, 2]], "rows have the same length"),
        ([], "two-dimensional"),
        (None, "two-dimensional"),
        ("text", "two-dimensional"),
        (sp.coo_array(np.zeros(4)), "two-dimensional"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(rows, words):
    model = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    for explain in (lm.Explainer(model), lm.Explainer(lm.as_forest(model))):
        with pytest.raises(ValueError, match=words):
            explain(rows)


def test_lists_and_objects_of_numbers():
    model = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    expected = lm.local_mdi(model, X).values
    for rows in (X.tolist(), tuple(map(tuple, X.tolist())), list(X), X.astype(object)):
        assert np.array_equal(lm.local_mdi(model, rows).values, expected)
    some = X.astype(object)
    some[3, 1] = None
    missing = X.copy()
    missing[3, 1] = np.nan
    assert np.array_equal(lm.local_mdi(model, some).values, lm.local_mdi(model, missing).values)
    assert np.array_equal(model.predict(some), model.predict(missing))
