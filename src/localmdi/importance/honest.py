"""Honest values: what splits tell about rows that their trees have not seen.

Each tree has node laws p, from the rows it was grown on, and q, from rows that are held out: out of
its bag, or given apart. Honest credits are linear in q ("Honest values" in
``docs/theory/algorithms.md``). Blocks of trees pass by one after the other: their rows are routed
once, the sums of their nodes are made, and the held-out rows climb from their leaves to the root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from localmdi import _core
from localmdi._criteria import find_criterion
from localmdi._text import count, quote_names
from localmdi._validation import check_target, find_missing
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError
from localmdi.forest.credit import Credit, find_laws, impurity_drop
from localmdi.forest.packing import Packing
from localmdi.importance.local import LocalRequest, explain
from localmdi.results import GlobalImportance, LocalImportance
from localmdi.results.p_values import LABEL_DEGREES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from localmdi._validation import RowRules, RowSource
    from localmdi.forest import Forest
    from localmdi.forest.credit import Laws
    from localmdi.forest.packing import LeafBlock
    from localmdi.typing import AnyArray, FloatArray, IntArray, Measure

__all__ = ["ErrorOf", "HeldOut", "HonestRequest", "honest_at", "honest_global", "honest_rows"]

ErrorOf: TypeAlias = Literal["trees", "labels", "both"]

# Label errors come from so many random signs of the held-out residuals, some at a time.
_SIGNS = LABEL_DEGREES
_SIGNS_AT_ONCE = 8
# With signs, nodes have many sums: fewer trees pass at a time.
_TREES_WITH_SIGNS = 16


@dataclass(frozen=True)
class HonestRequest:
    """How to be honest: everything but the forest and the rows."""

    measure: Measure = "gain"
    min_rows: int = 10
    error: ErrorOf | None = None
    n_threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.measure not in ("drop", "gain"):
            raise ValueError(
                f"measure must be 'drop' or 'gain'; got {self.measure!r}. "
                "Use 'gain' to find features, 'drop' to see what is left."
            )
        whole = isinstance(self.min_rows, (int, np.integer)) and not isinstance(self.min_rows, bool)
        if not whole or self.min_rows < 1:
            raise ValueError(
                f"min_rows must be a positive whole number; got {self.min_rows!r}. "
                "Use 10 if in doubt."
            )
        if self.error not in (None, "trees", "labels", "both"):
            raise ValueError(
                "standard_error must be False, True, 'trees', 'labels' or 'both'; "
                f"got {self.error!r}. Use 'labels' to test whether a feature tells anything."
            )
        if self.error in ("labels", "both") and self.measure == "drop":
            raise ValueError(
                "label errors need measure='gain'; got measure='drop', whose values are not 0 on "
                "average where a feature tells nothing. Use standard_error='trees'."
            )


class HeldOut(NamedTuple):
    """Rows, and for each tree which of them it has not seen."""

    rows: RowSource
    rules: RowRules
    y: Any
    weights: Callable[[LeafBlock], FloatArray]
    """The weights of unseen rows in the trees of a block, (n_trees, n_rows); 0 for seen ones."""


class _Responses(NamedTuple):
    column: AnyArray
    value: FloatArray


def honest_rows(packing: Packing, held_out: HeldOut, *, request: HonestRequest) -> LocalImportance:
    """Explain the held-out rows, each by the trees that did not see it, without its own label."""
    forest, rows = packing.forest, held_out.rows
    shape = (rows.shape[0], forest.n_features)
    source = _Source(packing, held_out, request=request)
    total = _Sums(shape, request, n_signs=0)
    for block in source.blocks():
        block.explain(total, _core.Label.left_out)
    weight = total.weight
    values = _divide(total.values, weight)
    variance = _tree_variance(total, values) if request.error in ("trees", "both") else None
    if request.error in ("labels", "both"):
        labels = np.zeros(shape)
        for signs in source.sign_groups():
            part = _Sums(shape, request, n_signs=signs.shape[1])
            for block in source.blocks(signs):
                block.explain(part, _core.Label.left_out)
            labels += (_divide(part.signed_values, weight) ** 2).sum(axis=2) / _SIGNS
        variance = labels if variance is None else variance + labels
    drop = request.measure == "drop"
    return LocalImportance(
        values,
        _divide(total.baseline, weight) if drop else None,
        residual=_divide(total.residual, weight) if drop else None,
        standard_error=None if variance is None else np.sqrt(variance),
        error=request.error or "trees",
        row_weight=None if weight.all() else (weight > 0).astype(np.float64),
        **_labels(forest, rows, unit=source.unit),
        measure=request.measure,
        honest=True,
    )


def honest_at(
    packing: Packing,
    held_out: HeldOut,
    *,
    rows: RowSource,
    rules: RowRules,
    request: HonestRequest,
) -> LocalImportance:
    """Explain other rows by all trees."""
    source = _Source(packing, held_out, request=request)
    credit, forest, _ = source.credit()
    local = LocalRequest(request.n_threads, rules, request.error in ("trees", "both"))
    result = explain(Packing(forest, credit), rows, request=local)
    result = replace(result, error=request.error or "trees")
    if request.error in (None, "trees"):
        return result
    labels = np.zeros(result.shape)
    plain = LocalRequest(request.n_threads, rules)
    for signs in source.sign_groups():
        for amount in source.signed_amounts(signs):
            signed = explain(Packing(forest, replace(credit, amount=amount)), rows, request=plain)
            labels += signed.values**2 / _SIGNS
    if result.standard_error is not None:
        labels += np.asarray(result.standard_error) ** 2
    return replace(result, standard_error=np.sqrt(labels))


def honest_global(
    packing: Packing, held_out: HeldOut, *, request: HonestRequest, over: str
) -> GlobalImportance:
    """Return the mean honest importance over the held-out rows, or over those of the trees.

    The first is MDI-oob (Li et al. 2019), with the error of the sample of rows; the second is UFI
    (Zhou and Hooker 2021), with the error over trees.
    """
    source = _Source(packing, held_out, request=request)
    if over == "in_bag":
        return source.in_bag_mean()
    forest, n_rows = packing.forest, held_out.rows.shape[0]
    total = _Sums((n_rows, forest.n_features), request, n_signs=0)
    trees = np.zeros(forest.n_trees)
    for block in source.blocks():
        share = block.held.sum(axis=1)
        trees[block.trees] = np.where(share > 0, forest.tree_weight[block.trees], 0.0)
        block.explain(total, _core.Label.alone, mean_of=share / n_rows)
    values = total.values / trees.sum()
    return GlobalImportance(
        values.mean(axis=0),
        unit=source.unit,
        feature_names=forest.names_for(held_out.rows.names),
        n_trees=forest.n_trees,
        standard_error=values.std(axis=0, ddof=1) / np.sqrt(n_rows) if n_rows > 1 else None,
        error="sample",
        measure=request.measure,
        honest=True,
        frame_type=held_out.rows.frame_type,
    )


class _Sums:
    """What the kernel adds up over trees for every row."""

    def __init__(self, shape: tuple[int, int], request: HonestRequest, *, n_signs: int) -> None:
        drop = request.measure == "drop"
        self.values = np.zeros(shape)
        self.squares = np.zeros(shape) if request.error in ("trees", "both") else None
        self.signed_values = np.zeros((*shape, n_signs))
        self.residual, self.baseline = np.zeros(shape[0]), np.zeros(shape[0])
        self.weight, self.weight_squares = np.zeros(shape[0]), np.zeros(shape[0])
        self.kernel = _core.HonestSums(
            values=self.values,
            squares=self.squares,
            signed_values=self.signed_values if n_signs else None,
            residual=self.residual if drop else None,
            baseline=self.baseline if drop else None,
            weight=self.weight,
        )


class _Block(NamedTuple):
    """Some trees, their rows routed and their sums made."""

    kernel: _core.HonestTrees
    rows: _core.RoutedRows
    trees: slice
    held: FloatArray
    tree_weight: FloatArray
    n_threads: int

    def explain(
        self, total: _Sums, label: _core.Label, *, mean_of: FloatArray | None = None
    ) -> None:
        weight = self.tree_weight
        if mean_of is not None:
            weight = np.divide(weight, mean_of, out=np.zeros_like(weight), where=mean_of > 0)
        self.kernel.explain(self.rows, weight, label, total.kernel, self.n_threads)
        if total.squares is not None:
            total.weight_squares += (self.held > 0).T @ weight**2


class _Source:
    """The forest, its laws, and the rows that its trees have not seen, block by block of trees."""

    def __init__(self, packing: Packing, held_out: HeldOut, *, request: HonestRequest) -> None:
        self._packing = packing
        self._held_out = held_out
        self._request = request
        self._chosen_prior: float | None = None
        forest = packing.forest
        if forest.boosted and request.error in ("trees", "both"):
            raise ValueError(
                "boosted trees are no sample of trees, so that there is no error over them; got "
                f"standard_error={request.error!r}. Use measure='gain' with 'labels'."
            )
        self._laws = _laws_of(forest, request.measure)
        self.unit = str(forest.unit)
        self._responses = _read_responses(held_out.y, held_out.rows.shape[0], forest=forest)
        self._rules = _core.HonestRules(
            _core.Criterion(find_criterion(forest.criterion).kernel),
            _core.Measure.drop if request.measure == "drop" else _core.Measure.gain,
            min(int(request.min_rows), 2**63 - 1),  # the kernel's largest number
        )

    def sign_groups(self) -> Iterator[AnyArray]:
        """Yield random signs, (n_rows, signs) at a time; the same in every pass."""
        rng = np.random.default_rng(self._request.seed)
        shape = (self._held_out.rows.shape[0], _SIGNS_AT_ONCE)
        for _ in range(_SIGNS // _SIGNS_AT_ONCE):
            yield rng.integers(0, 2, size=shape, dtype=np.int8) * np.int8(2) - np.int8(1)

    def blocks(self, signs: AnyArray | None = None) -> Iterator[_Block]:
        """Yield all trees, with the sums of their nodes."""
        forest, n_threads = self._packing.forest, self._request.n_threads
        rows, rules, _, weights = self._held_out
        n_signs = 0 if signs is None else signs.shape[1]
        found = False
        for block in self._packing.leaf_blocks(
            rows,
            rules,
            n_threads=n_threads,
            batch_rows=max(1, rows.shape[0]),
            max_trees=_TREES_WITH_SIGNS if n_signs else None,
        ):
            held = weights(block)
            found = found or bool(held.any())
            kernel = _core.HonestTrees(
                forest.node_table,
                block.trees.start,
                self._laws.law,
                np.ascontiguousarray(self._laws.n_outputs[block.trees]),
                self._rules,
                n_signs,
            )
            routed = _core.RoutedRows(block.leaf, held, *self._responses, signs)
            kernel.add(routed, n_threads)
            kernel.sum_up(n_threads)
            kernel.set_forms(forest.statistic("weight"), self._prior(kernel), n_threads)
            tree_weight = np.ascontiguousarray(forest.tree_weight[block.trees])
            yield _Block(kernel, routed, block.trees, held, tree_weight, n_threads)
        if not found:
            raise UnsupportedModelError(
                "some tree must not have seen some row, but every tree saw all of them. Fit with "
                "bootstrap=True, or pass rows that the model has not seen: held_out=(X, y)."
            )

    def _prior(self, kernel: _core.HonestTrees) -> float:
        """Return for how many rows a parent's law counts in that of its child.

        Only the entropy's drop needs one: the one with the least loss in the first trees.
        """
        forest = self._packing.forest
        if self._request.measure == "gain" or find_criterion(forest.criterion).name != "entropy":
            return 1.0
        if self._chosen_prior is None:
            self._chosen_prior = kernel.choose_prior(forest.statistic("weight"))
        return self._chosen_prior

    def credit(self) -> tuple[Credit, Forest, FloatArray]:
        """Return the credits for other rows, their forest, and how many rows reached each node.

        Trees without a held-out row know nothing: they have no weight.
        """
        forest = self._packing.forest
        amount = np.empty(forest.n_nodes)
        remainder = np.empty(forest.n_nodes) if self._request.measure == "drop" else None
        reached = np.empty(forest.n_nodes)
        for block in self.blocks():
            block.kernel.credits(amount, remainder, None)
            block.kernel.counts(reached)
        known = reached[forest.tree_offset[:-1]] > 0
        if not known.all():
            forest = replace(forest, tree_weight=np.where(known, forest.tree_weight, 0.0))
        credit = Credit(amount, self.unit, remainder, measure=self._request.measure, honest=True)
        return credit, forest, reached

    def signed_amounts(self, signs: AnyArray) -> FloatArray:
        """Return the amounts with the residuals of the held-out rows times signs."""
        n_nodes = self._packing.forest.n_nodes
        amount, signed = np.empty(n_nodes), np.empty((signs.shape[1], n_nodes))
        for block in self.blocks(signs):
            block.kernel.credits(amount, None, signed)
        return signed

    def in_bag_mean(self) -> GlobalImportance:
        """Return the mean over the rows that the trees were grown on."""
        from localmdi.importance.global_ import global_importance

        credit, forest, reached = self.credit()
        amount = credit.amount.copy()
        # A split is skipped if no held-out row takes one of its edges.
        parent = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_offset))
        skipped = np.bincount(parent, weights=reached[forest.child] == 0, minlength=forest.n_nodes)
        amount[forest.child] *= skipped[parent] == 0
        return global_importance(forest, replace(credit, amount=amount, remainder=None))


def _fitting(forest: Forest) -> str:
    """Return a criterion for the kind of target that the trees predict."""
    return "squared_error" if forest.classes is None else "entropy"


def _laws_of(forest: Forest, measure: Measure) -> Laws:
    if forest.boosted and forest.aggregation == "sum":
        raise UnsupportedModelError(
            "honest values need trees whose nodes tell about the target; these are boosted: each "
            "tree predicts what the ones before it left. Use "
            f"as_forest(model).with_statistics(X, y, criterion={_fitting(forest)!r}) with what fit "
            "got."
        )
    laws = find_laws(forest, impurity_drop(forest))
    several = 1 if forest.classes is None else len(forest.classes)
    if laws is not None and (measure == "gain" or (laws.n_outputs == several).all()):
        return laws
    if laws is not None and forest.classes is None:
        return laws
    raise MissingStatisticsError(
        "honest values need the distribution of the target at every node, by criterion entropy, "
        "gini or squared_error; this forest does not have it. Explain its members one by one, or "
        f"use as_forest(model).with_statistics(X, y, criterion={_fitting(forest)!r}) and rows "
        "that no tree has seen, held_out=(X, y)."
    )


def _read_responses(y: Any, n_rows: int, *, forest: Forest) -> _Responses:
    """Return y by columns of the nodes' laws."""
    target = check_target(y, n_rows)
    outputs = target[:, None] if target.ndim == 1 else target
    classes = forest.classes
    expected = forest.statistic("value").shape[1] if classes is None else len(classes)
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
        return _Responses(np.ascontiguousarray(column), value)
    starts = np.cumsum([0, *map(len, classes)])
    codes = [
        start + _codes(output, labels)
        for output, labels, start in zip(outputs.T, classes, starts[:-1], strict=True)
    ]
    column = np.ascontiguousarray(np.stack(codes, axis=1), dtype=np.int32)
    return _Responses(column, np.ones(column.shape))


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


def _labels(forest: Forest, rows: RowSource, *, unit: str) -> dict[str, Any]:
    return {
        "unit": unit,
        "feature_names": forest.names_for(rows.names),
        "n_trees": forest.n_trees,
        "data": rows.data,
        "row_labels": rows.row_labels,
        "frame_type": rows.frame_type,
        "groups": rows.groups,
    }


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
