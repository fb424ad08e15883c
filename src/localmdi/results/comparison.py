"""Two explanations of the same rows side by side: how far they tell the same story."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, number_text, quote_names, with_unit
from localmdi.results.fields import as_count, dense
from localmdi.results.frames import columns_to_frame
from localmdi.results.local import LocalImportance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, FloatArray, IntArray


_N_FEATURES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How far two explanations of the same rows agree; made by `compare`.

    Differences are second minus first. Where the two have different units there are none, and
    only the orders of features and rows are compared.

    Parameters
    ----------
    first, second : LocalImportance
        The two results, with the features that both have, in the order of the first.
    names : tuple of two str
        What the two are called.
    only_first, only_second : tuple of str
        The features that the other one does not have; they are not compared.

    Examples
    --------
    >>> import localmdi as lm
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> small, large = (
    ...     lm.local_mdi(ExtraTreesClassifier(n, criterion="entropy", random_state=0).fit(X, y), X)
    ...     for n in (10, 100))
    >>> lm.compare(small, large, names=("10 trees", "100 trees"))
    Comparison: 150 rows, 4 shared features, in bits
      mean rank correlation of the rows' values 0.89
      the same largest feature in 66 % of the rows
      largest by mean value, 10 trees → 100 trees:
        petal width (cm)   0.7365 → 0.6894
        petal length (cm)  0.5623 → 0.6663
        sepal length (cm)  0.1732 → 0.1286
        sepal width (cm)   0.113 → 0.1007
      row 131 changed most, by 0.7663 bits in all
    """

    first: LocalImportance
    second: LocalImportance
    _: KW_ONLY
    names: tuple[str, str] = ("first", "second")
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        first, second = self.first, self.second
        n_rows, n_features = first.shape
        units = f"in {first.unit}"
        if self.unit is None:
            units = f"in {first.unit} and {second.unit}, so that only orders are compared"
        shared = count(n_features, "shared feature")
        lines = [f"Comparison: {count(n_rows, 'row')}, {shared}, {units}"]
        correlation = self.mean_row_correlation
        if np.isfinite(correlation):
            lines.append(f"  mean rank correlation of the rows' values {correlation:.2f}")
        if n_rows and n_features > 1:
            share = f"{100 * self.same_top_fraction:.0f} %"
            lines.append(f"  the same largest feature in {share} of the rows")
        if n_rows:
            lines += _describe_means(self)
        if n_rows and self.unit is not None:
            worst = int(self.order[0])
            label = worst if first.row_labels is None else first.row_labels[worst]
            change = number_text(float(self.row_change[worst]))
            amount = with_unit(change, unit_of(first.unit).symbol)
            lines.append(f"  row {clean(label)} changed most, by {amount} in all")
        for name, names in zip(self.names, (self.only_first, self.only_second), strict=True):
            if names:
                lines.append(f"  only in {clean(name)}: {quote_names(names)}")
        return "\n".join(lines)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that are compared.

        Examples
        --------
        >>> result = LocalImportance(np.eye(2), unit="bits", feature_names=("age", "dose"),
        ...                          n_trees=1)
        >>> compare(result, result).feature_names
        ('age', 'dose')
        """
        return self.first.feature_names

    @property
    def unit(self) -> str | None:
        """The unit of both; None if they have different ones.

        Examples
        --------
        >>> result = LocalImportance(np.eye(2), unit="bits", feature_names=("age", "dose"),
        ...                          n_trees=1)
        >>> compare(result, result).unit
        'bits'
        """
        return self.first.unit if self.first.unit == self.second.unit else None

    @cached_property
    def difference(self) -> FloatArray:
        """Second minus first, for every row and feature; NaN if the units differ."""
        if self.unit is None:
            return np.full(self.first.shape, np.nan)
        return np.asarray(dense(self.second.values) - dense(self.first.values))

    @cached_property
    def row_correlation(self) -> FloatArray:
        """Rank correlation over the features, for every row; NaN where one side is constant."""
        first, second = dense(self.first.values), dense(self.second.values)
        return row_correlation(first, second, method="spearman")

    @property
    def mean_row_correlation(self) -> float:
        """The mean of `row_correlation` over the rows that have one; NaN if none has."""
        known = self.row_correlation[np.isfinite(self.row_correlation)]
        return float(known.mean()) if len(known) else float("nan")

    @cached_property
    def feature_correlation(self) -> FloatArray:
        """Rank correlation over the rows, for every feature; NaN where one side is constant."""
        first, second = dense(self.first.values), dense(self.second.values)
        return row_correlation(first.T, second.T, method="spearman")

    @cached_property
    def row_change(self) -> FloatArray:
        """The sum of the absolute differences of every row; NaN if the units differ."""
        return np.asarray(np.abs(self.difference).sum(axis=1))

    @cached_property
    def order(self) -> IntArray:
        """Positions of the rows, those that changed most first.

        By `row_change`; by increasing `row_correlation` if the units differ.
        """
        key = self.row_correlation if self.unit is None else -self.row_change
        return np.argsort(key, kind="stable").astype(np.int64)

    @cached_property
    def feature_order(self) -> IntArray:
        """Positions of the features, those with the largest mean in either result first."""
        first, second = self.first.mean().values, self.second.mean().values
        largest = np.maximum(np.abs(first), np.abs(second))
        return np.argsort(-largest, kind="stable").astype(np.int64)

    @cached_property
    def same_top_fraction(self) -> float:
        """Share of the rows whose largest feature is the same in both; NaN without rows."""
        if not len(self):
            return float("nan")
        first, second = self.first.top(1).indices, self.second.top(1).indices
        return float((first == second).mean())

    def to_frame(self) -> Any:
        """Return one line per feature, the most important first.

        Columns: feature; its mean over rows in the first and in the second result; the difference
        of the means, unless the units differ; the rank correlation over the rows.

        Examples
        --------
        >>> first = LocalImportance(np.array([[0.5, 0.25], [1.0, 0.0], [0.75, 0.5]]), unit="bits",
        ...                         feature_names=("age", "dose"), n_trees=10)
        >>> second = LocalImportance(np.array([[0.5, 0.5], [1.0, 0.25], [0.75, 0.0]]), n_trees=10,
        ...                          unit="bits", feature_names=("age", "dose"))
        >>> compare(first, second, names=("old", "new")).to_frame()
          feature  mean_old  mean_new  difference  rank_correlation
        0     age      0.75      0.75         0.0               1.0
        1    dose      0.25      0.25         0.0              -0.5
        """
        first, second = self.first.mean().values, self.second.mean().values
        order = self.feature_order
        columns: dict[str, AnyArray] = {
            "feature": np.array(self.feature_names, dtype=object)[order],
            f"mean_{self.names[0]}": first[order],
            f"mean_{self.names[1]}": second[order],
        }
        if self.unit is not None:
            columns["difference"] = (second - first)[order]
        columns["rank_correlation"] = self.feature_correlation[order]
        return columns_to_frame(columns, self.first.frame_type)

    def rows(self, k: int = 10) -> Any:
        """Return the k rows that changed most.

        Columns: row (its label, or else its position); change, the sum of the absolute
        differences, unless the units differ; the rank correlation over the features; the feature
        that changed most, and its two values.

        Parameters
        ----------
        k : int
            How many rows; cut to their number.

        Examples
        --------
        >>> first = LocalImportance(np.array([[0.5, 0.25], [1.0, 0.0]]), unit="bits",
        ...                         feature_names=("age", "dose"), n_trees=10)
        >>> second = LocalImportance(np.array([[0.5, 0.5], [0.0, 0.5]]), n_trees=10,
        ...                          unit="bits", feature_names=("age", "dose"))
        >>> compare(first, second).rows(1)
           row  change  rank_correlation feature  first  second
        0    1     1.5              -1.0     age    1.0     0.0
        """
        if as_count("k", k) == 0:
            raise ValueError("k must be at least 1; got 0. Pass the number of rows to show.")
        rows = self.order[:k]
        labels = self.first.row_labels
        columns: dict[str, AnyArray] = {"row": rows if labels is None else labels[rows]}
        if self.unit is not None:
            columns["change"] = self.row_change[rows]
        columns["rank_correlation"] = self.row_correlation[rows]
        if self.unit is not None:
            top = np.abs(self.difference[rows]).argmax(axis=1)
            columns["feature"] = np.array(self.feature_names, dtype=object)[top]
            for name, result in zip(self.names, (self.first, self.second), strict=True):
                columns[name] = dense(result.values[rows])[np.arange(len(rows)), top]
        return columns_to_frame(columns, self.first.frame_type)


def compare(
    first: LocalImportance,
    second: LocalImportance,
    *,
    names: Sequence[str] = ("first", "second"),
) -> Comparison:
    """Compare two explanations of the same rows: of two models, versions, seeds or measures.

    Features are matched by name; those that only one result has are listed and not compared.

    Parameters
    ----------
    first, second : LocalImportance
        With the same rows in the same order; where both have row labels, these must be equal.
    names : sequence of two str
        What to call them.

    Returns
    -------
    Comparison
        Agreement by feature (`to_frame`) and by row (`rows`, `row_correlation`).

    See Also
    --------
    localmdi.plots.BarDisplay : draws the means of both, side by side.
    localmdi.plots.AgreementDisplay : draws how far each row's values agree.
    localmdi.report.write_report : writes a page that shows a comparison.

    Examples
    --------
    >>> import localmdi as lm
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> old = ExtraTreesRegressor(50, max_depth=4, random_state=0).fit(X, y)
    >>> new = ExtraTreesRegressor(50, max_depth=4, random_state=1).fit(X, y)
    >>> comparison = lm.compare(lm.local_mdi(old, X), lm.local_mdi(new, X), names=("old", "new"))
    >>> comparison.to_frame().head(3).round(2)
      feature  mean_old  mean_new  difference  rank_correlation
    0     bmi    893.83   1113.79      219.96              0.95
    1      s5    880.34    781.37      -98.97              0.93
    2      bp    340.25    295.02      -45.23              0.75
    >>> comparison.rows(2)[["row", "feature"]]
       row feature
    0   29     bmi
    1   15      s5
    """
    for result in (first, second):
        if not isinstance(result, LocalImportance):
            raise TypeError(
                "compare takes two LocalImportance, with a value per row and feature; got "
                f"{type(result).__name__}. Pass what local_mdi, honest_mdi, decompose_global or "
                "infinite_mdi returned."
            )
    _check_rows(first, second)
    shared = _shared_features(first, second)
    kept = set(shared)
    return Comparison(
        first[:, list(shared)],
        second[:, list(shared)],
        names=_check_names(names),
        only_first=tuple(name for name in first.feature_names if name not in kept),
        only_second=tuple(name for name in second.feature_names if name not in kept),
    )


def row_correlation(first: FloatArray, second: FloatArray, *, method: str) -> FloatArray:
    """Return the correlation over the features for every row; NaN where one side is constant."""
    if method == "spearman":
        from scipy.stats import rankdata

        first, second = rankdata(first, axis=1), rankdata(second, axis=1)
    a, b = _standardise(first), _standardise(second)
    return np.asarray(np.clip((a * b).sum(axis=1), -1, 1))


def _standardise(table: FloatArray) -> FloatArray:
    largest = np.abs(table).max(axis=1, keepdims=True, initial=0.0)
    table = table / np.where(largest > 0, largest, 1.0)
    centred = table - table.sum(axis=1, keepdims=True) / max(1, table.shape[1])
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    # Below this, all that is left of a constant row is rounding.
    return np.where(length > 1e-12, centred / np.maximum(length, 1e-12), np.nan)


def _check_names(names: Any) -> tuple[str, str]:
    given = () if isinstance(names, str) else tuple(names)
    if len(given) != 2 or not all(isinstance(name, str) and name for name in given):
        raise ValueError(
            f"names must be two texts, for the first and the second result; got {names!r}. "
            "Pass e.g. ('old', 'new')."
        )
    if given[0] == given[1] or set(given) & {"row", "change", "rank_correlation", "feature"}:
        raise ValueError(
            "names must differ from each other and from the columns 'row', 'change', "
            f"'rank_correlation' and 'feature'; got {names!r}. Choose others."
        )
    return given[0], given[1]


def _check_rows(first: LocalImportance, second: LocalImportance) -> None:
    if len(first) != len(second):
        raise ValueError(
            f"the two results must have the same rows; got {len(first):,} and "
            f"{count(len(second), 'row')}. Explain the same rows with both models."
        )
    if first.row_labels is None or second.row_labels is None:
        return
    differ = np.asarray(first.row_labels) != np.asarray(second.row_labels)
    if np.any(differ):
        where = int(np.argmax(np.atleast_1d(differ)))
        raise ValueError(
            "the two results must have the same rows in the same order; "
            f"the labels at position {where:,} are {first.row_labels[where]!r} and "
            f"{second.row_labels[where]!r}. Put the rows of one in the order of the other."
        )


def _shared_features(first: LocalImportance, second: LocalImportance) -> tuple[str, ...]:
    known = set(second.feature_names)
    shared = tuple(name for name in first.feature_names if name in known)
    if not shared:
        raise ValueError(
            "the two results must share features, which are matched by name; they have "
            f"{quote_names(first.feature_names, most=3)} and "
            f"{quote_names(second.feature_names, most=3)}. Explain data frames with the same "
            "column names."
        )
    for names in (first.feature_names, second.feature_names):
        double = [name for name, times in Counter(names).items() if times > 1 and name in shared]
        if double:
            raise ValueError(
                "features are matched by name, and a name must occur once; got several "
                f"{quote_names(double)}. Rename the columns."
            )
    return shared


def _describe_means(comparison: Comparison) -> list[str]:
    first, second = comparison.first.mean().values, comparison.second.mean().values
    order = comparison.feature_order[:_N_FEATURES]
    labels = [clean(comparison.feature_names[i]) for i in order]
    width = max(map(len, labels), default=0)
    arrow = " → ".join(map(clean, comparison.names))
    lines = [f"  largest by mean value, {arrow}:"]
    lines += [
        f"    {label:<{width}}  {number_text(float(first[i]))} → {number_text(float(second[i]))}"
        for label, i in zip(labels, order, strict=True)
    ]
    return lines + ["    ..."] * (len(first) > _N_FEATURES)
