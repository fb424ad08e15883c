"""The result of a global measure, one value per feature, and the means over rows that give one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from localmdi._text import count
from localmdi._validation import learn_categories
from localmdi.results.axes import group_columns, list_parts, sum_fields
from localmdi.results.fields import FIELDS, check_fields, dense, same
from localmdi.results.frames import FrameType, columns_to_frame, top_of_rows
from localmdi.results.p_values import one_sided_p, rejections
from localmdi.results.shown import Plotted, bars_html, describe_global
from localmdi.results.storage import STORED, save_result

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


@dataclass(frozen=True, eq=False, repr=False)
class GlobalImportance(Plotted):
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
    error_kind : {"trees", "labels", "both", "sample", "refits"}
        As for `LocalImportance`.
    caveat : str or None
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
    error_kind: ErrorOf = "trees"
    caveat: str | None = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        check_fields(self, values="f", standard_error="f", baseline="")

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return describe_global(self)

    def _repr_html_(self) -> str:
        return bars_html(self, self, head="importance")

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
        ...                           standard_error=np.array([0.1, 0.1]), error_kind="sample",
        ...                           feature_names=("age", "noise"))
        >>> result.p_values().round(3)
        array([0.   , 0.159])
        """
        return one_sided_p(
            self.values, self.standard_error, error_kind=self.error_kind, honest=self.honest
        )

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
        ...                           standard_error=np.array([0.1, 0.1]), error_kind="sample",
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
        sums = sum_fields(self, column, n_groups=len(names))
        return replace(self, feature_names=names, **sums)

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
        parts = list_parts(parts, cls)
        for name in ("feature_names", "unit", "n_trees", "measure", "honest"):
            same(name, [getattr(part, name) for part in parts])
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
    error = result.mean_standard_error
    return _mean(result, values, weight=total, baseline=baseline, standard_error=error)


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


def _mean(result: LocalImportance, values: FloatArray, **others: Any) -> GlobalImportance:
    kept = {name: getattr(result, name) for name, field in FIELDS.items() if field.in_mean}
    return GlobalImportance(values, **kept, **others)


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
    column = np.fromiter(items, dtype=object, count=n_rows)
    try:
        known = learn_categories(column)
    except ValueError as error:
        raise TypeError(
            "labels must be strings, numbers or other hashable values; got one that is not. "
            "Convert the labels to strings."
        ) from error
    if known.has_missing:
        raise ValueError(
            "every row must have a label; got a missing one. Fill it, or select the labelled rows."
        )
    return known.values.tolist(), known.encode(column)


def _items(labels: Any) -> list[Any]:
    """Return labels of any array-like type as a list of Python values."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "mM":
        return list(labels)  # tolist() would turn nanoseconds into plain integers
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(labels, method):
            return list(getattr(labels, method)())
    return list(labels)
