"""`local_interactions`: pairs of features on the paths of rows in a fitted forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from localmdi._validation import count_threads
from localmdi.adapters import adapt
from localmdi.forest.credit import impurity_drop
from localmdi.forest.packing import Packing
from localmdi.importance import PairIndex, PairRequest, explain_pairs
from localmdi.results.fields import as_choice

if TYPE_CHECKING:
    from localmdi.results import PairImportance
    from localmdi.typing import FittedModel, RowsLike

_TOP = 20


def local_interactions(
    model: FittedModel,
    X: RowsLike,
    *,
    pairs: Literal["top", "all"] | int = "top",
    index: PairIndex = "conditional",
    training: RowsLike | None = None,
    n_jobs: int | None = None,
) -> PairImportance:
    """Explain rows by pairs of features: what one told after another, or how two interact.

    Parameters
    ----------
    model : fitted estimator, Forest, or object with ``__to_forest__()``
        See `as_forest`.
    X : array, SciPy sparse matrix, or pandas, polars or pyarrow table
        The rows to explain.
    pairs : {"top", "all"} or int
        Which pairs the result lists: the 20 with the largest mean absolute value, as many as this
        number says, or all that occur (``values`` is then sparse). What the others add up to is
        ``rest``.
    index : {"conditional", "SII", "STII", "FSII"}
        "conditional", for any forest, decomposes local MDI: what a split removes is shared equally
        among the other features split above it on the row's path; what is removed before any other
        feature was split stays with the feature alone. Added up over the second features this is
        exactly `local_mdi`. The others estimate the Shapley interaction index, Shapley–Taylor and
        Faith-Shap of order two, whose exact values `infinite_interactions` computes: synergy is
        positive, redundancy negative. They are unbiased for fully grown totally randomized
        trees (K = 1) without bootstrap on features that a single split uses up: of two values, or
        categorical and split exhaustively.
    training : like X, optional
        The rows that the trees were grown on; needed for the indices only, to know which features
        vary in a node.
    n_jobs : int or None
        As in `local_mdi`.

    Returns
    -------
    PairImportance

    Examples
    --------
    An exclusive or: neither input tells anything before the other is known.

    >>> import numpy as np
    >>> from localmdi import RandomizedForestClassifier
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> model = RandomizedForestClassifier(100, random_state=0).fit(X, y)
    >>> result = local_interactions(model, X)
    >>> result.names
    ('x0 after x1', 'x1 after x0')
    >>> result.values.sum(axis=1)
    array([1., 1., 1., 1.])
    >>> local_interactions(model, X, index="SII", training=X).mean().round(1)
    array([1.])
    """
    as_choice("index", index, choices=get_args(PairIndex))
    adapted = adapt(model)
    if index != "conditional":
        _check_totally_randomized(model, index)
    request = PairRequest(
        index,
        _count_pairs(pairs),
        count_threads(n_jobs),
        adapted.rules,
        training=None if training is None else adapted.read(training),
    )
    packing = Packing(adapted.forest, impurity_drop(adapted.forest))
    return explain_pairs(packing, adapted.read(X), request=request)


def _count_pairs(pairs: object) -> int | None:
    if pairs == "top":
        return _TOP
    if pairs == "all":
        return None
    if isinstance(pairs, int) and not isinstance(pairs, bool) and pairs >= 1:
        return pairs
    raise ValueError(
        f"pairs must be 'top', 'all' or a number of pairs, at least 1; got {pairs!r}. "
        "Use 'all' for every pair that occurs."
    )


def _check_totally_randomized(model: FittedModel, index: str) -> None:
    drawn = getattr(model, "max_features", 1)
    if drawn != 1 or isinstance(drawn, float | bool):
        raise ValueError(
            f"index={index!r} needs totally randomized trees, max_features=1; the model has "
            f"max_features={drawn!r}. Use index='conditional', which any forest has."
        )
