"""Results as pandas, polars or pyarrow tables and as shap explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi.results.fields import dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.results.fields import Matrix
    from localmdi.typing import AnyArray, FloatArray, Names

__all__ = [
    "FrameType",
    "columns_to_frame",
    "matrix_to_arrow",
    "matrix_to_frame",
    "matrix_to_shap",
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


def matrix_to_shap(
    matrix: Matrix, names: Names, *, baseline: float | FloatArray | None, data: Any
) -> Any:
    """Return a shap explanation that starts at minus the baseline, or at 0 if there is none."""
    import shap

    values = np.array(dense(matrix))
    start = 0.0 if baseline is None else np.negative(baseline)
    return shap.Explanation(
        values=values,
        base_values=np.broadcast_to(start, len(values)).copy(),
        data=_data_array(data, len(names)),
        feature_names=list(names),
    )


def _data_array(data: Any, n_features: int) -> AnyArray | None:
    """Return the rows as an array, if they have one column per feature."""
    if data is None or data.shape[1:] != (n_features,):
        return None
    if hasattr(data, "toarray"):
        return np.asarray(data.toarray())
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    return np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else frame)
