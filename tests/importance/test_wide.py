"""Many features without a table of all of them; and compressed rows, sound or damaged."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import localmdi as lm
from localmdi._validation import RowRules, read_rows

EXPLAIN_WIDE = """
import json, resource, sys
import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
import localmdi as lm

n, p = {n}, {p}
rng = np.random.default_rng(0)
per_row = 60
columns = rng.integers(0, p, (n, per_row), dtype=np.int32)
columns[:, :8] = rng.integers(0, 30, (n, 8))  # words that occur often
columns.sort(axis=1)
data = rng.random(n * per_row, dtype=np.float32)
indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
X = sp.csr_array((data, columns.ravel(), indptr), shape=(n, p))
y = rng.integers(0, 2, 2000)
model = RandomForestClassifier(10, max_depth=8, random_state=0).fit(X[:2000], y)
explainer = lm.Explainer(model)
top = explainer.top(X, 5, n_jobs=2)
result = explainer(X, output="sparse", n_jobs=2)
batches = sum(part.values.nnz for part in explainer.iter_batches(X[-400:], output="sparse"))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
some = [0, 1, n // 2, n - 1]
dense = explainer(X[some])
again = dense.top(5)
report = dict(
    megabytes=peak / (2**20 if sys.platform == "darwin" else 2**10),
    shape=list(result.shape),
    nonzero=int(result.values.nnz),
    additive=result.additivity_error(),
    dense=bool(np.array_equal(result.values[some].toarray(), dense.values)),
    top=top.indices[some].tolist() == again.indices.tolist(),
    top_values=top.values[some].tolist() == again.values.tolist(),
    batches=bool(batches == result.values[-400:].nnz),
)
print(json.dumps(report))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="asks POSIX for the memory")
def test_a_hundred_thousand_rows_of_twenty_thousand_features():
    script = EXPLAIN_WIDE.format(n=100_000, p=20_000)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
    )
    report = json.loads(run.stdout)
    assert report["shape"] == [100_000, 20_000]
    assert report["nonzero"] < 100_000 * 80  # paths of 10 trees of depth 8
    assert report["additive"] < 1e-12
    assert report["dense"]
    assert report["top"]
    assert report["top_values"]
    assert report["batches"]
    assert report["megabytes"] < 1500  # a table would take 16 GB


RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((150, 40)) < 0.2, RNG.integers(-3, 4, (150, 40)), 0).astype(np.float32)
MODEL = ExtraTreesClassifier(15, max_depth=6, random_state=0).fit(DENSE, RNG.integers(0, 3, 150))
EXPLAINER = lm.Explainer(MODEL)
EXPECTED = EXPLAINER(DENSE).values
CSR = sp.csr_array(DENSE)


def rebuilt(data, indices, indptr, kind=sp.csr_array):
    """Put the arrays in place, past the checks of the constructor."""
    matrix = kind(DENSE.shape, dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def same_ends(X):
    """Whether rows reach the leaves that scikit-learn sends them to, whatever X is."""
    rows = read_rows(sp.csr_array(X), EXPLAINER.forest.row_dtype)
    (block,) = EXPLAINER._packing.leaf_blocks(rows, RowRules(), n_threads=1)
    return np.array_equal(block.leaf - EXPLAINER.forest.tree_offset[:-1], MODEL.apply(X))


@pytest.mark.parametrize("output", ["dense", "sparse"])
def test_index_types(output):
    for dtype in (np.int32, np.int64):
        X = rebuilt(CSR.data, CSR.indices.astype(dtype), CSR.indptr.astype(dtype))
        assert X.indices.dtype == dtype
        result = EXPLAINER(X, output=output)
        assert np.array_equal(np.asarray(result), EXPECTED)
        parts = EXPLAINER.iter_batches(X, batch_rows=40, output=output)
        assert np.array_equal(np.concatenate([np.asarray(part) for part in parts]), EXPECTED)


def test_unsorted_indices_and_explicit_zeros():
    order = np.concatenate(
        [RNG.permutation(np.arange(a, b)) for a, b in zip(CSR.indptr, CSR.indptr[1:], strict=False)]
    )
    shuffled = rebuilt(CSR.data[order], CSR.indices[order], CSR.indptr)
    assert not shuffled.has_sorted_indices
    assert np.array_equal(EXPLAINER(shuffled).values, EXPECTED)
    assert same_ends(shuffled)
    full = rebuilt(
        DENSE.ravel(),
        np.tile(np.arange(40, dtype=np.int32), 150),
        np.arange(0, 6001, 40, dtype=np.int32),
    )
    assert full.nnz == DENSE.size
    assert np.array_equal(EXPLAINER(full).values, EXPECTED)
    assert np.array_equal(EXPLAINER(full, output="sparse").values.toarray(), EXPECTED)


@pytest.mark.parametrize("n_rows", [10, 150])
def test_duplicates_count_as_scikit_learn_counts_them(n_rows):
    n = 200 * n_rows // 10
    indptr = np.linspace(0, n, n_rows + 1).astype(np.int32)
    X = sp.csr_array((n_rows, 40), dtype=np.float32)
    X.data = RNG.integers(-3, 4, n).astype(np.float32)
    X.indices, X.indptr = RNG.integers(0, 40, n, dtype=np.int32), indptr
    assert not X.has_canonical_format
    last = np.zeros(X.shape, dtype=np.float32)
    for row in range(n_rows):
        for k in range(indptr[row], indptr[row + 1]):
            last[row, X.indices[k]] = X.data[k]
    assert np.array_equal(MODEL.apply(X), MODEL.apply(last))  # the last entry counts
    before = X.indices.copy()
    assert np.array_equal(EXPLAINER(X).values, EXPLAINER(last).values)
    assert np.array_equal(X.indices, before)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok"])
def test_every_format(kind):
    for X in (CSR.asformat(kind), sp.csr_matrix(CSR).asformat(kind)):
        assert np.array_equal(EXPLAINER(X).values, EXPECTED)
        parts = EXPLAINER.iter_batches(X, batch_rows=70)
        assert np.array_equal(np.concatenate([part.values for part in parts]), EXPECTED)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("value", [-1, -(2**31), 150, 10_000_000, 2**31 - 1])
def test_indices_out_of_range_are_refused(kind, value):
    source = CSR if kind is sp.csr_array else CSR.tocsc()
    for place in (0, len(source.indices) // 2, -1):
        indices = source.indices.copy()
        indices[place] = value
        X = rebuilt(source.data, indices, source.indptr, kind)
        for call in (EXPLAINER, lambda X: EXPLAINER.top(X, 2), EXPLAINER.iter_batches):
            with pytest.raises(ValueError, match="indices of a sparse X must lie within"):
                call(X)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(
    ("place", "value"), [(0, 1), (0, -5), (3, -1), (3, 2**30), (-1, 10**9), (-1, -1), (-2, 10**9)]
)
def test_damaged_indptr_is_refused(kind, place, value):
    source = CSR if kind is sp.csr_array else CSR.tocsc()
    indptr = source.indptr.copy()
    indptr[place] = value
    X = rebuilt(source.data, source.indices, indptr, kind)
    for call in (EXPLAINER, lambda X: EXPLAINER.top(X, 2), EXPLAINER.iter_batches):
        with pytest.raises(ValueError, match="indptr of a sparse X must rise"):
            call(X)


def test_arrays_of_wrong_length_are_refused():
    for data, indices, indptr in (
        (CSR.data, CSR.indices, CSR.indptr[:-1]),
        (CSR.data, CSR.indices, np.append(CSR.indptr, CSR.nnz)),
        (CSR.data[:-1], CSR.indices, CSR.indptr),
        (CSR.data, CSR.indices[:-1], CSR.indptr),
        (CSR.data, CSR.indices, CSR.indptr[:0]),
    ):
        with pytest.raises(ValueError, match="indptr of a sparse X must rise"):
            EXPLAINER(rebuilt(data, indices, indptr))


def test_room_behind_the_last_entry_is_not_read():
    spare = np.full(9, 2**31 - 1, dtype=np.int32)
    data = np.append(CSR.data, np.full(9, np.nan, dtype=np.float32))
    X = rebuilt(data, np.append(CSR.indices, spare), CSR.indptr)
    assert np.array_equal(EXPLAINER(X).values, EXPECTED)


def test_coordinates_out_of_range_are_refused():
    for axis, value in ((0, 150), (0, -1), (1, 40), (1, -7)):
        X = sp.coo_array(DENSE)
        X.coords[axis][5] = value
        with pytest.raises(ValueError, match="indices of a sparse X must lie within"):
            EXPLAINER(X)


def test_the_kernels_check_compressed_rows_too():
    packing = EXPLAINER._packing
    arrays = (CSR.data, CSR.indices.astype(np.int64), CSR.indptr.astype(np.int64))
    kind = type(packing.rows(DENSE))
    for place, change in ((1, -1), (1, 40), (2, -1), (2, 10**9)):
        broken = [array.copy() for array in arrays]
        broken[place][7] = change
        with pytest.raises(ValueError, match="must"):
            kind(*broken, 40)
    rows = kind(*arrays, 41)
    with pytest.raises(ValueError, match="forest's features"):
        packing.kernel.local_mdi(rows, np.empty((150, 40)), np.empty(150), None, 1)


def test_sparse_results_of_a_wide_forest_of_one_node():
    model = RandomForestClassifier(2).fit(sp.csr_array((3, 5000)), [1, 1, 1])
    result = lm.local_mdi(model, sp.csr_array((2, 5000)), output="sparse")
    assert result.values.nnz == 0
    assert lm.Explainer(model).top(sp.csr_array((2, 5000)), 2).indices.tolist() == [[0, 1], [0, 1]]
