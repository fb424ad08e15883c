"""A small hand-computed result that the tests of this room share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_array

from localmdi.results import LocalImportance


@pytest.fixture
def make_local():
    """Build the example; keywords replace fields, ``sparse=True`` stores the values as CSR."""

    def make(*, sparse=False, **changes):
        result = LocalImportance(
            np.array([[0.5, 0.0, 0.25, 0.0], [0.0, 0.5, -0.125, 0.0], [1.0, 0.0, 0.0, 0.0]]),
            1.0,
            residual=np.array([0.25, 0.625, 0.0]),
            unit="bits",
            feature_names=("age", "sex_f", "dose", "sex_m"),
            n_trees=10,
        )
        result = dataclasses.replace(result, **changes)
        return dataclasses.replace(result, values=csr_array(result.values)) if sparse else result

    return make


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def local(request, make_local):
    return make_local(sparse=request.param)


@pytest.fixture
def as_dense():
    def convert(matrix):
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    return convert
