"""The result of an interaction index: one value per row and pair of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.results.axes import row_positions
from localmdi.results.fields import as_names, as_text, as_vector
from localmdi.results.frames import FrameType, pairs_to_frame
from localmdi.results.notebook import pairs_html
from localmdi.results.repr import describe_interactions

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from localmdi.results.axes import Choice
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["InteractionImportance"]


@dataclass(frozen=True, eq=False, repr=False)
class InteractionImportance:
    """How much more (or less) two features tell together than each alone, for each row.

    Positive values are synergy, as in an exclusive or; negative ones redundancy, as between copies.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features, n_features)
        Symmetric, with NaN on the diagonal.
    feature_names : sequence of str
        One name per feature.
    unit : str
        "bits", "gini" or "variance".
    index : str
        "SII", "STII" or "FSII".
    standard_error : like values, or None
        None for exact values.
    row_weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows in `mean`; None: equal.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows.
    method : str or None
        How the values were computed.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives, that of the explained frame; None: pandas.

    Examples
    --------
    >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]]])
    >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII")
    InteractionImportance (SII): 1 row, 2 features, in bits
      largest by mean |value|:
        a and b  1
    """

    values: FloatArray
    feature_names: tuple[str, ...]
    _: KW_ONLY
    unit: str
    index: str
    standard_error: FloatArray | None = None
    row_weight: FloatArray | None = None
    row_labels: Any = None
    method: str | None = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        names = as_names(self.feature_names)
        object.__setattr__(self, "feature_names", names)
        as_text("unit", self.unit)
        as_text("index", self.index)
        for name in ("values", "standard_error"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _as_pairs(name, value, n_features=len(names)))
        if self.row_weight is not None:
            weight = as_vector("row_weight", self.row_weight, length=len(self))
            object.__setattr__(self, "row_weight", weight)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of rows, of features, and of features again.

        Examples
        --------
        >>> InteractionImportance(np.zeros((3, 2, 2)), ("a", "b"), unit="bits", index="SII").shape
        (3, 2, 2)
        """
        n_rows, n_features, _ = self.values.shape
        return n_rows, n_features, n_features

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, key: Choice) -> InteractionImportance:
        """Select rows by an int, a slice, a mask or a list of ints.

        Examples
        --------
        >>> result = InteractionImportance(np.zeros((3, 1, 1)), ("a",), unit="bits", index="SII")
        >>> result[-1].shape
        (1, 1, 1)
        """
        rows = row_positions(key, len(self))
        chosen: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("values", "standard_error", "row_weight", "row_labels")
        }
        return replace(self, **chosen)

    def __repr__(self) -> str:
        return describe_interactions(self)

    def _repr_html_(self) -> str:
        return pairs_html(self)

    def mean(self) -> FloatArray:
        """Return the global interactions, (n_features, n_features): the mean over rows.

        Of the training rows it is I(Y; Xi, Xj | S) − I(Y; Xi | S) − I(Y; Xj | S), weighed over the
        contexts S: positive for synergy, negative for redundancy.

        Examples
        --------
        >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]], [[np.nan, 0.0], [0.0, np.nan]]])
        >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII").mean()
        array([[nan, 0.5],
               [0.5, nan]])
        """
        return np.asarray(np.average(self.values, axis=0, weights=self.row_weight))

    def to_frame(self, row: int | None = None) -> Any:
        """Return a table of one row's pairs, or of their mean, the strongest first.

        Parameters
        ----------
        row : int, optional
            Position of the row; None for the mean over rows.

        Examples
        --------
        >>> values = np.array([[[np.nan, 1.0], [1.0, np.nan]]])
        >>> InteractionImportance(values, ("a", "b"), unit="bits", index="SII").to_frame(0)
          first second  value
        0     a      b    1.0
        """
        table = self.mean() if row is None else self.values[row]
        second, first = np.tril_indices(self.shape[1], -1)
        error = None if row is None or self.standard_error is None else self.standard_error[row]
        return pairs_to_frame(
            self.feature_names,
            (first, second),
            values=table[first, second],
            standard_error=None if error is None else error[first, second],
            frame_type=self.frame_type,
        )


def _as_pairs(field: str, value: Any, *, n_features: int) -> FloatArray:
    expected = (n_features, n_features)
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 3:
        given = type(value).__name__ if not isinstance(value, np.ndarray) else value.shape
    elif value.shape[1:] == expected:
        view = value.view()
        view.flags.writeable = False
        return view
    else:
        given = value.shape
    raise ValueError(
        f"{field} must be a float64 array of shape (n_rows, {n_features}, {n_features}); got "
        f"{given}. Convert it with np.asarray, or correct its shape."
    )
