"""A finite joint law P(X_1, …, X_p, Y): the population of the paper's asymptotic results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import require_feasible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray

SUM_TOLERANCE = 1e-9


class Distribution:
    """A joint law of p categorical features and one output, or several.

    Several outputs are one Y whose values are combinations of theirs. Impurities, the games made of
    them and importances are then means over the outputs; relevance, entropies and informations are
    those of all outputs together.

    Parameters
    ----------
    table : array-like of shape (|X_1|, …, |X_p|, |Y|)
        Joint probabilities; non-negative, summing to one (up to 1e-9).
    y_values : array-like of shape (|Y|,) or (|Y|, n_outputs), optional
        Numeric values of the output, needed by the variance only; or, one row for each value of Y,
        the values of several outputs.
    categories : sequence of p sequences, optional
        The features' values in the order of the table's axes; 0, 1, … by default. Instances `x`
        are given in these values.
    classes : sequence, optional
        The output's labels in the order of the last axis; 0, 1, … by default.

    Attributes
    ----------
    table : ndarray
        The joint probabilities, read-only.
    counts : ndarray of int or None
        The whole numbers behind the table when it comes from a sample: relevance is then exact.
    arities : tuple of int
        Number of values of each feature.
    n_outputs : int
        Number of outputs.

    See Also
    --------
    Distribution.from_counts, Distribution.from_samples, Distribution.from_conditional

    Examples
    --------
    X_1 decides Y, X_2 is a coin of its own:

    >>> law = Distribution([[[0.25, 0.0], [0.25, 0.0]], [[0.0, 0.25], [0.0, 0.25]]])
    >>> law
    Distribution(arities=(2, 2), n_classes=2)
    >>> law.marginal("y").tolist()
    [0.5, 0.5]
    >>> law.conditional("y", {0: 1}).tolist()
    [0.0, 1.0]

    Each feature is one of two outputs:

    >>> from localmdi.theory import population_mdi
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> law = Distribution.from_samples(X, X)
    >>> law.n_outputs, law.classes
    (2, ((0, 0), (0, 1), (1, 0), (1, 1)))
    >>> population_mdi(law).tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        table: ArrayLike,
        *,
        y_values: ArrayLike | None = None,
        categories: Sequence[Sequence[Any]] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        array = np.array(table, dtype=np.float64)
        check_masses(array, name="table")
        total = float(array.sum())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise ValueError(
                f"table must sum to one, but sums to {total:.12g}: divide by the sum, or use "
                "Distribution.from_counts for whole numbers."
            )
        array /= total
        array.flags.writeable = False
        self.table: FloatArray = array
        self.counts: IntArray | None = None
        self.arities: tuple[int, ...] = array.shape[:-1]
        self.n_features: int = array.ndim - 1
        self.n_classes: int = array.shape[-1]
        self.y_values, self._outputs = check_y_values(y_values, self.n_classes)
        self.n_outputs: int = len(self._outputs) or 1
        self.categories = check_categories(categories, self.arities)
        self.classes = check_classes(classes, self.n_classes)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        *,
        y_values: ArrayLike | None = None,
        categories: Sequence[Sequence[Any]] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Distribution:
        """Return the law proportional to a table of whole numbers, and keep the numbers.

        Parameters
        ----------
        counts : array-like of int of shape (|X_1|, …, |X_p|, |Y|)
            Non-negative whole numbers, not all zero.
        y_values, categories, classes
            As for `Distribution`.

        Examples
        --------
        >>> law = Distribution.from_counts([[3, 1], [0, 4]])
        >>> law.table.tolist()
        [[0.375, 0.125], [0.0, 0.5]]
        """
        array = np.array(counts)
        if array.dtype.kind not in "iub":
            raise ValueError(
                f"counts must be whole numbers, but have dtype {array.dtype}: pass probabilities "
                "to Distribution(table)."
            )
        check_masses(array, name="counts")
        total = int(array.sum())
        if total == 0:
            raise ValueError("counts must not all be zero: there is no row to make a law of.")
        law = cls(array / total, y_values=y_values, categories=categories, classes=classes)
        # Products of two counts must not overflow: beyond 2^31 rows Python's integers take over.
        law.counts = array.astype(np.int64 if total < 2**31 else object)
        law.counts.flags.writeable = False
        return law

    @classmethod
    def from_samples(
        cls, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Distribution:
        """Return the empirical law of a categorical sample.

        Parameters
        ----------
        X : array-like of shape (n_rows, p)
            Categories; the distinct values of a column become its axis.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Outputs. Numbers also become `y_values`.
        sample_weight : array-like of shape (n_rows,), optional
            Non-negative weights; whole numbers keep relevance exact.

        Examples
        --------
        >>> X = [["red", "round"], ["red", "flat"], ["blue", "flat"]]
        >>> law = Distribution.from_samples(X, [1.5, 1.5, 4.0])
        >>> law.categories
        (('blue', 'red'), ('flat', 'round'))
        >>> law.y_values.tolist()
        [1.5, 4.0]
        """
        rows, labels, weight = check_sample(X, y, sample_weight=sample_weight)
        encoded = [np.unique(column, return_inverse=True) for column in rows.T]
        categories = [tuple(values.tolist()) for values, _ in encoded]
        classes, code, y_values = _joint_output(labels)
        shape = (*map(len, categories), len(classes))
        require_feasible(shape, what="the joint law of X and y")
        counts = np.zeros(shape, dtype=weight.dtype)
        np.add.at(counts, (*(codes.ravel() for _, codes in encoded), code), weight)
        if counts.dtype.kind == "i":
            return cls.from_counts(
                counts, y_values=y_values, categories=categories, classes=classes
            )
        table = counts / counts.sum()
        return cls(table, y_values=y_values, categories=categories, classes=classes)

    @classmethod
    def from_conditional(
        cls,
        output: ArrayLike,
        inputs: ArrayLike | None = None,
        *,
        y_values: ArrayLike | None = None,
    ) -> Distribution:
        """Return the law P(V = x) P(Y = y | V = x), the form of the paper's examples.

        Parameters
        ----------
        output : array-like of shape (|X_1|, …, |X_p|, |Y|)
            P(Y = y | V = x): sums to one over the last axis wherever P(V = x) > 0.
        inputs : array-like of shape (|X_1|, …, |X_p|), optional
            P(V = x); equiprobable by default.
        y_values
            As for `Distribution`.

        Examples
        --------
        Example 2 of the paper:

        >>> Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]]).marginal("y").tolist()
        [0.75, 0.25]
        """
        rows = np.array(output, dtype=np.float64)
        check_masses(rows, name="output")
        shape = rows.shape[:-1]
        weight = np.full(shape, 1.0 / np.prod(shape)) if inputs is None else np.array(inputs, float)
        if weight.shape != shape:
            raise ValueError(
                f"inputs must have the shape of output without its last axis, {shape}, but has "
                f"{weight.shape}."
            )
        off = np.abs(rows.sum(axis=-1) - 1.0)
        if np.any(off[weight > 0] > SUM_TOLERANCE):
            where = tuple(int(i) for i in np.argwhere((off > SUM_TOLERANCE) & (weight > 0))[0])
            raise ValueError(
                f"P(Y | V = x) must sum to one, but sums to {rows[where].sum():.12g} at x = "
                f"{where}: the last axis of output is Y."
            )
        return cls(weight[..., np.newaxis] * rows, y_values=y_values)

    def marginal(self, of: Any) -> FloatArray:
        """Return P(of) as an array whose axes are the chosen variables in increasing order, Y last.

        Parameters
        ----------
        of : int, "y", or an iterable of these
            Features by index; the output is "y".

        Examples
        --------
        >>> law = Distribution.from_counts([[3, 1], [0, 4]])
        >>> law.marginal(0).tolist(), law.marginal((0, "y")).shape
        ([0.5, 0.5], (2, 2))
        """
        keep = self.axes(of)
        summed: FloatArray = self.table.sum(axis=tuple(set(range(self.table.ndim)) - set(keep)))
        return summed

    def conditional(self, of: Any, given: Mapping[int, Any]) -> FloatArray:
        """Return P(of | X_j = given[j] for every j in given).

        Parameters
        ----------
        of : int, "y", or an iterable of these
            Features by index; the output is "y".
        given : mapping from feature index to category
            The known values; the event must have a positive probability.

        Examples
        --------
        >>> law = Distribution.from_counts([[3, 1], [0, 4]])
        >>> law.conditional("y", {0: 0}).tolist()
        [0.75, 0.25]
        """
        at: list[Any] = [slice(None)] * self.table.ndim
        for feature, value in given.items():
            (axis,) = self.axes(feature)
            code = self._code(axis, value)
            at[axis] = slice(code, code + 1)
        event = self.table[tuple(at)]
        total = event.sum()
        if total <= 0:
            raise ValueError(
                f"the condition must have a positive probability, but P({dict(given)}) = 0."
            )
        dropped = tuple(set(range(self.table.ndim)) - set(self.axes(of)))
        result: FloatArray = event.sum(axis=dropped) / total
        return result

    def instances(self) -> Iterator[tuple[tuple[Any, ...], float]]:
        """Yield every x with P(V = x) > 0, and that probability.

        Examples
        --------
        >>> list(Distribution.from_counts([[3, 1], [0, 4]]).instances())
        [((0,), 0.5), ((1,), 0.5)]
        """
        inputs = self.table.sum(axis=-1)
        for codes in np.argwhere(inputs > 0):
            x = tuple(self.categories[j][code] for j, code in enumerate(codes))
            yield x, float(inputs[tuple(codes)])

    def encode(self, x: Sequence[Any]) -> tuple[int, ...]:
        """Return the table's index of the instance x; x must have a positive probability.

        Parameters
        ----------
        x : sequence of p categories

        Examples
        --------
        >>> law = Distribution.from_samples([["a", "u"], ["b", "v"]], [0, 1])
        >>> law.encode(["b", "v"])
        (1, 1)
        """
        if len(x) != self.n_features:
            raise ValueError(f"x must have {self.n_features} values, but has {len(x)}.")
        codes = tuple(self._code(feature, value) for feature, value in enumerate(x))
        if not self.table[codes].sum() > 0:
            raise ValueError(
                f"x must have a positive probability, but P(V = {tuple(x)}) = 0: local importances "
                "are defined where the law lives."
            )
        return codes

    def axes(self, of: Any) -> tuple[int, ...]:
        """Return the table's axes of a variable or a set of variables, increasing.

        Parameters
        ----------
        of : int, "y", or an iterable of these

        Examples
        --------
        >>> Distribution.from_counts([[3, 1], [0, 4]]).axes(("y", 0))
        (0, 1)
        """
        members = (of,) if isinstance(of, str | int | np.integer) else tuple(of)
        axes = set()
        for member in members:
            if isinstance(member, str):
                if member != "y":
                    raise ValueError(f'the output is written "y", but {member!r} was given.')
                axes.add(self.n_features)
            elif 0 <= int(member) < self.n_features:
                axes.add(int(member))
            else:
                raise ValueError(
                    f"a feature is an index from 0 to {self.n_features - 1}, but {member} was "
                    "given."
                )
        return tuple(sorted(axes))

    def by_output(self, masses: AnyArray) -> list[tuple[AnyArray, FloatArray | None]]:
        """Return masses of the values of each output, (…, |Y_o|), and these values as numbers.

        Parameters
        ----------
        masses : ndarray of shape (…, |Y|)
            Masses of the values of Y.

        Examples
        --------
        >>> law = Distribution.from_counts([[3, 1, 4]], y_values=[["a", 0], ["a", 1], ["b", 1]])
        >>> [part.tolist() for part, _ in law.by_output(law.counts)]
        [[[4, 4]], [[3, 5]]]
        """
        if not self._outputs:
            return [(masses, self.y_values)]
        return [
            (np.stack([masses[..., code == k].sum(axis=-1) for k in range(code.max() + 1)], -1), of)
            for code, of in self._outputs
        ]

    def _code(self, feature: int, value: Any) -> int:
        try:
            return self.categories[feature].index(value)
        except ValueError:
            raise ValueError(
                f"feature {feature} must be one of {self.categories[feature]}, but {value!r} was "
                "given."
            ) from None

    def __repr__(self) -> str:
        several = f", n_outputs={self.n_outputs}" if self._outputs else ""
        return f"Distribution(arities={self.arities}, n_classes={self.n_classes}{several})"


def check_masses(masses: AnyArray, *, name: str) -> None:
    """Raise unless the array is a non-empty, finite, non-negative table with an output axis.

    Examples
    --------
    >>> check_masses(np.array([[0.5, -0.5]]), name="table")
    Traceback (most recent call last):
    ...
    ValueError: table must be non-negative, but entry (0, 1) is -0.5.
    """
    if masses.ndim < 2 or masses.size == 0:
        raise ValueError(
            f"{name} must have one axis per feature and the output's axis last, "
            f"shape (|X_1|, …, |X_p|, |Y|) with p >= 1, but has shape {masses.shape}."
        )
    require_feasible(masses.shape, what=name)
    bad = ~np.isfinite(masses) | (masses < 0)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        must = "non-negative" if np.isfinite(masses[where]) else "finite"
        raise ValueError(f"{name} must be {must}, but entry {where} is {masses[where]}.")


def check_y_values(
    y_values: ArrayLike | None, n_classes: int
) -> tuple[FloatArray | None, list[tuple[IntArray, FloatArray | None]]]:
    """Return the numbers of one output, read-only, or None; and codes and numbers of several.

    Examples
    --------
    >>> check_y_values([0, 10], 2)[0].tolist()
    [0.0, 10.0]
    >>> [code.tolist() for code, _ in check_y_values([["a", 0], ["b", 0]], 2)[1]]
    [[0, 1], [0, 0]]
    """
    if y_values is None:
        return None, []
    given = np.asarray(y_values)
    if given.ndim == 2:
        if len(given) != n_classes or given.shape[1] == 0:
            raise ValueError(
                "y_values of several outputs must have one row per value of Y and one column per "
                f"output, shape ({n_classes}, n_outputs), but have shape {given.shape}."
            )
        outputs = [_values_of(column)[1:] for column in given.T]
        if not all(numbers is None or np.isfinite(numbers).all() for _, numbers in outputs):
            raise ValueError(
                "y_values must be finite numbers or labels, but some are infinite or NaN."
            )
        return None, outputs
    values = np.array(y_values, dtype=np.float64)
    if values.shape != (n_classes,) or not np.isfinite(values).all():
        raise ValueError(
            f"y_values must be {n_classes} finite numbers, one per value of Y, but are {y_values}."
        )
    values.flags.writeable = False
    return values, []


def _joint_output(labels: AnyArray) -> tuple[tuple[Any, ...], IntArray, Any]:
    """Return the classes of one output or several, the rows' codes, and the `y_values`."""
    if labels.ndim == 1:
        return _values_of(labels)
    columns = [_values_of(column) for column in labels.T]
    codes, code = np.unique([code for _, code, _ in columns], axis=1, return_inverse=True)
    found = [[values[k] for k in own] for own, (values, _, _) in zip(codes, columns, strict=True)]
    classes = tuple(zip(*found, strict=True))
    values = np.empty(codes.T.shape, dtype=object)
    values[:] = classes
    return classes, code.ravel(), values


def _values_of(column: AnyArray) -> tuple[tuple[Any, ...], IntArray, FloatArray | None]:
    """Return the distinct values of an output, every row's code, and the values as numbers."""
    values, code = np.unique(column, return_inverse=True)
    found = tuple(values.tolist())
    numeric = all(isinstance(value, bool | int | float) for value in found)
    return found, code.ravel(), np.array(found, dtype=np.float64) if numeric else None


def check_categories(
    categories: Sequence[Sequence[Any]] | None, arities: tuple[int, ...]
) -> tuple[tuple[Any, ...], ...]:
    """Return the features' values, by default 0, 1, … on each axis.

    Examples
    --------
    >>> check_categories(None, (2, 3))
    ((0, 1), (0, 1, 2))
    """
    if categories is None:
        return tuple(tuple(range(arity)) for arity in arities)
    sizes = tuple(len(set(values)) for values in categories)
    if sizes != arities or any(len(values) != len(set(values)) for values in categories):
        raise ValueError(
            f"categories must list {arities} distinct values per feature, but list {sizes}."
        )
    return tuple(tuple(values) for values in categories)


def check_classes(classes: Sequence[Any] | None, n_classes: int) -> tuple[Any, ...]:
    """Return the output's labels, by default 0, 1, ….

    Examples
    --------
    >>> check_classes(["no", "yes"], 2)
    ('no', 'yes')
    """
    if classes is None:
        return tuple(range(n_classes))
    if len(classes) != n_classes or len(set(classes)) != n_classes:
        raise ValueError(f"classes must be {n_classes} distinct labels, but are {tuple(classes)}.")
    return tuple(classes)


def check_sample(
    X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return X, y and the weights as arrays; whole weights come back as integers.

    Examples
    --------
    >>> X, y, weight = check_sample([[0], [1]], ["a", "b"], sample_weight=[1.0, 2.0])
    >>> weight.tolist()
    [1, 2]
    """
    rows, labels = np.asarray(X), np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    matches = labels.ndim in (1, 2) and labels.shape[:1] == rows.shape[:1]
    if rows.ndim != 2 or not matches or 0 in (rows.size, labels.size):
        raise ValueError(
            "X must be (n_rows, p) and y (n_rows,) or (n_rows, n_outputs), all non-empty, but they "
            f"have shapes {rows.shape} and {labels.shape}."
        )
    # Only a missing value differs from itself.
    if np.any(rows != rows) or np.any(labels != labels):
        raise ValueError("X and y must have no missing values: give the missing a category.")
    if sample_weight is None:
        return rows, labels, np.ones(len(rows), dtype=np.int64)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(rows),) or not np.isfinite(weight).all():
        raise ValueError(
            f"sample_weight must be {len(rows)} finite numbers, but has shape {weight.shape}."
        )
    if np.any(weight < 0) or not weight.sum() > 0:
        raise ValueError("sample_weight must be non-negative, with a positive sum.")
    whole = np.array_equal(weight, np.floor(weight)) and weight.sum() < 2**53
    return rows, labels, weight.astype(np.int64) if whole else weight
