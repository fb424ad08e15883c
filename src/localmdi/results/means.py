"""Means over rows, by weight and by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from localmdi.results.frames import dense

if TYPE_CHECKING:
    from localmdi.results.checks import Matrix
    from localmdi.typing import FloatArray, IntArray

__all__ = ["RowMean", "mean_by_label", "mean_of_rows"]


class RowMean(NamedTuple):
    """Mean values and baseline of some rows, and their total weight.

    Examples
    --------
    >>> RowMean(np.array([0.5]), 1.0, 20.0).weight
    20.0
    """

    values: FloatArray
    baseline: float
    weight: float


def mean_of_rows(
    values: Matrix, baseline: float | FloatArray, *, row_weight: FloatArray | None
) -> RowMean:
    """Return the weighted mean of all rows.

    Examples
    --------
    >>> mean_of_rows(np.array([[1.0], [4.0]]), 5.0, row_weight=np.array([2.0, 1.0]))
    RowMean(values=array([2.]), baseline=5.0, weight=3.0)
    """
    n_rows = values.shape[0]
    if row_weight is None:
        _check_weight(n_rows, "a result of no rows")
        return RowMean(values.mean(axis=0), float(np.mean(baseline)), float(n_rows))
    total = float(row_weight.sum())
    _check_weight(total, f"row weights that sum to {total}")
    level = np.broadcast_to(baseline, n_rows)
    mean = baseline if isinstance(baseline, float) else float(row_weight @ level) / total
    return RowMean((row_weight @ values) / total, mean, total)


def mean_by_label(
    values: Matrix, baseline: float | FloatArray, *, row_weight: FloatArray | None, labels: Any
) -> dict[Any, RowMean]:
    """Return the weighted mean of the rows of each label, labels sorted if they can be.

    Examples
    --------
    >>> means = mean_by_label(np.array([[1.0], [4.0], [3.0]]), 5.0, row_weight=None,
    ...                       labels=["b", "a", "b"])
    >>> {label: mean.values for label, mean in means.items()}
    {'a': array([4.]), 'b': array([2.])}
    """
    n_rows = values.shape[0]
    names, code = _encode(labels, n_rows)
    weight = np.ones(n_rows) if row_weight is None else row_weight
    total = np.bincount(code, weights=weight, minlength=len(names))
    level = np.bincount(code, weights=weight * baseline, minlength=len(names))
    share = csr_array((weight, (code, np.arange(n_rows))), shape=(len(names), n_rows))
    sums = share @ values
    means = {}
    for i, name in enumerate(names):
        _check_weight(total[i], f"row weights of label {name!r} that sum to {total[i]}")
        row = dense(sums[[i]])[0] / total[i]
        mean = baseline if isinstance(baseline, float) else float(level[i] / total[i])
        means[name] = RowMean(row, mean, float(total[i]))
    return means


def _check_weight(total: float, given: str) -> None:
    if not total > 0:
        raise ValueError(
            f"a mean needs rows of positive total weight; got {given}. "
            "Select rows, or set row_weight, so that some weight remains."
        )


def _encode(labels: Any, n_rows: int) -> tuple[list[Any], IntArray]:
    """Return the distinct labels, sorted if they can be, and the position of each row's label."""
    items = [labels] if isinstance(labels, str) else _items(labels)
    if len(items) != n_rows:
        raise ValueError(
            f"labels must have one entry per row; got {len(items)} for {n_rows} rows. "
            "Pass the labels of exactly these rows."
        )
    seen: dict[Any, int] = {}
    try:
        code = np.fromiter((seen.setdefault(x, len(seen)) for x in items), np.int64, n_rows)
    except TypeError as error:
        raise TypeError(
            f"labels must be texts, numbers or other hashable values; got one of them that is not: "
            f"{error}. Convert the labels to texts."
        ) from None
    if any(_is_missing(label) for label in seen):
        raise ValueError(
            "every row must have a label; got a missing one. Fill it, or select the labelled rows."
        )
    names = list(seen)
    try:
        names.sort()
    except TypeError:
        return names, code
    rank = np.empty(len(names), dtype=np.int64)
    rank[[seen[name] for name in names]] = np.arange(len(names))
    return names, rank[code]


def _items(labels: Any) -> list[Any]:
    """Return labels of any array-like type as a list of Python values."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "mM":
        return list(labels)  # tolist() would turn nanoseconds into plain integers
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(labels, method):
            return list(getattr(labels, method)())
    return list(labels)


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:
        return True  # pandas.NA has no truth value
