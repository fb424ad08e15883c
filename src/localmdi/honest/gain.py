"""Honest gain: what splits tell about rows that their trees have not seen.

Each tree has node laws p, from the rows it was grown on, and q, from rows that it has not seen.
Honest credits are linear in q ("Honest values" in ``docs/theory/algorithms.md``). Blocks of trees
pass by one after the other: their rows are routed once, the sums of their nodes are made, and the
unseen rows climb from their leaves to the root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from localmdi import _core
from localmdi._criteria import find_criterion
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError
from localmdi.forest.credit import Credit, find_laws, impurity_drop
from localmdi.forest.packing import Packing
from localmdi.honest.account import EndSums, fixed_fields
from localmdi.importance.local import LocalRequest, explain
from localmdi.results import LocalImportance
from localmdi.results.p_values import LABEL_DEGREES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localmdi._validation import RowSource
    from localmdi.forest import Forest
    from localmdi.forest.credit import Laws
    from localmdi.honest.account import Ends
    from localmdi.honest.unseen import Block, Unseen
    from localmdi.typing import AnyArray, FloatArray, IntArray

ErrorOf: TypeAlias = Literal["trees", "labels", "both"]

# Label errors come from so many random signs of the held-out residuals, some at a time.
_SIGNS = LABEL_DEGREES
_SIGNS_AT_ONCE = 8
# With signs, nodes have many sums: fewer trees pass at a time.
_TREES_WITH_SIGNS = 16
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class GainRules:
    """How the gain is measured: what an edge needs, and what errors to give."""

    min_rows: int = 10
    error: ErrorOf | None = None
    seed: int = 0


class GainTrees(NamedTuple):
    """Some trees, their rows routed and their sums made."""

    kernel: _core.HonestTrees
    rows: _core.RoutedRows
    block: Block
    tree_weight: FloatArray


def gain_rows(unseen: Unseen, rules: GainRules) -> tuple[LocalImportance, Ends]:
    """Explain rows, each by the trees that did not see it, without its own label."""
    forest = unseen.forest
    total, sums = _Sums(unseen, squares=rules.error in ("trees", "both")), EndSums(unseen)
    for trees in sum_blocks(unseen, rules.min_rows):
        total.add(trees, unseen.n_threads)
        sums.add(trees.block)
    ends = sums.result()
    values = _divide(total.values, total.weight)
    variance = None if total.squares is None else _tree_variance(total, values)
    if rules.error in ("labels", "both"):
        labels = np.zeros(values.shape)
        for signs in _sign_groups(unseen, rules):
            part = _Sums(unseen, n_signs=signs.shape[1])
            for trees in sum_blocks(unseen, rules.min_rows, signs=signs):
                part.add(trees, unseen.n_threads)
            labels += (_divide(part.signed_values, total.weight) ** 2).sum(axis=2) / _SIGNS
        variance = labels if variance is None else variance + labels
    result = LocalImportance(
        values,
        standard_error=None if variance is None else np.sqrt(variance),
        error_kind=rules.error or "trees",
        row_weight=ends.unequal_weight(total.weight > 0),
        unit=str(forest.unit),
        measure="gain",
        honest=True,
        **fixed_fields(forest, unseen.rows),
    )
    return result, ends


def gain_at(unseen: Unseen, rules: GainRules, *, at: RowSource) -> tuple[LocalImportance, Ends]:
    """Explain other rows by all trees that know something, by rows that they have not seen."""
    forest, sums = unseen.forest, EndSums(unseen)
    amount = np.empty(forest.n_nodes)
    for trees in sum_blocks(unseen, rules.min_rows):
        trees.kernel.credits(amount, None)
        sums.add(trees.block)
    ends = sums.result()
    known = ends.unseen_share > 0
    if not known.all():
        forest = replace(forest, tree_weight=np.where(known, forest.tree_weight, 0.0))
    credit = Credit(amount, str(forest.unit), measure="gain", honest=True)
    local = LocalRequest(unseen.n_threads, unseen.rules, rules.error in ("trees", "both"))
    result = explain(Packing(forest, credit), at, request=local)
    result = replace(result, error_kind=rules.error or "trees")
    if rules.error in (None, "trees"):
        return result, ends
    labels = np.zeros(result.shape)
    plain = LocalRequest(unseen.n_threads, unseen.rules)
    for signs in _sign_groups(unseen, rules):
        amounts = np.empty((signs.shape[1], forest.n_nodes))
        unsigned = np.empty(forest.n_nodes)
        for trees in sum_blocks(unseen, rules.min_rows, signs=signs):
            trees.kernel.credits(unsigned, amounts)
        for amount in amounts:
            signed = explain(Packing(forest, replace(credit, amount=amount)), at, request=plain)
            labels += signed.values**2 / _SIGNS
    if result.standard_error is not None:
        labels += np.asarray(result.standard_error) ** 2
    return replace(result, standard_error=np.sqrt(labels)), ends


def sum_blocks(
    unseen: Unseen, min_rows: int, *, signs: AnyArray | None = None
) -> Iterator[GainTrees]:
    """Yield all trees, with the sums of their nodes."""
    forest, n_threads = unseen.forest, unseen.n_threads
    laws = laws_of(forest)
    criterion = _core.Criterion(find_criterion(forest.criterion).kernel)
    rules = _core.HonestRules(criterion, min(int(min_rows), _LARGEST))
    n_signs = 0 if signs is None else signs.shape[1]
    for block in unseen.blocks(max_trees=_TREES_WITH_SIGNS if n_signs else None):
        kernel = _core.HonestTrees(
            forest.node_table,
            block.trees.start,
            laws.law,
            np.ascontiguousarray(laws.n_outputs[block.trees]),
            rules,
            n_signs,
        )
        routed = _core.RoutedRows(block.leaf, block.held, *unseen.responses, signs)
        kernel.add(routed, n_threads)
        kernel.sum_up(n_threads)
        kernel.set_forms(n_threads)
        tree_weight = np.ascontiguousarray(forest.tree_weight[block.trees])
        yield GainTrees(kernel, routed, block, tree_weight)


class _Sums:
    """What the kernel adds up over trees for every row."""

    def __init__(self, unseen: Unseen, *, squares: bool = False, n_signs: int = 0) -> None:
        shape = (len(unseen), unseen.forest.n_features)
        self.values = np.zeros(shape)
        self.squares = np.zeros(shape) if squares else None
        self.signed_values = np.zeros((*shape, n_signs))
        self.weight, self.weight_squares = np.zeros(shape[0]), np.zeros(shape[0])
        self.kernel = _core.HonestSums(
            values=self.values,
            squares=self.squares,
            signed_values=self.signed_values if n_signs else None,
            weight=self.weight,
        )

    def add(self, trees: GainTrees, n_threads: int) -> None:
        """Add what some trees say."""
        trees.kernel.explain(trees.rows, trees.tree_weight, self.kernel, n_threads)
        self.weight_squares += (trees.block.held > 0).T @ trees.tree_weight**2


def _sign_groups(unseen: Unseen, rules: GainRules) -> Iterator[AnyArray]:
    """Yield random signs, (n_rows, signs) at a time, the same in every pass.

    Rows of a group share theirs: what one of them is, all may be.
    """
    rng = np.random.default_rng(rules.seed)
    groups: IntArray | slice = slice(None) if unseen.groups is None else unseen.groups
    n = len(unseen) if unseen.groups is None else int(unseen.groups.max()) + 1
    for _ in range(_SIGNS // _SIGNS_AT_ONCE):
        signs = rng.integers(0, 2, size=(n, _SIGNS_AT_ONCE), dtype=np.int8)
        yield np.ascontiguousarray((signs * np.int8(2) - np.int8(1))[groups])


def laws_of(forest: Forest) -> Laws:
    """Return the laws of the target at the nodes, which every honest gain needs."""
    fitting = "squared_error" if forest.classes is None else "entropy"
    if forest.boosted and forest.aggregation == "sum":
        raise UnsupportedModelError(
            "honest values need trees whose nodes tell about the target; these are boosted: each "
            "tree predicts what the ones before it left. Use "
            f"as_forest(model).with_statistics(X, y, criterion={fitting!r}) with what fit got."
        )
    laws = find_laws(forest, impurity_drop(forest))
    if laws is None:
        raise MissingStatisticsError(
            "honest values need the distribution of the target at every node, by criterion "
            "entropy, gini or squared_error; this forest does not have it. Explain its members one "
            f"by one, or use as_forest(model).with_statistics(X, y, criterion={fitting!r}) and "
            "rows that no tree has seen, held_out=(X, y)."
        )
    return laws


def _divide(sums: FloatArray, weight: FloatArray) -> FloatArray:
    """Return means; NaN for rows that every tree has seen."""
    divisor = np.where(weight > 0, weight, np.nan).reshape(-1, *[1] * (sums.ndim - 1))
    means: FloatArray = sums / divisor
    return means


def _tree_variance(total: _Sums, mean: FloatArray) -> FloatArray:
    """Return the variance of the mean over the trees that did not see a row."""
    spread = np.maximum(_divide(np.asarray(total.squares), total.weight) - mean**2, 0.0)
    effective = total.weight_squares / np.where(total.weight > 0, total.weight, np.nan) ** 2
    scale = np.divide(
        effective, 1 - effective, out=np.full_like(effective, np.nan), where=effective < 1
    )
    variance: FloatArray = spread * scale[:, None]
    return variance
