"""Results as pandas, polars or pyarrow tables, as shap explanations, and the top of each row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._text import count
from localmdi._validation import find_missing
from localmdi.results.fields import as_count, dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.results.fields import Matrix
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray, Names

FrameType: TypeAlias = Literal["pandas", "polars", "pyarrow"] | None

# Dense rows are sorted in blocks of about this many values, to keep the working memory small.
_BLOCK = 1 << 20


def matrix_to_frame(matrix: Matrix, names: Names, *, row_labels: Any, frame_type: FrameType) -> Any:
    """Return one column per feature, in the type of the frame that was explained."""
    if frame_type == "polars":
        import polars

        return polars.DataFrame(dense(matrix), schema=list(names), orient="row")
    if frame_type == "pyarrow":
        return matrix_to_arrow(matrix, names)
    import pandas

    if isinstance(matrix, np.ndarray):
        return pandas.DataFrame(matrix, index=row_labels, columns=list(names), copy=True)
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix, index=row_labels)
    frame.columns = pandas.Index(names)
    return frame


def beside_values(result: LocalImportance, *, extra: bool, direction: bool) -> dict[str, AnyArray]:
    """Return the columns that a frame has beside the values, by name."""
    columns: dict[str, AnyArray] = {}
    if direction:
        if result.direction is None:
            raise ValueError(
                "the result must know which way the features pushed; it does not. Make it with "
                "local_mdi(model, X, direction=True)."
            )
        for name, moves in zip(result.feature_names, result.direction.T, strict=True):
            columns[f"{name}_direction"] = np.array(moves)
    if extra and result.baseline is not None and result.residual is not None:
        columns["_baseline"] = np.broadcast_to(result.baseline, len(result)).astype(np.float64)
        columns["_residual"] = np.array(result.residual)
    if extra and result.prediction is not None:
        columns["_prediction"] = np.array(result.prediction)
    taken = [name for name in columns if name in result.feature_names]
    if taken:
        raise ValueError(
            f"a feature is called {taken[0]!r}, which is the name of an added column. "
            "Rename the feature."
        )
    return columns


def add_columns(frame: Any, columns: Mapping[str, AnyArray]) -> Any:
    """Return a pandas, polars or pyarrow table with further columns at the end."""
    import narwhals.stable.v2 as nw

    table = nw.from_native(frame, eager_only=True)
    new = [
        nw.new_series(name, column.tolist(), backend=table.implementation)
        for name, column in columns.items()
    ]
    if hasattr(frame, "index"):
        return frame.assign(**{series.name: series.to_numpy() for series in new})
    return table.with_columns(*new).to_native()


def matrix_to_arrow(matrix: Matrix, names: Names) -> Any:
    """Return a pyarrow table with one column per feature."""
    import pyarrow

    columns = [pyarrow.array(column) for column in np.ascontiguousarray(dense(matrix).T)]
    return pyarrow.Table.from_arrays(columns, names=list(names))


def columns_to_frame(columns: Mapping[str, AnyArray], frame_type: FrameType) -> Any:
    """Return a table of named columns."""
    if frame_type == "polars":
        import polars

        # polars would keep an object array as opaque objects, and gives an empty list no type.
        return polars.DataFrame(
            {name: c.tolist() if c.dtype == object else c for name, c in columns.items()}
        )
    if frame_type == "pyarrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
    import pandas

    return pandas.DataFrame(dict(columns))


def pairs_to_frame(
    names: Names,
    pairs: tuple[IntArray, IntArray],
    *,
    values: FloatArray,
    standard_error: FloatArray | None,
    frame_type: FrameType,
) -> Any:
    """Return a table of pairs of features and their values, the strongest first."""
    order = np.argsort(-np.abs(values), kind="stable")
    labels = np.array(names, dtype=object)
    columns = {"first": labels[pairs[0][order]], "second": labels[pairs[1][order]]}
    columns["value"] = values[order]
    if standard_error is not None:
        columns["standard_error"] = standard_error[order]
    return columns_to_frame(columns, frame_type)


def matrix_to_shap(
    matrix: Matrix, names: Names, *, baseline: float | FloatArray | None, data: Any, label: str
) -> Any:
    """Return a shap explanation that starts at minus the baseline, or at 0 if there is none.

    shap colours by numbers: text gets the number of its category, and stands in `display_data`.
    """
    import shap

    values = np.array(dense(matrix))
    start = 0.0 if baseline is None else np.negative(baseline)
    numbers, shown = _data_arrays(data)
    return shap.Explanation(
        values=values,
        base_values=np.broadcast_to(start, len(values)).copy(),
        data=numbers,
        display_data=shown,
        feature_names=list(names),
        output_names=label,
    )


def _data_arrays(data: Any) -> tuple[AnyArray | None, AnyArray | None]:
    """Return the rows' own values as numbers and, if some are text, as they are."""
    if data is None:
        return None, None
    if hasattr(data, "toarray"):
        return np.asarray(data.toarray()), None
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    shown = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else frame)
    if shown.dtype.kind in "biuf":
        return shown, None
    shown = shown.astype(object)
    return np.column_stack([_numbers(column) for column in shown.T]), shown


def _numbers(column: AnyArray) -> FloatArray:
    missing = find_missing(column)
    known = column[~missing]
    numbers = np.full(len(column), np.nan)
    if all(isinstance(value, int | float | np.number) for value in known):
        numbers[~missing] = known.astype(np.float64)
    else:
        numbers[~missing] = np.unique(known.astype(str), return_inverse=True)[1]
    return numbers


@dataclass(frozen=True, eq=False, repr=False)
class TopFeatures:
    """The k features with the largest values of each row, largest first.

    Parameters
    ----------
    indices : ndarray of int64, shape (n_rows, k)
        Columns of the features, by decreasing absolute value; of two equal ones the first column.
    values : ndarray of float64, shape (n_rows, k)
        Their signed values.
    feature_names : tuple of str
        The names of all features, so that ``feature_names[indices[i, j]]`` is a name.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows; None: their positions.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives; None: pandas.

    Examples
    --------
    >>> import numpy as np
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(
    ...     np.array([[0.5, -0.75, 0.0]]), 1.0, residual=np.array([1.25]),
    ...     unit="bits", feature_names=("age", "dose", "sex"), n_trees=10)
    >>> result.top(2)
    TopFeatures: 1 row, 2 of 3 features
      dose -0.75, age 0.5
    """

    indices: IntArray
    values: FloatArray
    _: KW_ONLY
    feature_names: tuple[str, ...]
    row_labels: Any = None
    frame_type: FrameType = None

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        n, k = self.indices.shape
        features = count(len(self.feature_names), "feature")
        lines = [f"TopFeatures: {count(n, 'row')}, {k} of {features}"]
        for indices, values in zip(self.indices[:5], self.values[:5], strict=True):
            pairs = zip(indices, values, strict=True)
            lines.append("  " + ", ".join(f"{self.feature_names[j]} {v:.4g}" for j, v in pairs))
        return "\n".join(lines + ["  ..."] * (n > 5))

    @property
    def names(self) -> AnyArray:
        """Names of the features, an object array of shape (n_rows, k).

        Examples
        --------
        >>> import numpy as np
        >>> TopFeatures(np.array([[1]]), np.array([[0.5]]), feature_names=("a", "b")).names
        array([['b']], dtype=object)
        """
        return np.asarray(np.array(self.feature_names, dtype=object)[self.indices])

    def to_frame(self) -> Any:
        """Return one line per row and rank: columns row, rank (from 1), feature, value.

        Examples
        --------
        >>> import numpy as np
        >>> TopFeatures(np.array([[1]]), np.array([[0.5]]), feature_names=("a", "b")).to_frame()
           row  rank feature  value
        0    0     1       b    0.5
        """
        n, k = self.indices.shape
        rows = np.repeat(np.arange(n), k)
        columns = {
            "row": rows if self.row_labels is None else self.row_labels[rows],
            "rank": np.tile(np.arange(1, k + 1), n),
            "feature": self.names.reshape(-1),
            "value": self.values.reshape(-1),
        }
        return columns_to_frame(columns, self.frame_type)


def top_of_rows(values: Matrix, k: int) -> tuple[IntArray, FloatArray]:
    """Return columns and signed values of the k largest absolute values of each row.

    Examples
    --------
    >>> top_of_rows(np.array([[0.5, -2.0, 0.5]]), 2)
    (array([[1, 0]]), array([[-2. ,  0.5]]))
    """
    if as_count("k", k) == 0:
        raise ValueError("k must be at least 1; got 0. Pass the number of features to keep.")
    k = min(int(k), values.shape[1])
    return _top_of_dense(values, k) if isinstance(values, np.ndarray) else _top_of_csr(values, k)


def _top_of_dense(values: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    n, p = values.shape
    indices = np.empty((n, k), dtype=np.int64)
    step = max(1, _BLOCK // max(1, p))
    for start in range(0, n, step):
        block = slice(start, start + step)
        indices[block] = np.argsort(-np.abs(values[block]), axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(values, indices, axis=1)


def _top_of_csr(values: Any, k: int) -> tuple[IntArray, FloatArray]:
    indices = np.empty((values.shape[0], k), dtype=np.int64)
    top = np.zeros((values.shape[0], k))
    first = np.arange(k)
    for row, (start, end) in enumerate(zip(values.indptr[:-1], values.indptr[1:], strict=True)):
        stored = values.data[start:end]
        order = np.argsort(-np.abs(stored), kind="stable")[:k]
        order = order[stored[order] != 0]
        columns = values.indices[start:end][order]
        found = len(columns)
        indices[row, :found] = columns
        top[row, :found] = stored[order]
        if found < k:
            # All further values are 0, and equal values go by column: the first columns not named.
            indices[row, found:] = np.setdiff1d(first, columns, assume_unique=True)[: k - found]
    return indices, top
