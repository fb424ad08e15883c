"""The result of a global measure: one value per feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.results.checks import (
    as_count,
    as_names,
    as_number,
    as_text,
    as_vector,
)
from localmdi.results.combine import check_same
from localmdi.results.frames import columns_to_frame
from localmdi.results.groups import group_columns, sum_groups
from localmdi.results.storage import write_fields
from localmdi.results.top import top_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.typing import FloatArray

__all__ = ["GlobalImportance"]


@dataclass(frozen=True, eq=False, repr=False)
class GlobalImportance:
    """Global importance of every feature: the mean over trees, or over rows, not normalised.

    Parameters
    ----------
    values : ndarray of float64, shape (n_features,)
        Mean decrease of impurity by feature. Kept as a read-only view, as all arrays here.
    unit : str
        Unit of the values: "bits", "gini", "variance", "mae", "poisson".
    feature_names : sequence of str
        One name per value.
    n_trees : int
        Number of trees behind the values; 0 if they do not come from finitely many trees.
    standard_error : ndarray of float64, shape (n_features,), or None
        Standard error of the values over the trees.
    weight : float
        Number, or total weight, of the rows behind the values; `merge` weighs by it.
    baseline : float or None
        Mean impurity at the root, of which the values are parts.

    Examples
    --------
    >>> import numpy as np
    >>> GlobalImportance(np.array([0.25, 0.75]), unit="bits", feature_names=("a", "b"), n_trees=10)
    GlobalImportance: 2 features, 10 trees, in bits
      b  0.75
      a  0.25
    """

    values: FloatArray
    _: KW_ONLY
    unit: str
    feature_names: tuple[str, ...]
    n_trees: int
    standard_error: FloatArray | None = None
    weight: float = 1.0
    baseline: float | None = None

    def __post_init__(self) -> None:
        names = as_names(self.feature_names)
        checked: dict[str, Any] = {
            "feature_names": names,
            "values": as_vector("values", self.values, length=len(names)),
            "unit": as_text("unit", self.unit),
            "n_trees": as_count("n_trees", self.n_trees),
            "weight": as_number("weight", self.weight),
        }
        if not 0 <= checked["weight"] < np.inf:
            raise ValueError(
                f"weight must be finite and not negative; got {self.weight}. "
                "Pass the number or total weight of the rows."
            )
        if self.standard_error is not None:
            error = as_vector("standard_error", self.standard_error, length=len(names))
            checked["standard_error"] = error
        if self.baseline is not None:
            checked["baseline"] = as_number("baseline", self.baseline)
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        head = f"GlobalImportance: {len(self)} features, {self.n_trees} trees, in {self.unit}"
        if not len(self):
            return head
        top = self.top(5)
        width = max(len(name) for name, _ in top)
        lines = [f"  {name:<{width}}  {value:.4g}" for name, value in top]
        return "\n".join([head, *lines, *["  ..."] * (len(self) > 5)])

    def normalized(self) -> GlobalImportance:
        """Return the values divided by their sum, in the unit "share"; all 0 stays all 0.

        This is the share of the mean over trees. scikit-learn's ``feature_importances_`` divides
        every tree's values by their own sum first and then takes the mean over trees, so that a
        tree that removes little impurity counts as much as one that removes much: the two agree
        for one tree, and are close for a forest.

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 1.5]), unit="bits", feature_names=("a", "b"),
        ...                           n_trees=10)
        >>> result.normalized().values
        array([0.25, 0.75])
        """
        total = float(self.values.sum())
        if not total > 0 and self.values.any():
            raise ValueError(
                f"shares need values with a positive sum; got {total}. "
                "Use the values themselves, which are in the unit of the impurity."
            )
        shares = self.values / total if total > 0 else self.values
        return replace(self, values=shares, unit="share", standard_error=None, baseline=None)

    def top(self, k: int = 10) -> list[tuple[str, float]]:
        """Return the k features with the largest absolute values, largest first.

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 1.5]), unit="bits", feature_names=("a", "b"),
        ...                           n_trees=10)
        >>> result.top(1)
        [('b', 1.5)]
        """
        indices, values = top_of_rows(self.values[None, :], k)
        return [
            (self.feature_names[i], float(value))
            for i, value in zip(indices[0], values[0], strict=True)
        ]

    def group(self, mapping: Mapping[str, Sequence[str]]) -> GlobalImportance:
        """Add up the values of features that belong together.

        Parameters
        ----------
        mapping : dict of str to sequence of str
            Group name → names of its features. A group stands where its first feature stood;
            features in no group stay as they are. There is no standard error of a sum.

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 1.5]), unit="bits", n_trees=10,
        ...                           feature_names=("sex_f", "sex_m"))
        >>> result.group({"sex": ["sex_f", "sex_m"]}).top()
        [('sex', 2.0)]
        """
        names, column = group_columns(self.feature_names, mapping)
        values = sum_groups(self.values[None, :], column, n_groups=len(names))[0]
        return replace(self, values=values, feature_names=names, standard_error=None)

    def to_frame(self) -> Any:
        """Return a pandas frame: feature, importance, and standard_error if there is one.

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 1.5]), unit="bits", feature_names=("a", "b"),
        ...                           n_trees=10)
        >>> result.to_frame()
          feature  importance
        0       a         0.5
        1       b         1.5
        """
        return columns_to_frame(self._columns(), "pandas")

    def to_arrow(self) -> Any:
        """Return the table of `to_frame` as a pyarrow table.

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5]), unit="bits", feature_names=("a",), n_trees=1)
        >>> result.to_arrow().column_names
        ['feature', 'importance']
        """
        return columns_to_frame(self._columns(), "pyarrow")

    def _columns(self) -> dict[str, Any]:
        columns = {
            "feature": np.array(self.feature_names, dtype=object),
            "importance": self.values,
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        return columns

    @classmethod
    def merge(cls, parts: Iterable[GlobalImportance]) -> GlobalImportance:
        """Merge results of different rows: the mean of their values, weighed by ``weight``.

        Parameters
        ----------
        parts : iterable of GlobalImportance
            Results with the same feature names, unit and number of trees. Parts share trees, so
            their standard errors do not combine: the merged result has none. The baseline is the
            weighted mean, if all parts have one.

        Examples
        --------
        >>> import numpy as np
        >>> one = GlobalImportance(np.array([1.0]), unit="bits", feature_names=("a",), n_trees=5)
        >>> two = GlobalImportance(np.array([4.0]), unit="bits", feature_names=("a",), n_trees=5,
        ...                        weight=2.0)
        >>> GlobalImportance.merge([one, two]).values
        array([3.])
        """
        parts = check_same(parts, cls, attributes=("feature_names", "unit", "n_trees"))
        weight = np.array([part.weight for part in parts])
        total = float(weight.sum())
        if not total > 0:
            raise ValueError(
                "parts must have a positive total weight; got 0. "
                "Set weight to the number of rows behind each part."
            )
        baselines = [part.baseline for part in parts if part.baseline is not None]
        complete = len(baselines) == len(parts)
        return replace(
            parts[0],
            values=weight @ np.stack([part.values for part in parts]) / total,
            standard_error=None,
            weight=total,
            baseline=float(weight @ np.array(baselines)) / total if complete else None,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file that `load_importance` reads, without pickle.

        Examples
        --------
        >>> import numpy as np, pathlib, tempfile
        >>> from localmdi.results import load_importance
        >>> result = GlobalImportance(np.array([0.5]), unit="bits", feature_names=("a",), n_trees=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "global.lmdi"
        ...     result.save(path)
        ...     load_importance(path)
        GlobalImportance: 1 features, 1 trees, in bits
          a  0.5
        """
        write_fields(path, "global", fields={f.name: getattr(self, f.name) for f in fields(self)})
