"""The result of a global measure, one value per feature, and the means over rows that give one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from localmdi._text import count
from localmdi._validation import is_missing
from localmdi.results.axes import check_same, group_columns, sum_errors, sum_groups
from localmdi.results.fields import as_choice, as_number, as_vector, check_measure, dense
from localmdi.results.frames import FrameType, columns_to_frame
from localmdi.results.notebook import Shown
from localmdi.results.p_values import one_sided_p, rejections
from localmdi.results.repr import describe_global
from localmdi.results.storage import STORED, save_result
from localmdi.results.top import top_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from localmdi.results.local import LocalImportance
    from localmdi.typing import (
        AnyArray,
        ArrayLike,
        BoolArray,
        ErrorOf,
        FloatArray,
        IntArray,
        ResultMeasure,
    )

__all__ = ["GlobalImportance", "mean_by_label", "mean_of_rows"]


@dataclass(frozen=True, eq=False, repr=False)
class GlobalImportance(Shown):
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
        Standard error of the values.
    weight : float
        Number, or total weight, of the rows behind the values; `merge` weighs by it.
    baseline : float or None
        Mean impurity at the root, of which the values are parts; None if they are not.
    measure : {"drop", "gain", "loss", "saabas"}
        As for `LocalImportance`.
    honest : bool
        As for `LocalImportance`.
    error : {"trees", "labels", "both", "sample", "refits"}
        As for `LocalImportance`.
    note : str or None
        As for `LocalImportance`.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives, that of the explained frame; None: pandas.

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
    measure: ResultMeasure = "drop"
    honest: bool = False
    error: ErrorOf = "trees"
    note: str | None = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        checked = check_measure(vars(self))
        n_features = len(checked["feature_names"])
        checked["values"] = as_vector("values", self.values, length=n_features)
        checked["weight"] = as_number("weight", self.weight)
        if not 0 <= checked["weight"] < np.inf:
            raise ValueError(
                f"weight must be finite and not negative; got {self.weight}. "
                "Pass the number or total weight of the rows."
            )
        if self.standard_error is not None:
            error = as_vector("standard_error", self.standard_error, length=n_features)
            checked["standard_error"] = error
        if self.baseline is not None:
            checked["baseline"] = as_number("baseline", self.baseline)
        as_choice("frame_type", self.frame_type, choices=(None, "pandas", "polars", "pyarrow"))
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return describe_global(self)

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

    def p_values(self) -> FloatArray:
        """Test for every feature whether the feature tells nothing at all.

        One-sided, from the honest values and their errors; given the trees.

        Returns
        -------
        ndarray of shape (n_features,)

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 0.1]), unit="bits", n_trees=10, honest=True,
        ...                           standard_error=np.array([0.1, 0.1]), error="sample",
        ...                           feature_names=("age", "noise"))
        >>> result.p_values().round(3)
        array([0.   , 0.159])
        """
        return one_sided_p(self.values, self.standard_error, error=self.error, honest=self.honest)

    def significant(self, alpha: float = 0.05) -> BoolArray:
        """Return which features tell something.

        The chance that any feature is named that tells nothing is at most `alpha` (Holm's
        procedure over the features).

        Parameters
        ----------
        alpha : float
            That chance.

        Returns
        -------
        ndarray of bool, shape (n_features,)

        Examples
        --------
        >>> import numpy as np
        >>> result = GlobalImportance(np.array([0.5, 0.1]), unit="bits", n_trees=10, honest=True,
        ...                           standard_error=np.array([0.1, 0.1]), error="sample",
        ...                           feature_names=("age", "noise"))
        >>> result.significant()
        array([ True, False])
        """
        return rejections(self.p_values(), alpha)

    def group(self, mapping: Mapping[str, Sequence[str]]) -> GlobalImportance:
        """Add up the values of features that belong together.

        Parameters
        ----------
        mapping : dict of str to sequence of str
            Group name → names of its features. A group takes the place of its first
            feature; features in no group stay as they are. The standard error of a group is the
            sum of its members' errors, which is the most that it can be.

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
        errors = sum_errors(self.standard_error, column, n_groups=len(names))
        return replace(self, values=values, feature_names=names, standard_error=errors)

    def to_frame(self) -> Any:
        """Return a table of feature, importance, and standard_error if there is one.

        In the type of the frame whose rows were explained; pandas where there was none.

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
        return columns_to_frame(self._columns(), self.frame_type)

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
            Results with the same feature names, unit, number of trees, measure and `honest`.
            Parts share trees, so their standard errors do not combine: the merged result has
            none. The baseline is the weighted mean, if all parts have one.

        Examples
        --------
        >>> import numpy as np
        >>> one = GlobalImportance(np.array([1.0]), unit="bits", feature_names=("a",), n_trees=5)
        >>> two = GlobalImportance(np.array([4.0]), unit="bits", feature_names=("a",), n_trees=5,
        ...                        weight=2.0)
        >>> GlobalImportance.merge([one, two]).values
        array([3.])
        """
        same = ("feature_names", "unit", "n_trees", "measure", "honest")
        parts = check_same(parts, cls, attributes=same)
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
        GlobalImportance: 1 feature, 1 tree, in bits
          a  0.5
        """
        save_result(path, self)


STORED["global"] = GlobalImportance


def mean_of_rows(result: LocalImportance) -> GlobalImportance:
    """Return the weighted mean of all rows."""
    baseline, weight = result.baseline, result.row_weight
    if weight is None:
        total = float(len(result))
        _check_weight(total, "a result of no rows")
        values = result.values.mean(axis=0)
        if isinstance(baseline, np.ndarray):
            baseline = float(np.mean(baseline))
    else:
        total = float(weight.sum())
        _check_weight(total, f"row weights that sum to {total}")
        values = (weight @ _counted(result.values, weight)) / total
        if isinstance(baseline, np.ndarray):
            baseline = float(weight @ _counted(baseline, weight)) / total
    mean = _mean(result, values, weight=total, baseline=baseline)
    return replace(mean, standard_error=result.mean_standard_error)


def mean_by_label(result: LocalImportance, labels: ArrayLike) -> dict[Hashable, GlobalImportance]:
    """Return the weighted mean of the rows of each label, labels sorted if they can be."""
    n_rows, baseline = len(result), result.baseline
    names, code = _encode(labels, n_rows)
    weight = np.ones(n_rows) if result.row_weight is None else result.row_weight
    total = np.bincount(code, weights=weight, minlength=len(names))
    share = csr_array((weight, (code, np.arange(n_rows))), shape=(len(names), n_rows))
    sums = share @ _counted(result.values, weight)
    start = _counted(np.broadcast_to(0.0 if baseline is None else baseline, n_rows), weight)
    levels = np.bincount(code, weights=weight * start, minlength=len(names))
    means = {}
    for i, name in enumerate(names):
        _check_weight(total[i], f"row weights of label {name!r} that sum to {total[i]}")
        row = dense(sums[[i]])[0] / total[i]
        level = float(levels[i] / total[i]) if isinstance(baseline, np.ndarray) else baseline
        means[name] = _mean(result, row, weight=float(total[i]), baseline=level)
    return means


def _counted(values: Any, weight: FloatArray) -> Any:
    """Return values without those of rows that weigh nothing: they may be unknown (NaN)."""
    if weight.all() or not isinstance(values, np.ndarray):
        return values
    return np.where((weight > 0).reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)


def _mean(
    result: LocalImportance, values: FloatArray, *, weight: float, baseline: float | None
) -> GlobalImportance:
    return GlobalImportance(
        values,
        unit=result.unit,
        feature_names=result.feature_names,
        n_trees=result.n_trees,
        weight=weight,
        baseline=baseline,
        measure=result.measure,
        honest=result.honest,
        note=result.note,
        frame_type=result.frame_type,
    )


def _check_weight(total: float, given: str) -> None:
    if not total > 0:
        raise ValueError(
            f"a mean needs rows of positive total weight; got {given}. "
            "Select rows, or set row_weight, so that some weight remains."
        )


def _encode(labels: ArrayLike, n_rows: int) -> tuple[list[Hashable], IntArray]:
    """Return the distinct labels, sorted if they can be, and the position of each row's label."""
    items = [labels] if isinstance(labels, str) else _items(labels)
    if len(items) != n_rows:
        raise ValueError(
            f"labels must have one entry per row; got {len(items)} for {count(n_rows, 'row')}. "
            "Pass the labels of exactly these rows."
        )
    seen: dict[Any, int] = {}
    try:
        code = np.fromiter((seen.setdefault(x, len(seen)) for x in items), np.int64, n_rows)
    except TypeError as error:
        raise TypeError(
            f"labels must be strings, numbers or other hashable values; got one that is not: "
            f"{error}. Convert the labels to strings."
        ) from None
    if any(is_missing(label) for label in seen):
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
