"""Several forests as one: the trees of an ensemble whose members are forests themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.exceptions import InvalidForestError
from localmdi.forest.forest import Forest, build_forest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import AnyArray, FloatArray, IntArray

_SHARED = ("n_features", "criterion", "row_dtype")


def join_forests(
    forests: Sequence[Forest],
    *,
    weights: FloatArray | None = None,
    columns: Sequence[IntArray] | None = None,
    n_features: int | None = None,
) -> Forest:
    """Return one forest whose prediction is the weighted mean of the members'.

    Parameters
    ----------
    forests : sequence of Forest
        The members; they must agree in criterion, type of rows and number of values.
    weights : ndarray or None
        What each member counts for; None: the same.
    columns : sequence of ndarray of int, or None
        For each member the column of X that each of its features is; None: the same.
    n_features : int or None
        Number of columns of X, where `columns` are given.
    """
    share = np.ones(len(forests)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = share / share.sum()
    if columns is not None:
        pairs = zip(forests, columns, strict=True)
        forests = [_moved(each, column, n_features=n_features or 0) for each, column in pairs]
    first = forests[0]
    for field in _SHARED:
        if len({getattr(each, field) for each in forests}) > 1:
            raise InvalidForestError(
                f"forests that are joined must have the same {field}; got "
                f"{sorted({str(getattr(each, field)) for each in forests})}."
            )
    for field in ("column_rule", "categories"):
        if len({str(getattr(each, field)) for each in forests}) > 1:
            raise InvalidForestError(f"forests that are joined must have the same {field}.")
    arrays = _arrays(forests, share)
    return build_forest(
        n_features=first.n_features,
        feature_names=first.feature_names,
        criterion=first.criterion,
        aggregation="sum",
        row_dtype=first.row_dtype,
        classes=first.classes,
        categories=first.categories,
        column_rule=first.column_rule,
        boosted=any(each.boosted for each in forests),
        **arrays,
    )


def chain_nodes(forests: Sequence[Forest]) -> dict[str, AnyArray]:
    """Return the trees of some forests one after the other, with the statistics that all know."""
    n_nodes = np.cumsum([0, *(each.n_nodes for each in forests)])
    arrays: dict[str, AnyArray] = {
        name: np.concatenate([getattr(each, name) for each in forests])
        for name in ("feature", "split_kind", "threshold", "missing_child", "category_bits")
    }
    arrays["tree_offset"] = _chained([each.tree_offset for each in forests])
    arrays["child_offset"] = _chained([each.child_offset for each in forests])
    arrays["category_offset"] = _chained([each.category_offset for each in forests])
    arrays["child"] = np.concatenate(
        [each.child + first for each, first in zip(forests, n_nodes[:-1], strict=True)]
    )
    for name in ("weight", "impurity"):
        known = [getattr(each, name) for each in forests]
        if all(part is not None for part in known):
            arrays[name] = np.concatenate(known)
    for array in arrays.values():
        array.flags.writeable = False  # so that the forest keeps it without a copy
    return arrays


def _arrays(forests: Sequence[Forest], share: FloatArray) -> dict[str, Any]:
    arrays: dict[str, Any] = chain_nodes(forests)
    pairs = list(zip(forests, share.tolist(), strict=True))
    arrays["tree_weight"] = np.concatenate(
        [each.tree_weight * part / each.tree_weight.sum() for each, part in pairs]
    )
    if all(each.value is not None for each in forests):
        if len({each.statistic("value").shape[1] for each in forests}) > 1:
            raise InvalidForestError("forests that are joined must have as many values.")
        arrays["value"] = np.concatenate(
            [
                each.statistic("value")
                * np.repeat(each.tree_scale * part, np.diff(each.tree_offset))[:, None]
                for each, part in pairs
            ]
        )
        starts = [part * each.base_value for each, part in pairs if each.base_value is not None]
        arrays["base_value"] = np.sum(starts, axis=0) if starts else None
    return arrays


def _chained(offsets: Sequence[IntArray]) -> IntArray:
    """Return offsets of parts that stand one after the other."""
    sizes = np.concatenate([np.diff(part) for part in offsets])
    return np.concatenate([[0], np.cumsum(sizes)])


def _moved(forest: Forest, column: IntArray, *, n_features: int) -> Forest:
    """Return a forest over more columns."""
    if forest.n_features == n_features and np.array_equal(column, np.arange(n_features)):
        return forest
    if len(column) != forest.n_features:
        raise InvalidForestError(
            f"a member with {forest.n_features} features must have as many columns; "
            f"got {len(column)}."
        )
    feature = np.where(forest.feature < 0, -1, column[forest.feature]).astype(np.int32)
    rule: AnyArray | None = None
    if forest.column_rule is not None:
        # Rules of columns that this member does not see are those of its first.
        rule = np.full(n_features, forest.column_rule[0], dtype=np.uint8)
        rule[column] = forest.column_rule
    fields = {name: value for name, value in vars(forest).items() if not name.startswith("_")}
    fields |= {"n_features": n_features, "feature": feature, "column_rule": rule}
    fields |= {"feature_names": None, "categories": None}
    return Forest(**fields)
