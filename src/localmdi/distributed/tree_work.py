"""What workers do to grow trees: draw each tree's rows where they are, then grow it on them.

Every row is in every tree's sample with the same chance. Whether it is depends on the seed, the
tree, the partition, and the row's place in it; so a task that runs again draws the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import find_criterion
from localmdi._validation import Categories, as_labels, from_labels, learn_categories
from localmdi.distributed.shipping import restore_forest, ship_forest
from localmdi.forest import SplitKind, build_forest
from localmdi.forest.joining import chain_nodes
from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from localmdi.distributed.feature_columns import FeatureColumns
    from localmdi.forest import Forest
    from localmdi.typing import AnyArray, IntArray

__all__ = ["KEYS", "RowDraws", "TreeWork", "join_trees", "tree_seed"]

# The columns that say which tree drew a row, and where the row was.
KEYS = ("tree", "partition", "place")

# Gaps between drawn rows are drawn so many at a time.
_GAPS = 256


class RowDraws:
    """Which rows of one partition each tree gets, asked for in the order of the rows.

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
