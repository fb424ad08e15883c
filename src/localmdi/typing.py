"""Type names shared by all rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AnyArray",
    "ArrayLike",
    "BoolArray",
    "ErrorOf",
    "FittedModel",
    "FloatArray",
    "IntArray",
    "MaxFeatures",
    "Measure",
    "Names",
    "ResultMeasure",
    "RowsLike",
]

AnyArray: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = Sequence[str]
Measure: TypeAlias = Literal["drop", "gain"]
ResultMeasure: TypeAlias = Literal["drop", "gain", "loss", "saabas"]
ErrorOf: TypeAlias = Literal["trees", "labels", "both", "sample", "refits"]
MaxFeatures: TypeAlias = int | float | Literal["sqrt", "log2"] | None


class _SparseMatrix(Protocol):
    """A SciPy sparse matrix or array."""

    def tocsr(self, copy: bool = ...) -> Any: ...


class _Frame(Protocol):
    """A pandas, polars or pyarrow table."""

    @property
    def shape(self) -> tuple[int, int]: ...


RowsLike: TypeAlias = ArrayLike | _SparseMatrix | _Frame
"""Rows by features: an array, a SciPy sparse matrix, or a pandas, polars or pyarrow table."""

FittedModel: TypeAlias = Any
"""A fitted estimator, a `Forest`, or an object with ``__to_forest__()``: known by what it shows."""
