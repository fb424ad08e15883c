"""Local relevance (Definition 2): exact on the sample, and tested for what lies beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from localmdi.infinite.categorical_sample import Sample, read_samples
from localmdi.results.fields import as_choice

if TYPE_CHECKING:
    from localmdi.infinite.encoder import Bins, Missing
    from localmdi.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, RowsLike

Control: TypeAlias = Literal["holm", "bonferroni"]
_MAX_ENTRIES = 2**23


@dataclass(frozen=True, eq=False)
class LocalRelevance:
    """Which features are locally relevant at which rows; made by `local_relevance`.

    Parameters
    ----------
    differs : ndarray of bool, shape (n_rows, n_features)
        Whether, in the sample, knowing X_m = x_m changes the frequencies of the output in some
        context: Definition 2 on the empirical law, exact. Noise differs almost always.
    witness : tuple of tuples
        ``witness[i][m]``: the context that shows it best, as a dict from names to values (that of
        the smallest p-value if one was tested, else the first that differs); None if none does.
    relevant : ndarray of bool, shape (n_rows, n_features)
        Whether the change is significant. For each row, the probability that a feature is called
        relevant although it is not is at most `alpha`.
    p_value : ndarray of float64, shape (n_rows, n_features)
        Smallest adjusted p-value over the contexts; NaN if none had enough rows to be tested.
    change_bound : ndarray of float64, shape (n_rows, n_features)
        Upper bound, at level 1 − `alpha`, on the change of any class probability in any tested
        context. Only a small bound is evidence that a feature is irrelevant.
    n_tested : ndarray of int64, shape (n_rows, n_features)
        Number of contexts tested.
    feature_names : tuple of str
        The features.
    alpha : float
        The level.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 20, [0, 1, 1, 0] * 20
    >>> found = local_relevance(X, y, [[0, 1]])
    >>> found.relevant, found.witness[0][0]
    (array([[ True,  True]]), {'x1': 1})
    """

    differs: BoolArray
    witness: tuple[tuple[dict[str, Any] | None, ...], ...]
    relevant: BoolArray
    p_value: FloatArray
    change_bound: FloatArray
    n_tested: IntArray
    feature_names: tuple[str, ...]
    alpha: float

    def table(self, row: int = 0) -> dict[str, dict[str, Any]]:
        """Return what was found at one row, by feature; ``pandas.DataFrame(table).T`` shows it.

        Examples
        --------
        >>> found = local_relevance([[0], [1]] * 10, [0, 1] * 10, [[0]])
        >>> found.table()["x0"]["relevant"], found.table()["x0"]["witness"]
        (True, {})
        """
        fields = ("relevant", "p_value", "change_bound", "n_tested", "differs")
        return {
            name: {field: getattr(self, field)[row, m].item() for field in fields}
            | {"witness": self.witness[row][m]}
            for m, name in enumerate(self.feature_names)
        }


def local_relevance(
    X: RowsLike,
    y: ArrayLike,
    at: RowsLike,
    *,
    alpha: float = 0.05,
    control: Control = "holm",
    min_rows: int = 10,
    bins: Bins | None = None,
    missing: Missing = "error",
) -> LocalRelevance:
    """Say which features are locally relevant at some rows, with contexts that show it.

    X_m is locally irrelevant at x if knowing X_m = x_m changes the law of the output in no context
    B = x_B (Definition 2). On the sample this is checked exactly, on counts. Whether it holds
    beyond the sample is tested in every context with enough rows; the probability of an error is
    controlled over all features and contexts of a row.

    Parameters
    ----------
    X, y, bins, missing
        As for `infinite_mdi`; y are classes. 2^p times the number of classes must be at most 2^23.
    at : like X
        Rows of the sample.
    alpha : float
        Level of the tests and of the bounds.
    control : {"holm", "bonferroni"}
        How to allow for many tests.
    min_rows : int
        Rows needed with and without x's value in a tested context.

    Returns
    -------
    LocalRelevance

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 20, [0, 0, 1, 1] * 20
    >>> found = local_relevance(X, y, [[0, 0]])
    >>> found.relevant, found.differs
    (array([[ True, False]]), array([[ True, False]]))
    """
    _check(alpha, control, min_rows=min_rows)
    sample, *others = read_samples(X, y, criterion="entropy", bins=bins, missing=missing)
    if others:
        raise ValueError(
            f"y must be one output, because relevance is that of its law; got {len(others) + 1}. "
            "Pass one of them, or a class for every combination of their values."
        )
    p, n_classes = sample.shape[1], sample.output.n_classes
    if 2.0**p * n_classes > _MAX_ENTRIES:
        raise ValueError(
            "2^p times the number of classes must be at most 2^23, because every context is "
            f"visited; got p={p} and n_classes={n_classes}. Choose the features that matter "
            "first, for example by infinite_mdi(X, y).mean()."
        )
    rows = sample.rows_at(at)
    if (rows.row < 0).any():
        raise ValueError(
            "at must hold rows of the sample, because other rows have contexts without data. "
            "Leave out the rows that do not occur in X."
        )
    codes = sample.given.codes[sample.given.inverse]
    found = [
        _test_row(sample, codes == x, alpha=float(alpha), control=control, min_rows=int(min_rows))
        for x in rows.codes
    ]
    parts = [found[i] for i in rows.inverse]
    shape = (len(parts), p)
    columns = [np.array([part[k] for part in parts]).reshape(shape) for k in range(5)]
    return LocalRelevance(
        columns[0].astype(bool),
        _witnesses(sample, columns[4], arrays=rows.columns.arrays),
        columns[1] <= alpha,
        columns[1],
        columns[2],
        columns[3].astype(np.int64),
        sample.encoder.names,
        float(alpha),
    )


def _test_row(
    sample: Sample, matches: BoolArray, *, alpha: float, control: Control, min_rows: int
) -> tuple[FloatArray, ...]:
    """Return differs, p-value, bound, number of tests, and the witness (−1: none), by feature."""
    p = matches.shape[1]
    n_classes = sample.output.n_classes
    counts = _count_contexts(matches, sample.output.label, n_classes=n_classes)
    features = [_context_pairs(counts, m) for m in range(p)]
    tested = [
        np.flatnonzero(np.minimum(f.after.sum(axis=1), f.outside.sum(axis=1)) >= min_rows)
        for f in features
    ]
    n_tested = np.array([t.size for t in tested])
    inside = np.concatenate([f.after[t] for f, t in zip(features, tested, strict=True)])
    outside = np.concatenate([f.outside[t] for f, t in zip(features, tested, strict=True)])
    p_values = adjust(change_p_values(inside, outside), control)
    bounds = change_bound(inside, outside, alpha=alpha).max(axis=1, initial=0.0)
    smallest, largest = np.full(p, np.nan), np.full(p, np.nan)
    witness = np.full(p, -1.0)
    stop = 0
    for m, (pairs, places) in enumerate(zip(features, tested, strict=True)):
        start, stop = stop, stop + places.size
        if pairs.changed.any():
            witness[m] = pairs.known[pairs.changed][0]
        if places.size:
            best = int(np.argmin(p_values[start:stop]))
            smallest[m], largest[m] = p_values[start + best], bounds[start:stop].max()
            if pairs.changed[places[best]]:
                witness[m] = pairs.known[places[best]]
    return (witness >= 0).astype(float), smallest, largest, n_tested.astype(float), witness


@dataclass(frozen=True, eq=False)
class _ContextPairs:
    """Every context B without feature m, and B with it.

    Parameters
    ----------
    known : ndarray of int64
        B as a set of bits; bit j is feature j.
    before, after : ndarray of float64, shape (n_contexts, n_classes)
        Class counts of the rows that equal x on B, and on B and m.
    """

    known: IntArray
    before: FloatArray
    after: FloatArray

    @property
    def outside(self) -> FloatArray:
        """Class counts of the rows that equal x on B and not on m."""
        return self.before - self.after

    @property
    def changed(self) -> BoolArray:
        """Whether the frequencies of the classes differ: exact, because counts are whole."""
        n_before = self.before.sum(axis=1, keepdims=True)
        n_after = self.after.sum(axis=1, keepdims=True)
        return np.asarray((self.after * n_before != self.before * n_after).any(axis=1))


def _count_contexts(matches: BoolArray, label: AnyArray, *, n_classes: int) -> FloatArray:
    """Return the class counts of the rows that equal x on each set of features, (2^p, n_classes).

    Parameters
    ----------
    matches : ndarray of bool, shape (n_rows, p)
        On which features each row equals x.
    label : ndarray of int
        The class of each row.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> _count_contexts(np.array([[True], [False]]), np.array([0, 1]), n_classes=2)
    array([[1., 1.],
           [1., 0.]])
    """
    p = matches.shape[1]
    mask = matches @ (1 << np.arange(p))
    counts = np.bincount(mask * n_classes + label, minlength=2**p * n_classes).astype(np.float64)
    table: FloatArray = counts.reshape(2**p, n_classes)
    for j in range(p):
        halves = table.reshape(-1, 2, 2**j, n_classes)
        halves[:, 0] += halves[:, 1]
    return table


def _context_pairs(counts: FloatArray, m: int) -> _ContextPairs:
    """Return the contexts without and with feature m, smaller ones first."""
    sets = np.arange(len(counts))
    without = sets[sets >> m & 1 == 0]
    without = without[np.argsort(np.bitwise_count(without), kind="stable")]
    return _ContextPairs(without, counts[without], counts[without | 1 << m])


def _witnesses(
    sample: Sample, contexts: FloatArray, *, arrays: tuple[Any, ...]
) -> tuple[tuple[dict[str, Any] | None, ...], ...]:
    names = sample.encoder.names
    plain = [array.tolist() if isinstance(array, np.ndarray) else array for array in arrays]
    return tuple(
        tuple(
            {names[j]: plain[j][i] for j in range(len(names)) if known >> j & 1}
            if known >= 0
            else None
            for known in row
        )
        for i, row in enumerate(contexts.astype(np.int64).tolist())
    )


def _check(alpha: float, control: Control, *, min_rows: int) -> None:
    if not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}. Use 0.05 if in doubt.")
    as_choice("control", control, choices=get_args(Control))
    if not isinstance(min_rows, int | np.integer) or min_rows < 1:
        raise ValueError(
            f"min_rows must be a whole number, at least 1; got {min_rows!r}. Use 10 if in doubt."
        )


_SMALL = 5.0  # expected counts below this make the G-test reject too often


def change_p_values(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Test for each context whether the output's law depends on X_m = x_m.

    A G-test with Williams' correction; Fisher's exact test where expected counts are small (for
    more than two classes: each class against the others, times the number of classes).

    Parameters
    ----------
    inside, outside : ndarray of shape (n_contexts, n_classes)
        Class counts of the rows with and without x's value.

    Examples
    --------
    >>> change_p_values(np.array([[30.0, 10.0]]), np.array([[10.0, 30.0]])).round(6)
    array([6.e-06])
    """
    from scipy.stats import chi2

    both = inside + outside
    total = both.sum(axis=1, keepdims=True)
    statistic = np.zeros(len(inside))
    correction = np.zeros(len(inside))
    small = np.zeros(len(inside), dtype=bool)
    for part in (inside, outside):
        n = part.sum(axis=1, keepdims=True)
        expected = n * both / total
        ratio = np.divide(part, expected, out=np.ones_like(part), where=part > 0)
        statistic += 2.0 * (part * np.log(ratio)).sum(axis=1)
        correction += (total / n)[:, 0]
        small |= ((expected < _SMALL) & (both > 0)).any(axis=1)
    freedom = np.maximum((both > 0).sum(axis=1) - 1, 1)
    by_class = np.divide(total, both, out=np.zeros_like(both), where=both > 0).sum(axis=1)
    williams = 1.0 + (correction - 1.0) * (by_class - 1.0) / (6.0 * total[:, 0] * freedom)
    p_values = np.asarray(chi2.sf(statistic / williams, freedom), dtype=np.float64)
    for k in np.flatnonzero(small):
        p_values[k] = _fisher(inside[k], outside[k])
    return p_values


def _fisher(inside: FloatArray, outside: FloatArray) -> float:
    from scipy.stats import fisher_exact

    present = np.flatnonzero(inside + outside > 0)
    if len(present) < 2:
        return 1.0
    classes = present[:1] if len(present) == 2 else present
    found = [
        fisher_exact([[part[c], part.sum() - part[c]] for part in (inside, outside)])[1]
        for c in classes
    ]
    return float(min(1.0, min(found) * len(classes)))


def adjust(p_values: FloatArray, control: Literal["holm", "bonferroni"]) -> FloatArray:
    """Return p-values corrected for the number of tests, to be compared with alpha.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.04]), "holm")
    array([0.02, 0.04])
    >>> adjust(np.array([0.01, 0.04]), "bonferroni")
    array([0.02, 0.08])
    """
    n = len(p_values)
    if control == "bonferroni" or n == 0:
        return np.minimum(p_values * n, 1.0)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (n - np.arange(n)))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def change_bound(inside: FloatArray, outside: FloatArray, *, alpha: float) -> FloatArray:
    """Return upper bounds on |P(y | B, x_m) − P(y | B)| for each context and class.

    From Clopper and Pearson's intervals for both sides; with probability 1 − alpha, given the rows
    of X, all bounds hold at once.

    Examples
    --------
    >>> change_bound(np.array([[50.0, 50.0]]), np.array([[50.0, 50.0]]), alpha=0.05).round(2)
    array([[0.13, 0.13]])
    """
    from scipy.stats import beta

    level = alpha / (4.0 * max(inside.size, 1))
    low, high = [], []
    for part in (inside, outside):
        n = part.sum(axis=1, keepdims=True)
        low.append(np.where(part > 0, beta.ppf(level, np.maximum(part, 1), n - part + 1), 0.0))
        rest = np.maximum(n - part, 1)
        high.append(np.where(part < n, beta.ppf(1.0 - level, part + 1, rest), 1.0))
    gap = np.maximum(high[0] - low[1], high[1] - low[0])
    n_inside, n_outside = inside.sum(axis=1), outside.sum(axis=1)
    return np.asarray(gap * (n_outside / (n_inside + n_outside))[:, np.newaxis])
