"""Results as pandas, polars or pyarrow tables and as shap explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._validation import find_missing
from localmdi.results.fields import dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.results.fields import Matrix
    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray, IntArray, Names

__all__ = [
    "FrameType",
    "add_columns",
    "beside_values",
    "columns_to_frame",
    "matrix_to_arrow",
    "matrix_to_frame",
    "matrix_to_shap",
    "pairs_to_frame",
]

FrameType: TypeAlias = Literal["pandas", "polars", "pyarrow"] | None


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
