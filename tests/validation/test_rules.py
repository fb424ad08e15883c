"""Values, names, threads, targets and weights: what passes, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from localmdi._validation import (
    RowRules,
    check_batch,
    check_names,
    check_sample_weight,
    check_target,
    count_threads,
    names_of,
)

FLOATS = st.floats(width=32) | st.sampled_from([np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 0.0])
TABLES = arrays(np.float32, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=FLOATS)


def passes(batch, rules, refused):
    try:
        check_batch(batch, rules, refused=lambda: refused)
    except ValueError:
        return False
    return True


@given(TABLES, st.booleans(), st.booleans(), st.integers(0, 15))
def test_a_batch_passes_if_every_value_does(table, finite, missing, bits):
    refused = np.array([bits >> f & 1 for f in range(table.shape[1])], dtype=bool)
    good = not (finite and np.isinf(table).any())
    if np.isnan(table).any():
        good = good and missing and not np.isnan(table)[:, refused].any()
    assert passes(table, RowRules(finite, missing, False), refused) == good
    assert passes(np.asfortranarray(table), RowRules(finite, missing, False), refused) == good
    assert passes(sp.csr_array(table), RowRules(finite, False, missing), refused) == good


def test_the_splits_are_asked_only_about_missing_values():
    def never():
        raise AssertionError

    check_batch(np.array([[1.0, np.inf]]), RowRules(), refused=never)
    check_batch(sp.csr_array([[1.0, 0.0]]), RowRules(finite=True), refused=never)
    check_batch(np.full((2, 2), 3e38, dtype="f4"), RowRules(finite=True), refused=never)
    with pytest.raises(ValueError, match="feature 1 must not be missing"):
        check_batch(np.full((1, 2), np.nan), RowRules(), refused=lambda: np.array([False, True]))


def test_names():
    assert names_of([]) == ()
    assert names_of(["a", "b"]) == ("a", "b")
    assert names_of([("a", 1), ("a", 2)]) is None
    with pytest.raises(TypeError, match="all strings or none"):
        names_of(["a", 1])
    check_names(("a", "b"), ("a", "b"))
    check_names(None, None)
    with pytest.raises(
        ValueError, match=r"'n0', 'n1', 'n2', 'n3', 'n4' and 4 more; missing: 'a'\."
    ):
        check_names(tuple(f"n{i}" for i in range(9)), ("a",))
    with pytest.raises(ValueError, match="the model's features"):
        check_names(("a", "a"), ("a",))
    with pytest.warns(UserWarning, match="X has feature names"):
        check_names(("a",), None)
    with pytest.warns(UserWarning, match="X does not have feature names"):
        check_names(None, ("a",))


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", [1]])
def test_threads_must_count(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number"):
        count_threads(n_jobs)


def test_threads_below_zero_leave_processors_free():
    assert count_threads(-(10**6)) == 1
    assert count_threads(-1) >= count_threads(-2) >= 1


def test_targets():
    assert check_target([[1, 2]], 1).tolist() == [[1, 2]]
    assert check_target(["a", "b"], 2).tolist() == ["a", "b"]
    for y, n in (([1, 2], 3), (5, 1), (np.ones((1, 1, 1)), 1), ([], 1)):
        with pytest.raises(ValueError, match="y must have one entry per row of X"):
            check_target(y, n)


def test_sample_weights():
    assert check_sample_weight([1, 0], 2).tolist() == [1.0, 0.0]
    assert check_sample_weight(3.0, 2).tolist() == [3.0, 3.0]
    for weight in ([1.0], np.ones((2, 1))):
        with pytest.raises(ValueError, match="one entry per row of X"):
            check_sample_weight(weight, 2)
    for weight in ([1, -1], [0, 0], [1, np.nan], [np.inf, 1]):
        with pytest.raises(ValueError, match="finite, non-negative and not all zero"):
            check_sample_weight(weight, 2)
