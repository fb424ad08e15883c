"""Local MDI: Definition 1 of the paper for every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi._progress import progress_bar
from localmdi._validation import RowRules, RowSource
from localmdi.results import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.forest.packing import Packing
    from localmdi.typing import FloatArray


@dataclass(frozen=True)
class LocalRequest:
    """How to explain: everything but the forest and the rows.

    Examples
    --------
    >>> LocalRequest(n_threads=2).output
    'dense'
    """

    n_threads: int = 1
    rules: RowRules = field(default_factory=RowRules)
    standard_error: bool = False
    output: Literal["dense", "sparse"] = "dense"
    out: Any = None
    progress: bool = False
    note: str | None = None

    def __post_init__(self) -> None:
        if self.output not in ("dense", "sparse"):
            raise ValueError(
                f"output must be 'dense' or 'sparse'; got {self.output!r}. "
                "Use 'sparse' for data with very many features."
            )
        if self.output == "sparse" and (self.standard_error or self.out is not None):
            raise ValueError(
                "standard_error and out need output='dense'; got output='sparse'. "
                "Explain fewer rows at a time with Explainer.iter_batches instead."
            )


def explain(packing: Packing, rows: RowSource, *, request: LocalRequest) -> LocalImportance:
    """Return the importances of all rows as one table.

    Examples
    --------
    >>> from localmdi._validation import read_rows
    >>> from localmdi.forest import build_forest
    >>> from localmdi.forest.credit import impurity_drop
    >>> from localmdi.forest.packing import Packing
    >>> forest = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...     split_kind=[1, 0, 0], threshold=[0.5, 0, 0], child_offset=[0, 2, 2, 2], child=[1, 2],
    ...     impurity=[0.75, 1.0, 0.0], criterion="entropy")
    >>> rows = read_rows([[0], [1]], "float64")
    >>> explain(Packing(forest, impurity_drop(forest)), rows, request=LocalRequest()).values
    array([[-0.25],
           [ 0.75]])
    """
    if request.output == "sparse":
        return explain_sparse(packing, rows, request=request)
    shape = (rows.shape[0], packing.forest.n_features)
    values = np.empty(shape) if request.out is None else _check_out(request.out, shape, rows=rows)
    residual = np.empty(shape[0])
    error = np.empty(shape) if request.standard_error and not packing.forest.boosted else None
    if request.out is not None:
        packing.check(rows, request.rules)
    for start, stop, batch in _batches(packing, rows, request=request):
        view = values[start:stop]
        part = view if request.out is None else _for_kernels(view)
        packing.kernel.local_mdi(
            packing.rows(batch),
            part,
            residual[start:stop],
            None if error is None else error[start:stop],
            request.n_threads,
        )
        if part is not view:
            view[...] = part
    return _result(
        packing, rows, residual=residual, values=values, standard_error=error, caveat=request.note
    )


def explain_sparse(packing: Packing, rows: RowSource, *, request: LocalRequest) -> LocalImportance:
    """Return the importances of all rows as compressed rows; memory grows with their non-zeros."""
    from scipy.sparse import csr_array, vstack

    p = packing.forest.n_features
    parts = [csr_array((0, p), dtype=np.float64)]
    residual = np.empty(rows.shape[0])
    for start, stop, batch in _batches(packing, rows, request=request):
        data, indices, indptr, residual[start:stop] = packing.kernel.sparse_local_mdi(
            packing.rows(batch), request.n_threads
        )
        parts.append(csr_array((data, indices, indptr), shape=(stop - start, p)))
    values = parts[1] if len(parts) == 2 else vstack(parts, format="csr")
    return _result(packing, rows, residual=residual, values=values, caveat=request.note)


def _batches(
    packing: Packing, rows: RowSource, *, request: LocalRequest
) -> Iterator[tuple[int, int, Any]]:
    """Return the rows batch by batch, with a bar of what is done if that is wanted."""
    if not request.progress:
        return packing.batches(rows, request.rules)
    step = max(1024, rows.shape[0] // 100)
    return _shown(packing.batches(rows, request.rules, batch_rows=step), rows.shape[0])


def _shown(batches: Iterator[tuple[int, int, Any]], n_rows: int) -> Iterator[tuple[int, int, Any]]:
    with progress_bar(True, n_rows, unit="row") as advance:
        for start, stop, batch in batches:
            yield start, stop, batch
            advance(stop - start)


def _result(
    packing: Packing, rows: RowSource, *, residual: FloatArray, **fields: Any
) -> LocalImportance:
    known = packing.result_fields
    if rows.names:
        known = {**known, "feature_names": packing.forest.names_for(rows.names)}
    fields.update(
        residual=None if packing.baseline is None else residual,
        data=rows.data,
        row_labels=rows.row_labels,
        frame_type=rows.frame_type,
        groups=rows.groups,
    )
    if isinstance(fields["values"], np.ndarray):
        return LocalImportance._of_kernel(known, **fields)
    return LocalImportance(**known, **fields)


def _for_kernels(view: FloatArray) -> FloatArray:
    """Return a part of the caller's array if the kernels can write it, or one of their own."""
    fits = view.flags.c_contiguous and view.flags.aligned
    return view if fits else np.empty(view.shape)


def _check_out(out: Any, shape: tuple[int, int], *, rows: RowSource) -> FloatArray:
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
    if not fits or not out.flags.writeable:
        given = type(out).__name__
        if isinstance(out, np.ndarray):
            given = f"{out.dtype} of shape {out.shape}" + (
                "" if out.flags.writeable else ", read-only"
            )
        raise ValueError(
            f"out must be a writeable float64 array of shape {shape}; got {given}. "
            "Make it with np.empty(shape) or np.memmap(path, dtype='float64', shape=shape)."
        )
    if isinstance(rows.matrix, np.ndarray) and np.shares_memory(out, rows.matrix):
        raise ValueError(
            "out must not share memory with X, which is read while out is written. "
            "Pass an array of its own."
        )
    return np.asarray(out)
