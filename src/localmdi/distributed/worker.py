"""What a worker does with its rows: explain them, measure a forest on them, grow trees on them.

No engine is known here. What is sent to a worker is one of the classes `RowWork`, `StatisticsWork`
and `TreeWork`, whose methods get the rows.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._criteria import find_criterion
from localmdi._validation import Categories, as_labels, from_labels, learn_categories
from localmdi.distributed.shipping import restore_forest, ship_forest
from localmdi.forest import NodeStatistics, SplitKind, build_forest
from localmdi.forest.joining import chain_nodes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from localmdi._explainer import Explainer
    from localmdi.distributed.feature_columns import FeatureColumns
    from localmdi.forest import Forest
    from localmdi.results import GlobalImportance
    from localmdi.typing import AnyArray, IntArray

Output: TypeAlias = Literal["columns", "array", "top"]
Means: TypeAlias = "dict[Hashable, GlobalImportance]"
"""Label → mean of its rows; without labels the only key is None."""

# The kernels are quickest on many rows at a time; a batch and its results stay near 32 MB.
_BATCH_ROWS = 1 << 16
_BATCH_VALUES = 1 << 21
# The columns that say which tree drew a row, and where the row was.
KEYS = ("tree", "partition", "place")

# Gaps between drawn rows are drawn so many at a time.
_GAPS = 256


@dataclass(frozen=True)
class RowWork:
    """Which columns to read, and what to return.

    Parameters
    ----------
    columns : FeatureColumns
        The features.
    names : tuple of str
        The names of the importances, one per feature of the forest.
    keep : tuple of str
        Columns that are passed through.
    output : {"columns", "array", "top"}
        The form of the importances.
    k : int
        How many features "top" names.
    """

    columns: FeatureColumns
    names: tuple[str, ...]
    keep: tuple[str, ...] = ()
    output: Output = "columns"
    k: int = 1

    @property
    def batch_rows(self) -> int:
        """How many rows to explain at a time."""
        return batch_rows_of(len(self.names), self.columns.width)

    def explain_batches(self, explainer: Explainer, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of the kept columns and the importances, in the order of the rows.

        The given batches have the kept columns first, then the features, under any names.
        """
        import pyarrow as pa

        for kept, part in self._arrow_parts(batches):
            found = self._importances(explainer, part)
            arrays = [*(column.combine_chunks() for column in kept), *found.values()]
            yield pa.RecordBatch.from_arrays(arrays, names=[*self.keep, *found])

    def explain_pandas(self, explainer: Explainer, frame: Any) -> Any:
        """Return a pandas frame of the kept columns and the importances, with the same index."""
        import pandas as pd

        parts = [
            self._as_pandas(part, self._importances(explainer, part))
            for part in cut_rows(frame, self.batch_rows)
        ]
        return pd.concat(parts) if parts else self.empty_pandas(frame)

    def explain_array(self, explainer: Explainer, block: AnyArray) -> AnyArray:
        """Return the importances of the rows of an array."""
        out = np.empty((len(block), len(self.names)))
        parts = cut_rows(block, self.batch_rows)
        outs = cut_rows(out, self.batch_rows)
        for part, values in zip(parts, outs, strict=True):
            values[:] = explainer(self.columns.rows_of(part)).values
        return out

    def empty_pandas(self, frame: Any) -> Any:
        """Return what `explain_pandas` returns for the frame without its rows."""
        return self._as_pandas(frame.iloc[:0], self._empty())

    def mean_batches(self, explainer: Explainer, batches: Iterable[Any]) -> Means:
        """Return the mean importances of the rows of Arrow batches, by the kept column's labels."""
        parts = self._arrow_parts(batches)
        return self._mean(
            explainer, ((part, [column.to_pylist() for column in kept]) for kept, part in parts)
        )

    def mean_pandas(self, explainer: Explainer, frame: Any) -> Means:
        """Return the mean importances of the rows of a pandas frame or an array."""
        parts = cut_rows(frame, self.batch_rows)
        return self._mean(
            explainer, ((part, [part[name].tolist() for name in self.keep]) for part in parts)
        )

    def _arrow_parts(self, batches: Iterable[Any]) -> Iterator[tuple[list[Any], Any]]:
        """Yield the kept columns and a table of the features for every few rows."""
        import pyarrow as pa

        n_kept = len(self.keep)
        for table in regroup(batches, self.batch_rows):
            arrays = table.columns
            yield arrays[:n_kept], pa.table(arrays[n_kept:], names=list(self.columns.names))

    def _mean(self, explainer: Explainer, parts: Iterable[tuple[Any, list[list[Any]]]]) -> Means:
        means: Means = {}
        for part, labels in parts:
            with self.columns.named_errors(part):
                result = explainer(self.columns.rows_of(part))
            found: Means = {**result.mean(by=labels[0])} if labels else {None: result.mean()}
            means = merge_means(means, found)
        return means

    def _importances(self, explainer: Explainer, part: Any) -> dict[str, Any]:
        with self.columns.named_errors(part):
            return self._explain(explainer, self.columns.rows_of(part))

    def _explain(self, explainer: Explainer, rows: Any) -> dict[str, Any]:
        import pyarrow as pa

        if self.output == "top":
            top = explainer.top(rows, self.k)
            labels = pa.array(self.names, pa.string()).take(pa.array(top.indices.ravel()))
            k = top.indices.shape[1]
            return {"feature": _lists(labels, k), "importance": _lists(top.values.ravel(), k)}
        values = np.asarray(explainer(rows).values)
        if self.output == "array":
            return {"importance": _lists(values.ravel(), values.shape[1])}
        return dict(zip(self.names, map(pa.array, np.ascontiguousarray(values.T)), strict=True))

    def _empty(self) -> dict[str, Any]:
        import pyarrow as pa

        if self.output == "columns":
            return {name: pa.array([], pa.float64()) for name in self.names}
        found = {"importance": pa.array([], pa.list_(pa.float64()))}
        if self.output == "top":
            found = {"feature": pa.array([], pa.list_(pa.string())), **found}
        return found

    def _as_pandas(self, part: Any, found: dict[str, Any]) -> Any:
        import pandas as pd

        kept = part[list(self.keep)]
        made = {
            name: array.to_numpy()
            if self.output == "columns"
            else pd.array(array, dtype=pd.ArrowDtype(array.type))
            for name, array in found.items()
        }
        return pd.concat([kept, pd.DataFrame(made, index=part.index)], axis=1)


class NoRowsYet:
    """Statistics without rows that travel with their forest, and begin every part."""

    def __init__(self, forest: Forest, criterion: str | None) -> None:
        self._sent = (forest, criterion)
        # Adding nothing prepares what the copies then share.
        nothing = np.empty((0, forest.n_features))
        self._statistics = NodeStatistics(forest, criterion).add(nothing, [])

    def __reduce__(self) -> tuple[Any, ...]:
        forest, criterion = self._sent
        return _receive, (ship_forest(forest), criterion)

    def begin(self) -> NodeStatistics:
        """Return statistics without rows."""
        return copy.copy(self._statistics)


def _receive(shipped: dict[str, Any], criterion: str | None) -> NoRowsYet:
    return NoRowsYet(restore_forest(shipped), criterion)


@dataclass(frozen=True)
class StatisticsWork:
    """Which columns to read.

    Parameters
    ----------
    columns : FeatureColumns
        The features.
    target : str
        The column of the target.
    weight : str or None
        The column of the weights.
    """

    columns: FeatureColumns
    target: str
    weight: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are no features."""
        return (self.target,) if self.weight is None else (self.target, self.weight)

    def add_batches(self, none_yet: NoRowsYet, batches: Iterable[Any]) -> NodeStatistics | None:
        """Return the statistics of the rows of Arrow batches: `beside` first, then the features."""
        import pyarrow as pa

        names = [*self.beside, *self.columns.names]
        found = none_yet.begin()
        for table in regroup(batches, batch_rows_of(len(names), self.columns.width)):
            beside = [np.asarray(column.to_numpy()) for column in table.columns[: len(self.beside)]]
            features = table.columns[len(self.beside) :]
            self._add(found, pa.table(features, names=list(self.columns.names)), beside=beside)
        return found if found.n_rows else None

    def add_pandas(self, none_yet: NoRowsYet, frame: Any) -> NodeStatistics | None:
        """Return the statistics of the rows of a pandas frame."""
        found = none_yet.begin()
        step = batch_rows_of(len(frame.columns), self.columns.width)
        for part in cut_rows(frame, step):
            self._add(found, part, beside=[part[name].to_numpy() for name in self.beside])
        return found if found.n_rows else None

    def _add(self, found: NodeStatistics, part: Any, *, beside: list[AnyArray]) -> None:
        y, *weight = beside
        with self.columns.named_errors(part):
            found.add(
                self.columns.rows_of(part), y, *(column.astype(np.float64) for column in weight)
            )


def merge_statistics(one: NodeStatistics, other: NodeStatistics) -> NodeStatistics:
    """Return the statistics of the rows of both."""
    return one.merge(other)


class RowDraws:
    """Which rows of one partition each tree gets, asked for in the order of the rows.

    Every row is drawn with the same chance. Whether it is depends on the seed, the tree, the
    partition, and the row's place in it; so a task that runs again draws the same rows.

    Parameters
    ----------
    seed, partition : int
        What the draws depend on.
    n_trees : int
        Number of trees.
    share : float
        The chance of a row to be drawn for a tree.
    """

    def __init__(self, seed: int, partition: int, *, n_trees: int, share: float) -> None:
        self._share = share
        self._random = [np.random.default_rng([seed, partition, t]) for t in range(n_trees)]
        self._ahead = [np.array([-1])] * n_trees

    def take(self, start: int, stop: int) -> tuple[IntArray, IntArray]:
        """Return tree and place of the rows drawn from those at start..stop.

        Examples
        --------
        >>> RowDraws(0, 0, n_trees=2, share=1.0).take(0, 3)
        (array([0, 0, 0, 1, 1, 1]), array([0, 1, 2, 0, 1, 2]))
        """
        found = [self._take_one(tree, start, stop=stop) for tree in range(len(self._random))]
        trees = np.repeat(np.arange(len(found)), [len(places) for places in found])
        return trees, np.concatenate(found)

    def _take_one(self, tree: int, start: int, *, stop: int) -> IntArray:
        ahead = [self._ahead[tree]]
        while ahead[-1][-1] < stop:
            # Between two rows that are drawn lies a geometric number of rows that are not.
            gaps = self._random[tree].geometric(self._share, _GAPS)
            ahead.append(ahead[-1][-1] + np.cumsum(gaps))
        places = np.concatenate(ahead)
        # The last place before the rest stays: the next gap begins there.
        first, last = np.searchsorted(places, [start, stop])
        self._ahead[tree] = places[max(last - 1, 0) :]
        return places[first:last]


@dataclass(frozen=True)
class TreeWork:
    """How trees are grown.

    Parameters
    ----------
    columns : FeatureColumns
        The features.
    target : str
        The column of the target.
    criterion : str
        The impurity; it tells classes from numbers.
    seed, n_trees, share
        As in `RowDraws`.
    growing : mapping
        Other parameters of the estimator that grows a tree.
    """

    columns: FeatureColumns
    target: str
    criterion: str
    seed: int
    n_trees: int
    share: float
    growing: Mapping[str, Any]

    def draw_batches(self, batches: Iterable[Any], partition: int) -> Iterator[Any]:
        """Yield tree, partition and place of drawn rows, and their columns."""
        import pyarrow as pa

        draws, start = self._draws(partition), 0
        for batch in batches:
            trees, places = draws.take(start, start + batch.num_rows)
            rows = batch.take(pa.array(places - start))
            keys = [trees, np.full(len(trees), partition), places]
            yield pa.RecordBatch.from_arrays(
                [*map(pa.array, keys), *rows.columns], names=[*KEYS, *rows.schema.names]
            )
            start += batch.num_rows

    def grow_table(self, table: Any) -> Any:
        """Return the tree of the drawn rows, target first, as an Arrow table of its bytes."""
        import pickle

        import pyarrow as pa

        tree = table.column(KEYS[0])[0].as_py()
        # Rows arrive in any order; the tree depends on it.
        rows = table.sort_by([(key, "ascending") for key in KEYS[1:]]).drop_columns(list(KEYS))
        rows = rows.rename_columns([self.target, *self.columns.names])
        y = np.asarray(rows.column(self.target).to_numpy())
        grown = pickle.dumps(self._grow(tree, self.columns.rows_of(rows), y=y))
        return pa.table({"tree": pa.array([tree], pa.int32()), "forest": [grown]})

    def draw_pandas(self, frame: Any, partition: int) -> list[Any]:
        """Return for each tree the drawn rows of a pandas frame."""
        trees, places = self._draws(partition).take(0, len(frame))
        return [frame.iloc[places[trees == tree]] for tree in range(self.n_trees)]

    def grow_pandas(self, parts: Sequence[Any], tree: int) -> dict[str, Any]:
        """Return the tree of the rows of all partitions, in their order."""
        import pandas as pd

        rows = pd.concat(parts)
        y = rows[self.target].to_numpy()
        return self._grow(tree, self.columns.rows_of(rows), y=y)

    def _draws(self, partition: int) -> RowDraws:
        return RowDraws(self.seed, partition, n_trees=self.n_trees, share=self.share)

    def _grow(self, tree: int, X: Any, *, y: AnyArray) -> dict[str, Any]:
        if len(y) == 0:
            raise ValueError(
                f"every tree needs rows; tree {tree} has drawn none. Use a larger sample_rows."
            )
        # Here, because no other work needs scikit-learn's estimators.
        from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

        of_classes = find_criterion(self.criterion).target == "classes"
        kind = RandomizedForestClassifier if of_classes else RandomizedForestRegressor
        settings: dict[str, Any] = {**self.growing, "criterion": self.criterion}
        settings["random_state"] = tree_seed(self.seed, tree)
        forest = kind(1, **settings).fit(X, y).forest_
        return ship_forest(replace(forest, weight=None, impurity=None, value=None, classes=None))


def tree_seed(seed: int, tree: int) -> int:
    """Return the seed that a tree is grown with."""
    return int(np.random.SeedSequence([seed, tree]).generate_state(1)[0])


def join_trees(grown: Sequence[Mapping[str, Any]]) -> Forest:
    """Return one forest of trees that have met different categories, without statistics."""
    forests = [restore_forest(dict(fields)) for fields in grown]
    first = forests[0]
    known = [_all_categories(forests, feature) for feature in range(first.n_features)]
    labels = [None if categories is None else as_labels(categories) for categories in known]
    nodes: dict[str, Any] = chain_nodes([_with_codes(forest, known) for forest in forests])
    return build_forest(
        n_features=first.n_features,
        feature_names=first.feature_names,
        criterion=first.criterion,
        row_dtype=first.row_dtype,
        categories=tuple(labels) if any(each is not None for each in labels) else None,
        **nodes,
    )


def _all_categories(forests: Sequence[Forest], feature: int) -> Categories | None:
    met = [
        from_labels(labels)
        for forest in forests
        if (labels := (forest.categories or (None,) * forest.n_features)[feature]) is not None
    ]
    if not met:
        return None
    values = learn_categories(np.concatenate([each.values for each in met])).values
    return Categories(values, any(each.has_missing for each in met))


def _with_codes(forest: Forest, known: Sequence[Categories | None]) -> Forest:
    """Return the forest with the codes of all known categories instead of its own."""
    if forest.categories is None:
        return forest
    words = np.diff(forest.category_offset)
    feature = np.repeat(
        np.where(forest.split_kind == SplitKind.MULTIWAY, forest.feature, -1), words
    )
    codes = forest.category_bits.copy()
    for j, (labels, categories) in enumerate(zip(forest.categories, known, strict=True)):
        if labels is not None and categories is not None:
            codes[feature == j] = categories.encode(labels)[codes[feature == j].astype(np.int64)]
    # The names come with the joined forest, which has the categories that these codes count.
    return replace(forest, category_bits=codes, categories=None)


def merge_means(one: Means, other: Means) -> Means:
    """Return the means of the rows behind both."""
    from localmdi.results import GlobalImportance

    merged = {**one}
    for label, mean in other.items():
        before = one.get(label)
        merged[label] = mean if before is None else GlobalImportance.merge([before, mean])
    return merged


def batch_rows_of(n_columns: int, width: int | None) -> int:
    """Return how many rows to work on at a time, of so many columns or so long vectors."""
    return max(64, min(_BATCH_ROWS, _BATCH_VALUES // max(n_columns, width or 1)))


def cut_rows(frame: Any, n_rows: int) -> Iterator[Any]:
    """Yield parts of `n_rows` rows, the last one shorter, of a pandas frame or an array."""
    rows = frame if isinstance(frame, np.ndarray) else frame.iloc
    for start in range(0, len(frame), n_rows):
        yield rows[start : start + n_rows]


def regroup(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of `n_rows` rows, the last one shorter, from batches of any size.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = [pa.record_batch({"a": [1, 2, 3]}), pa.record_batch({"a": [4, 5]})]
    >>> [table["a"].to_pylist() for table in regroup(batches, 2)]
    [[1, 2], [3, 4], [5]]
    """
    import pyarrow as pa

    held: list[Any] = []
    n_held = 0
    for batch in batches:
        start = 0
        while batch.num_rows - start >= n_rows - n_held:
            taken = n_rows - n_held
            yield pa.Table.from_batches([*held, batch.slice(start, taken)])
            held, n_held, start = [], 0, start + taken
        if start < batch.num_rows:
            held.append(batch.slice(start))
            n_held += batch.num_rows - start
    if held:
        yield pa.Table.from_batches(held)


def _lists(values: Any, length: int) -> Any:
    """Return the values as an Arrow array of lists of one length."""
    import pyarrow as pa

    flat = pa.array(values)
    offsets = np.arange(0, len(flat) + 1, length, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat)
