"""Subgroups of the rows whose explanations differ most, found by a small tree and said in words.

The tree predicts the local values, all features at once, from what is known about the rows. Numbers
go into it as ranks, so that a rule holds exactly for the rows at hand whatever their scale; text
goes in as one column per category, one against the rest.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import cell_number, clean, count, number_text, with_unit
from localmdi.results.fields import as_count, dense
from localmdi.results.frames import FrameType, columns_to_frame
from localmdi.results.own_data import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi.results.global_ import GlobalImportance
    from localmdi.results.local import LocalImportance
    from localmdi.results.own_data import DataColumn
    from localmdi.typing import AnyArray, FloatArray, IntArray, RowsLike


# A split must explain this share of how the explanations differ.
_LEAST_SHARE = 0.01
# The tree looks at so many features' values, those that vary most.
_MOST_TARGETS = 32
_FEWEST_ROWS = 10
# Whole numbers below this are written with all their digits.
_EXACT = 1e7
_LONGEST = 1e12
_N_NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Subgroup:
    """Rows that a rule describes, and how their explanation differs; part of `Subgroups`.

    Parameters
    ----------
    rule : str
        What holds for these rows and no others, in words.
    rows : ndarray of int64
        Their positions.
    importance : GlobalImportance
        The mean of their values.
    difference : ndarray of float64, shape (n_features,)
        That mean minus the mean over all rows.

    Examples
    --------
    >>> from localmdi.results import GlobalImportance
    >>> mean = GlobalImportance(np.array([0.75]), unit="bits", feature_names=("age",), n_trees=1)
    >>> Subgroup("age > 50", np.array([0, 2]), importance=mean, difference=np.array([0.25]))
    age > 50 (2 rows): age 0.75 bits instead of 0.5
    """

    rule: str
    rows: IntArray
    _: KW_ONLY
    importance: GlobalImportance
    difference: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        told = self._told()
        return f"{self._title()}: {told}" if told else self._title()

    def _title(self) -> str:
        return f"{clean(self.rule)} ({count(len(self), 'row')})"

    def _told(self) -> str:
        """Return in words what differs most from the mean over all rows."""
        symbol = unit_of(self.importance.unit).symbol
        mean = self.importance.values
        largest = np.argsort(-np.abs(self.difference), kind="stable")[:_N_NAMED]
        return ", ".join(
            f"{clean(self.importance.feature_names[i])} "
            f"{with_unit(number_text(float(mean[i]), 3), symbol)} instead of "
            f"{number_text(float(mean[i] - self.difference[i]), 3)}"
            for i in largest
            if self.difference[i] != 0
        )


@dataclass(frozen=True, eq=False, repr=False)
class Subgroups:
    """Subgroups that share out all rows, the most different first; from `result.subgroups()`.

    Parameters
    ----------
    groups : tuple of Subgroup
        The subgroups.
    overall : GlobalImportance
        The mean over all rows.
    explained : float
        Share of the values' variance over rows that lies between the subgroups, from 0 to 1.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        The type that `to_frame` gives; None: pandas.

    Examples
    --------
    >>> import localmdi as lm
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ExtraTreesClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    >>> lm.local_mdi(model, X).subgroups(max_groups=3)
    Subgroups: 3 of 150 rows, in bits
      they account for 37 % of how the explanations differ
      petal width (cm) > 1.85 (34 rows)
        petal width (cm) 0.884 bits instead of 0.693, petal length (cm) 0.566 bits instead of ...
      1.4 < petal width (cm) ≤ 1.85 (30 rows)
        petal width (cm) 0.613 bits instead of 0.693, sepal length (cm) 0.194 bits instead of ...
      petal width (cm) ≤ 1.4 (86 rows)
        petal length (cm) 0.731 bits instead of 0.671, petal width (cm) 0.646 bits instead of ...
    """

    groups: tuple[Subgroup, ...]
    overall: GlobalImportance
    _: KW_ONLY
    explained: float
    frame_type: FrameType = None

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Subgroup]:
        return iter(self.groups)

    def __getitem__(self, position: int) -> Subgroup:
        return self.groups[position]

    def __repr__(self) -> str:
        n_rows = sum(map(len, self.groups))
        head = f"Subgroups: {len(self):,} of {count(n_rows, 'row')}, in {self.overall.unit}"
        if len(self) < 2:
            return f"{head}\n  no subgroup stands out"
        share = f"{100 * self.explained:.0f} %"
        lines = [head, f"  they account for {share} of how the explanations differ"]
        for group in self.groups:
            lines += [f"  {group._title()}", f"    {group._told()}"]
        return "\n".join(lines)

    @property
    def labels(self) -> AnyArray:
        """The rule that holds for each row, an object array: for ``mean(by=…)`` and displays.

        Examples
        --------
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.repeat([[0.5], [0.0]], 10, axis=0), unit="bits",
        ...     n_trees=1, feature_names=("age",), data=np.repeat([[61], [30]], 10, axis=0))
        >>> sorted(set(result.subgroups(min_rows=5).labels))
        ['age > 30', 'age ≤ 30']
        """
        labels = np.empty(sum(map(len, self.groups)), dtype=object)
        for group in self.groups:
            labels[group.rows] = group.rule
        return labels

    def to_frame(self) -> Any:
        """Return one line per subgroup: its rule, number of rows, and every feature's mean.

        Examples
        --------
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.repeat([[0.5], [0.0]], 10, axis=0), unit="bits",
        ...     n_trees=1, feature_names=("age",), data=np.repeat([[61], [30]], 10, axis=0))
        >>> result.subgroups(min_rows=5).to_frame()
              _rule  _rows  age
        0  age ≤ 30     10  0.0
        1  age > 30     10  0.5
        """
        columns: dict[str, AnyArray] = {
            "_rule": np.array([group.rule for group in self.groups], dtype=object),
            "_rows": np.array([len(group) for group in self.groups]),
        }
        means = np.stack([group.importance.values for group in self.groups])
        columns |= dict(zip(self.overall.feature_names, means.T, strict=True))
        return columns_to_frame(columns, self.frame_type)


def find_subgroups(
    result: LocalImportance,
    X: RowsLike | None = None,
    *,
    max_groups: int,
    max_depth: int,
    min_rows: int | None,
) -> Subgroups:
    """Return the subgroups with the most different explanations: `LocalImportance.subgroups`."""
    for field, value, least in (("max_groups", max_groups, 2), ("max_depth", max_depth, 1)):
        if as_count(field, value) < least:
            raise ValueError(f"{field} must be at least {least}; got {value}. Pass a larger one.")
    if not all(result.shape):
        raise ValueError(
            "subgroups need at least one row and one feature; got "
            f"{count(len(result), 'row')} and {count(result.shape[1], 'feature')}."
        )
    n_rows = len(result)
    least_rows = max(_FEWEST_ROWS, n_rows // 20) if min_rows is None else min_rows
    if as_count("min_rows", least_rows) == 0:
        raise ValueError("min_rows must be at least 1; got 0. Pass the fewest rows of a subgroup.")
    questions = _questions(result, X, min_rows=least_rows)
    leaf, rules = np.zeros(n_rows, dtype=np.int64), {0: "all rows"}
    counted = _counted_rows(result)
    part = result if len(counted) == n_rows else result[counted]
    targets = _varying_values(part)
    if questions and targets.shape[1] and len(part) >= 2 * least_rows:
        asked = np.column_stack([question.codes for question in questions])
        tree = _grow(
            asked[counted],
            targets,
            weight=part.row_weight,
            max_leaf_nodes=int(max_groups),
            max_depth=int(max_depth),
            min_samples_leaf=int(least_rows),
        )
        leaf = tree.apply(asked).astype(np.int64)
        rules = _rules(tree.tree_, questions)
    return _compose(part, leaf, rules=rules, counted=counted)


def _counted_rows(result: LocalImportance) -> IntArray:
    """Return the rows whose values are known and have weight: honest values may lack some."""
    known = np.isfinite(np.asarray(result.values.sum(axis=1)).ravel())
    if result.row_weight is not None:
        known &= result.row_weight > 0
    if not known.any():
        raise ValueError(
            "subgroups need rows whose values are known; no row's are. Explain other rows, or "
            "grow more trees."
        )
    return np.flatnonzero(known)


class _Number:
    """A column of numbers or dates, as ranks; its state is the range (lower, upper] of ranks."""

    def __init__(self, name: str, column: DataColumn) -> None:
        self.name = name
        is_date = column.raw.dtype.kind == "M"
        values = column.raw if is_date else column.position
        missing = np.isnat(values) if is_date else np.isnan(values)
        self.known, rank = np.unique(values[~missing], return_inverse=True)
        self.codes = np.full(len(values), np.nan)
        self.codes[~missing] = rank
        self.has_missing = bool(missing.any())

    def say(self, lower: float, *, upper: float, missing: bool) -> str:
        """Return in words which values are meant."""
        last = len(self.known) - 1
        if lower >= min(upper, last):
            return f"{self.name} is missing"
        or_missing = " or missing" if self.has_missing and missing else ""
        below = None if lower < 0 else self._between(int(lower))
        above = None if upper >= last else self._between(int(upper))
        if below is None and above is None:
            return "" if or_missing or not self.has_missing else f"{self.name} is known"
        if below is None:
            return f"{self.name} ≤ {above}{or_missing}"
        if above is None:
            return f"{self.name} > {below}{or_missing}"
        return f"{below} < {self.name} ≤ {above}{or_missing}"

    def _between(self, rank: int) -> str:
        """Return a value from one on and below the next, as short as there is."""
        low, high = self.known[rank], self.known[rank + 1]
        if low.dtype.kind == "M":
            day = low.astype("datetime64[D]")
            return str(day) if day == low else str(low.astype("datetime64[s]"))
        if abs(low) < _EXACT and float(low).is_integer():
            return cell_number(float(low))
        middle = float(low) / 2 + float(high) / 2
        for digits in range(1, 18):
            short = float(f"{middle:.{digits}g}")
            if low <= short < high:
                if 1e-4 <= abs(short) < _LONGEST:
                    return f"{short:,.15g}".replace("-", "\N{MINUS SIGN}")
                return number_text(short, digits)
        return str(low)


class _Category:
    """Whether a row is of one category, or missing; its state is the range (lower, upper]."""

    has_missing = False

    def __init__(self, name: str, is_in: AnyArray, *, yes: str, no: str) -> None:
        self.name = name
        self.codes = is_in.astype(np.float64)
        self._yes, self._no = yes, no

    def say(self, lower: float, *, upper: float, missing: bool) -> str:
        """Return in words which values are meant."""
        return f"{self.name} is {self._no if upper < 1 else self._yes}"


def _questions(
    result: LocalImportance, X: RowsLike | None, *, min_rows: int
) -> list[_Number | _Category]:
    """Return what the tree may ask about a row."""
    questions: list[_Number | _Category] = []
    for name, column in zip(*read_table(result, X), strict=True):
        if column.categories is None or column.raw.dtype.kind == "M":
            questions.append(_Number(name, column))
        else:
            questions += _category_questions(name, column, min_rows=min_rows)
    return questions


def _category_questions(name: str, column: DataColumn, *, min_rows: int) -> list[_Category]:
    missing = np.isnan(column.position)
    categories = column.categories or ()
    if len(categories) == 2 and not missing.any():
        second = column.position == 1
        return [_Category(name, second, yes=categories[1], no=categories[0])]
    sizes = np.bincount(column.position[~missing].astype(np.int64), minlength=len(categories))
    found = [
        _Category(name, column.position == code, yes=text, no=f"not {text}")
        for code, (text, size) in enumerate(zip(categories, sizes, strict=True))
        if min_rows <= size <= len(missing) - min_rows
    ]
    if missing.any():
        found.append(_Category(name, missing, yes="missing", no="known"))
    return found


def _varying_values(result: LocalImportance) -> FloatArray:
    """Return the values of the features that vary most over the rows."""
    values = result.values
    mean = np.asarray(values.mean(axis=0)).ravel()
    square = np.asarray((values * values).mean(axis=0)).ravel()
    variance = square - mean**2
    order = np.argsort(-variance, kind="stable")[:_MOST_TARGETS]
    kept = np.sort(order[variance[order] > 1e-12 * max(float(square.max()), 1e-300)])
    chosen = np.array(dense(values[:, kept]))
    # Of one size, so that no squares of very large or very small values are lost.
    largest = np.abs(chosen).max(initial=0.0)
    return np.asarray(chosen / largest if largest > 0 else chosen)


def _grow(
    asked: FloatArray, targets: FloatArray, *, weight: FloatArray | None, **limits: int
) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    root = float(targets.var(axis=0).mean())
    tree = DecisionTreeRegressor(
        random_state=0, min_impurity_decrease=_LEAST_SHARE * root, **limits
    )
    return tree.fit(asked, targets, sample_weight=weight)


def _rules(tree: Any, questions: list[_Number | _Category]) -> dict[int, str]:
    """Return the rule of every leaf."""
    rules: dict[int, str] = {}
    # What a path allows of each column it asked about: ranks from, to, and missing values.
    start: dict[int, tuple[float, float, bool]] = {}
    stack = [(0, start)]
    while stack:
        node, state = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            said = (
                questions[j].say(lower, upper=upper, missing=missing)
                for j, (lower, upper, missing) in state.items()
            )
            rules[node] = " and ".join(text for text in said if text) or "all rows"
            continue
        asked = int(tree.feature[node])
        lower, upper, missing = state.get(asked, (-1.0, np.inf, True))
        threshold = np.floor(float(tree.threshold[node]))
        to_left = bool(tree.missing_go_to_left[node])
        below = (lower, min(upper, threshold), missing and to_left)
        above = (max(lower, threshold), upper, missing and not to_left)
        stack += [(left, {**state, asked: below}), (right, {**state, asked: above})]
    return rules


def _compose(
    part: LocalImportance, leaf: IntArray, *, rules: dict[int, str], counted: IntArray
) -> Subgroups:
    """Return the subgroups of all rows; `part` has those of them that are counted."""
    overall = part.mean()
    groups = []
    for node in np.unique(leaf[counted]):
        mean = part[np.flatnonzero(leaf[counted] == node)].mean()
        group = Subgroup(
            rules[int(node)],
            np.flatnonzero(leaf == node),
            importance=mean,
            difference=mean.values - overall.values,
        )
        groups.append(group)
    groups.sort(key=lambda group: -float(np.abs(group.difference).sum()))
    return Subgroups(
        tuple(groups),
        overall,
        explained=_explained(part, groups, overall=overall),
        frame_type=part.frame_type,
    )


def _explained(
    part: LocalImportance, groups: list[Subgroup], *, overall: GlobalImportance
) -> float:
    """Return the share of the variance of the rows' values that lies between the subgroups."""
    weight = np.ones(len(part)) if part.row_weight is None else part.row_weight
    squares = np.asarray((part.values * part.values).sum(axis=1)).ravel()
    total = float(weight @ squares) - weight.sum() * float(overall.values @ overall.values)
    between = sum(
        group.importance.weight * float(group.difference @ group.difference) for group in groups
    )
    return float(np.clip(between / total, 0.0, 1.0)) if total > 0 else 0.0
