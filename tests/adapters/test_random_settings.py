"""Whatever a model was trained with, rows end in the library's leaf and make its prediction."""

import numpy as np
import pytest

from adapters.libraries import assert_same_leaves, assert_same_predictions, raw, strange_rows
from adapters.random_models import LIBRARIES, draw
from localmdi import as_forest

N_QUICK, N_SLOW = 6, 300


def check(library, seed):
    case = draw(library, seed)
    forest = as_forest(case.model)
    Z = strange_rows(case.X, forest, odd=case.odd, seed=seed)
    try:
        if case.leaves is not None:
            assert_same_leaves(forest, Z, case.leaves(Z), values=case.leaf_values)
        if library == "ydf":
            assert_same_probabilities(forest, Z, case)
        else:
            assert_same_predictions(case.model, Z, case.raw(Z), atol=case.tolerance)
    except AssertionError as error:
        raise AssertionError(f"{library}, case {seed}: {case.settings}") from error


def assert_same_probabilities(forest, Z, case):
    """Compare with probabilities in float32, of which those of rows far from a half say little."""
    ours, theirs = raw(forest, Z), np.asarray(case.raw(Z))
    if case.settings["boosted"] and case.settings["kind"] == "classes":
        ours = ours - np.log(np.exp(ours).sum(axis=1, keepdims=True))
    elif theirs.ndim == 1:
        ours = ours[:, -1]
    np.testing.assert_allclose(ours, theirs, atol=case.tolerance, rtol=1e-4)


@pytest.mark.parametrize("seed", range(N_QUICK))
@pytest.mark.parametrize("library", LIBRARIES)
def test_some_settings(library, seed):
    check(library, seed)


# What such a search has found: a tree of one leaf, questions whether a value is missing.
FOUND = [("CatBoost", 175), ("ydf", 42), ("ydf", 63)]


@pytest.mark.parametrize(("library", "seed"), FOUND)
def test_settings_that_were_routed_wrongly(library, seed):
    check(library, seed)


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_many_settings(library):
    for seed in range(N_QUICK, N_SLOW):
        check(library, seed)
