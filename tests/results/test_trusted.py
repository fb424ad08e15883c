"""Results that a kernel makes are not checked; here they are, in every way of asking for one."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import localmdi as lm

if TYPE_CHECKING:
    from collections.abc import Callable

X, y = load_iris(return_X_y=True)
FOREST = ExtraTreesClassifier(5, criterion="entropy", random_state=0).fit(X, y)
FRAME = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(len(X))])
FRAMED = ExtraTreesClassifier(5, random_state=0).fit(FRAME, y)
PIPELINE = make_pipeline(StandardScaler(), FOREST).fit(FRAME, y)
BOOSTED = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, y)

ASKED: dict[str, Callable[[], lm.LocalImportance]] = {
    "one row": lambda: lm.Explainer(FOREST)(X[:1]),
    "no row": lambda: lm.Explainer(FOREST)(X[:0]),
    "rows": lambda: lm.local_mdi(FOREST, X),
    "into an array": lambda: lm.local_mdi(FOREST, X, out=np.empty(X.shape)),
    "standard errors": lambda: lm.local_mdi(FOREST, X, standard_error=True),
    "gain": lambda: lm.local_mdi(FOREST, X, measure="gain"),
    "frame": lambda: lm.local_mdi(FRAMED, FRAME),
    "pipeline": lambda: lm.local_mdi(PIPELINE, FRAME),
    "compressed rows": lambda: lm.local_mdi(FOREST, csr_array(X)),
    "sparse result": lambda: lm.local_mdi(FOREST, X, output="sparse"),
    "boosted": lambda: lm.local_mdi(BOOSTED, X),
    "forest": lambda: lm.local_mdi(lm.as_forest(FOREST), X),
}


@pytest.mark.parametrize("how", ASKED)
def test_a_result_of_a_kernel_passes_the_checks_and_is_not_changed_by_them(how: str) -> None:
    result = ASKED[how]()
    checked = replace(result)  # made by the constructor, which checks
    assert {field.name for field in fields(result)} == set(vars(result)) == set(vars(checked))
    for field in fields(result):
        mine, theirs = getattr(result, field.name), getattr(checked, field.name)
        assert type(mine) is type(theirs)
        assert _same(mine, theirs), field.name


@pytest.mark.parametrize("how", sorted(set(ASKED) - {"sparse result"}))
def test_its_arrays_are_read_only(how: str) -> None:
    result = ASKED[how]()
    for array in (result.values, result.residual, result.standard_error):
        if array is not None:
            assert not array.flags.writeable


def test_the_array_of_the_user_stays_writeable() -> None:
    out = np.empty(X.shape)
    result = lm.local_mdi(FOREST, X, out=out)
    assert out.flags.writeable
    assert np.shares_memory(out, result.values)


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_one_row_does_not_make_a_wrong_n_jobs_right(n_jobs: Any) -> None:
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        lm.Explainer(FOREST)(X[:1], n_jobs=n_jobs)


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, csr_array):
        return (mine != theirs).nnz == 0
    if isinstance(mine, np.ndarray):
        return np.array_equal(mine, theirs)
    if isinstance(mine, pd.DataFrame | pd.Index):
        return mine.equals(theirs)
    return bool(mine == theirs)
