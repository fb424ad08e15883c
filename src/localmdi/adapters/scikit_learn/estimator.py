"""A fitted scikit-learn estimator as a forest: its trees' arrays become one table of nodes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.adapters.adapted import AdaptedModel, count_targets
from localmdi.adapters.scikit_learn.in_bag_steps import steps_to_trees
from localmdi.adapters.scikit_learn.kinds import refuse, refuse_unknown
from localmdi.adapters.scikit_learn.members import Members, collect
from localmdi.adapters.scikit_learn.node_records import NodeRecords, node_offsets
from localmdi.forest import Forest, build_forest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import FloatArray, Names


def adapt_estimator(model: Any, *, values: bool, names: Names | None) -> AdaptedModel:
    """Return a fitted estimator as a forest.

    Parameters
    ----------
    model : estimator
        The fitted estimator, not a Pipeline.
    values : bool
        Whether to copy the nodes' values.
    names : sequence of str or None
        Names of its columns; None: those it was fitted with.
    """
    members = collect(model)
    n_features = int(getattr(model, "n_features_in_", members.trees[0].tree.n_features))
    _check_columns(model, members, n_features=n_features)
    _check_ordered(model, members)
    own_names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != n_features:
        names = None if own_names is None else tuple(map(str, own_names))
    header = {
        "n_features": n_features,
        "tree_weight": np.array([member.weight for member in members.trees]),
        "feature_names": None if names is None else _distinct(names),
        "criterion": members.criterion,
        "aggregation": "sum" if members.summed else "mean",
        "classes": members.classes,
        "row_dtype": "float32",
        "boosted": members.boosted,
    }
    return AdaptedModel(
        forest=_forest(members, header, values=values),
        in_bag_steps=partial(steps_to_trees, model),
        input_names=None if own_names is None else tuple(map(str, own_names)),
        n_features_in=n_features,
        finite=True,
        missing=members.missing,
        n_targets=count_targets(model),
    )


def _forest(members: Members, header: Mapping[str, Any], *, values: bool) -> Forest:
    """Return the forest, its nodes read now if their values are wanted, else when they are."""
    source = NodeRecords(members.trees, missing=members.missing)
    if not values:
        return Forest.deferred(source, tree_offset=node_offsets(members.trees), **header)
    return build_forest(
        **header, **source.columns(), value=node_values(members), base_value=members.base
    )


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` if an estimator is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except TypeError:
        refuse_unknown(model)


def _check_columns(model: Any, members: Members, *, n_features: int) -> None:
    """Refuse trees that were grown on anything but columns of X."""
    for member in members.trees:
        expected = n_features if member.columns is None else len(member.columns)
        if member.tree.n_features != expected:
            refuse(
                model,
                f"makes its own features: a tree splits {member.tree.n_features} columns, but X "
                f"has {expected}. Compute these features first, and fit the trees on them.",
            )


def _check_ordered(model: Any, members: Members) -> None:
    """Refuse trees that split categories; their thresholds would be misread."""
    tree_classes = {type(member.tree) for member in members.trees}
    # Newer versions count the categories of each feature; which name they settle on is not known.
    counts = {name for each in tree_classes for name in dir(each) if "categor" in name}
    for name in counts:
        if any(np.any(np.asarray(getattr(member.tree, name)) > 0) for member in members.trees):
            refuse(
                model,
                "splits categorical features, which cannot be read yet. Fit it on encoded "
                "columns instead, for example those of an OrdinalEncoder.",
            )


def _distinct(names: Names) -> list[str]:
    """Return names that differ; scikit-learn accepts frames in which two columns share one."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def node_values(members: Members) -> FloatArray:
    """Return the values of all nodes, in the columns of the model they belong to.

    If the prediction is a sum over trees, each tree's values are scaled to their part in it.
    """
    offsets = node_offsets(members.trees).tolist()
    values = np.zeros((offsets[-1], members.n_values))
    for member, first, end in zip(members.trees, offsets[:-1], offsets[1:], strict=True):
        own = _own_values(member.tree)
        scaled = own * member.scale if members.summed else own
        if members.summed and members.boosted:
            # Leaves hold steps, splits mean residuals: the forest takes the mean of the steps.
            scaled[member.tree.children_left >= 0] = np.nan
        if member.targets is None:
            values[first:end] = scaled
        else:
            is_kept = member.targets >= 0
            values[first:end, member.targets[is_kept]] = scaled[:, is_kept]
    values.flags.writeable = False
    return values


def _own_values(tree: Any) -> FloatArray:
    """Return a tree's values with outputs side by side, without the padding of short outputs."""
    value: FloatArray = tree.value
    n_classes = tree.n_classes.tolist()
    if len(n_classes) == 1:
        return value[:, 0, : n_classes[0]]
    return np.concatenate([value[:, k, :n] for k, n in enumerate(n_classes)], axis=1)
