"""Sparse X: its structure is checked before SciPy or a kernel follows its indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localmdi.typing import AnyArray

__all__ = ["compressed_rows"]


def compressed_rows(X: Any) -> Any:
    """Return a sparse matrix of any format as compressed rows (CSR).

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> compressed_rows(csc_array([[0.0, 2.0]])).format
    'csr'
    """
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"a sparse X must be two-dimensional and numeric; got {X.ndim} dimension(s) of dtype "
            f"{X.dtype}. Convert it, for example X.astype('float32')."
        )
    # SciPy converts and slices without a look at these arrays: wrong ones would end the process.
    if X.format == "coo":
        _check_positions(X.row, X.shape[0], of="rows")
        _check_positions(X.col, X.shape[1], of="columns")
    elif X.format in ("csr", "csc"):
        _check_compressed(X)
    elif X.format == "bsr":
        _check_compressed(X, X.blocksize)
    rows = X.tocsr()
    if not len(rows.data) == len(rows.indices) == rows.indptr[-1]:
        rows = rows.copy()  # without the room behind its last entry, which may hold anything
        rows.prune()
    return rows


def _check_compressed(X: Any, block: tuple[int, int] = (1, 1)) -> None:
    n_rows, n_columns = X.shape[0] // block[0], X.shape[1] // block[1]
    n, limit, of = (
        (n_columns, n_rows, "rows") if X.format == "csc" else (n_rows, n_columns, "columns")
    )
    indptr = X.indptr
    if (
        indptr.shape != (n + 1,)
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or indptr[-1] > min(len(X.indices), len(X.data))
    ):
        raise ValueError(
            "the indptr of a sparse X must rise from 0 to at most the number of stored values; got "
            "another sequence. Build X with scipy.sparse."
        )
    _check_positions(X.indices[: indptr[-1]], limit, of=of)


def _check_positions(indices: AnyArray, limit: int, *, of: str) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= limit):
        raise ValueError(
            f"the indices of a sparse X must lie within its {limit} {of}; got {indices.min()} to "
            f"{indices.max()}. Build X with scipy.sparse."
        )
