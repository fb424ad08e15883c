"""Who saw which row: the rows that the trees of a forest have not seen, tree by tree.

A row is unseen by a tree if it was out of the tree's bag, or if it was held out from all trees.
What `fit` did with weights follows rules that differ between versions of a library; the weights of
the nodes show which one was used ("Weight check" in ``docs/theory/algorithms.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localmdi._text import count, quote_names
from localmdi._validation import check_target, find_missing
from localmdi.adapters import in_bag_disagreement
from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localmdi._validation import RowRules, RowSource
    from localmdi.adapters import AdaptedModel, Candidate
    from localmdi.forest import Forest
    from localmdi.forest.packing import LeafBlock, Packing
    from localmdi.typing import AnyArray, FloatArray, IntArray

# Rules are told apart by the first trees: a wrong one fits none.
_TREES_THAT_TELL = 2


class Block(NamedTuple):
    """Some trees, where all rows end in them, and which rows they have not seen.

    Parameters
    ----------
    trees : slice
        Which trees.
    leaf : ndarray of int64, shape (n_rows, n_trees)
        Nodes, numbered over the whole forest.
    held : ndarray of float64, shape (n_trees, n_rows)
        The weight of a row that the tree has not seen; 0: it has.
    in_bag : ndarray of float64, shape (n_trees, n_rows), or None
        The weight of a row that the tree has seen; None if that is not known.
    """

    trees: slice
    leaf: IntArray
    held: FloatArray
    in_bag: FloatArray | None


class Responses(NamedTuple):
    """What the rows answered, by column of the nodes' laws; shapes (n_rows, n_targets)."""

    column: AnyArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class Unseen:
    """Rows, and for every tree those that it has not seen.

    Parameters
    ----------
    packing : Packing
        Sends rows to leaves.
    rows, rules
        The rows, and what they may contain.
    responses : Responses
        Their targets.
    weight : ndarray of float64, shape (n_rows,)
        Their weights, if no tree has seen any of them.
    candidate : Candidate or None
        How they were drawn; None: no tree has seen any of them.
    groups : ndarray of int, shape (n_rows,), or None
        Rows that belong together: a tree that has seen one of a group has seen all.
    n_threads : int
        Number of threads.
    """

    packing: Packing
    rows: RowSource
    rules: RowRules
    responses: Responses
    weight: FloatArray
    candidate: Candidate | None
    groups: IntArray | None
    n_threads: int

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.packing.forest

    def __len__(self) -> int:
        return self.rows.shape[0]

    def blocks(self, *, max_trees: int | None = None) -> Iterator[Block]:
        """Yield all trees, block by block."""
        for block in self._leaf_blocks(max_trees):
            in_bag, held = None, np.tile(self.weight, (block.leaf.shape[1], 1))
            if self.candidate is not None:
                in_bag, held = self.candidate.split(block.trees.start, block.trees.stop)
                if not _agrees(self.forest, block, in_bag=in_bag):
                    raise _disagreement()
                if self.groups is not None:
                    held[_seen_by_group(in_bag, self.groups)] = 0.0
            yield Block(block.trees, block.leaf, held, in_bag)

    def find_leaves(self, part: slice) -> IntArray:
        """Return where some rows end in all trees, shape (n_rows, n_trees)."""
        blocks = self.packing.leaf_blocks(
            self.rows.part(part.start, part.stop),
            self.rules,
            n_threads=self.n_threads,
            batch_rows=part.stop - part.start,
            max_trees=self.forest.n_trees,
        )
        return np.concatenate([block.leaf for block in blocks], axis=1)

    def _leaf_blocks(self, max_trees: int | None) -> Iterator[LeafBlock]:
        return self.packing.leaf_blocks(
            self.rows,
            self.rules,
            n_threads=self.n_threads,
            batch_rows=max(1, len(self)),
            max_trees=max_trees,
        )


def out_of_bag(
    adapted: AdaptedModel,
    packing: Packing,
    *,
    rows: RowSource,
    rules: RowRules,
    y: Any,
    sample_weight: Any,
) -> Candidate:
    """Return how the training rows were drawn: the first rule that agrees with the trees."""
    n_rows = rows.shape[0]
    candidates = adapted.in_bag.candidates(n_rows, y=y, sample_weight=sample_weight)
    if len(candidates) == 1:
        return candidates[0]
    blocks = packing.leaf_blocks(
        rows, rules, n_threads=1, batch_rows=n_rows, max_trees=_TREES_THAT_TELL
    )
    first = next(iter(blocks))
    for candidate in candidates:
        in_bag = candidate.weights(first.trees.start, first.trees.stop)
        if _agrees(packing.forest, first, in_bag=in_bag):
            return candidate
    raise _disagreement()


def _agrees(forest: Forest, block: LeafBlock, *, in_bag: FloatArray) -> bool:
    wrong = in_bag_disagreement(forest, block.trees.start, leaf=block.leaf.T, weight=in_bag)
    return wrong is None


def _disagreement() -> UnsupportedModelError:
    return UnsupportedModelError(
        "the rows' weights must add up to the weight of every node, but they do not: X, y or "
        "sample_weight are not what fit got, or the model does not tell how it weighted its "
        "rows. Pass exactly what fit got as X and y, and other rows as at=; or rows that the model "
        "has not seen: held_out=(X, y)."
    )


def _seen_by_group(in_bag: FloatArray, groups: IntArray) -> AnyArray:
    """Return for each tree the rows of whose group it has seen at least one."""
    seen = np.zeros((len(in_bag), int(groups.max(initial=-1)) + 1), dtype=bool)
    tree, row = np.nonzero(in_bag)
    seen[tree, groups[row]] = True
    return seen[:, groups]


def read_groups(groups: Any, n_rows: int) -> IntArray | None:
    """Return the number of each row's group; None if there are none."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups must have one entry per row of X ({n_rows}); got shape {labels.shape}. "
            "Pass the label of each row's group, for example the patient."
        )
    if find_missing(labels).any():
        raise ValueError(
            "groups must not contain missing values. Give rows that belong to no other a label of "
            "their own."
        )
    places: dict[Any, int] = {}
    code = [places.setdefault(label, len(places)) for label in labels.tolist()]
    return np.array(code, dtype=np.int64)


def read_responses(
    y: Any, n_rows: int, *, classes: Sequence[AnyArray] | None, n_numbers: int
) -> Responses:
    """Return y by columns of the nodes' laws: of the classes of each target, or of the numbers."""
    if y is None:
        raise ValueError("y must be given: honest values need the labels of rows. Pass y.")
    target = check_target(y, n_rows)
    outputs = target[:, None] if target.ndim == 1 else target
    expected = n_numbers if classes is None else len(classes)
    if outputs.shape[1] != expected:
        raise ValueError(
            f"y must have {count(expected, 'output')}, as the model; got {outputs.shape[1]}. "
            "Pass the targets that the model was fitted to."
        )
    if classes is None:
        try:
            value = np.ascontiguousarray(outputs, dtype=np.float64)
        except (TypeError, ValueError):
            value = np.full(outputs.shape, np.nan)
        if not np.isfinite(value).all():
            raise ValueError("y must hold finite numbers, as the model is a regression.")
        column = np.broadcast_to(np.arange(expected, dtype=np.int32), value.shape)
        return Responses(np.ascontiguousarray(column), value)
    starts = np.cumsum([0, *map(len, classes)])
    codes = [
        start + _codes(output, labels)
        for output, labels, start in zip(outputs.T, classes, starts[:-1], strict=True)
    ]
    column = np.ascontiguousarray(np.stack(codes, axis=1), dtype=np.int32)
    return Responses(column, np.ones(column.shape))


def _codes(output: AnyArray, labels: AnyArray) -> IntArray:
    if find_missing(output).any():
        raise ValueError("y must not contain missing values. Remove the rows that have none.")
    place = {label: code for code, label in enumerate(labels.tolist())}
    codes = np.fromiter((place.get(label, -1) for label in output.tolist()), np.int64, len(output))
    if (codes < 0).any():
        unknown = dict.fromkeys(output[codes < 0].tolist())
        raise ValueError(
            f"y must hold classes of the model; {quote_names(unknown, most=3)} "
            f"{'is none' if len(unknown) == 1 else 'are none'} of {quote_names(labels.tolist())}."
        )
    return codes
