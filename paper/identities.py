"""Identities the paper states for any forest, checked on the forests of all six datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm
from paper import measures
from paper.data import NAMES, load
from paper.piece import EXACT, NOT_REPRODUCED, Claim, Piece, Table
from paper.rivals import interpreter_values, predicted_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["run"]

# Sums over a thousand trees in double precision.
_TOLERANCE = 1e-9
# treeinterpreter lists all paths of all trees in Python: minutes on the larger datasets.
_INTERPRETED = ("led", "iris", "wine")


@dataclass(frozen=True)
class Identity:
    """Two sides that must be equal: where the paper says so, and their largest difference."""

    source: str
    text: str
    gap: Callable[[Dataset], float]
    names: Sequence[str] = NAMES


def run(settings: Settings, store: Store) -> Piece:
    """Check sums and means to rounding, and our Saabas against treeinterpreter's."""
    identities = _identities(settings, store)
    gaps = [[identity.gap(load(name)) for name in identity.names] for identity in identities]
    claims = [
        Claim(
            identity.source,
            identity.text,
            "equal",
            f"largest difference {max(found):.0e} over {', '.join(map(_title, identity.names))}",
            EXACT if max(found) < _TOLERANCE else NOT_REPRODUCED,
        )
        for identity, found in zip(identities, gaps, strict=True)
    ]
    rows = [
        (identity.text, _title(name), f"{gap:.1e}")
        for identity, found in zip(identities, gaps, strict=True)
        for name, gap in zip(identity.names, found, strict=True)
    ]
    return Piece(
        name="identities",
        title="Identities that hold for any forest",
        tables=(
            Table(
                "identities",
                f"The largest difference between the two sides, K = 1, {settings.n_trees} trees. "
                f"{settings.note('digits')}".strip(),
                ("identity", "dataset", "largest difference"),
                tuple(rows),
            ),
        ),
        claims=(*claims, _negative_claim(settings)),
    )


def _identities(settings: Settings, store: Store) -> list[Identity]:
    found = [
        Identity(
            "Section 4.1, Equation 10",
            "Global MDI is the mean of local MDI over the learning sample.",
            lambda data: _mean_gap(data, settings),
        ),
        Identity(
            "Section 5",
            "Saabas' importances sum to the model prediction (less its mean).",
            lambda data: _sum_gap(
                data, measures.saabas(data, 1, settings=settings), settings=settings
            ),
        ),
        Identity(
            "Section 5",
            "TreeSHAP's importances sum to the model prediction (less its mean).",
            lambda data: _sum_gap(
                data, measures.treeshap(data, 1, settings=settings, store=store), settings=settings
            ),
        ),
    ]
    interpreter = interpreter_values()
    if interpreter is not None:
        found.append(
            Identity(
                "Appendix C",
                "Saabas comes from treeinterpreter; here it is this library's own.",
                lambda data: _interpreter_gap(data, settings, interpreter=interpreter),
                _INTERPRETED,
            )
        )
    return found


def _title(name: str) -> str:
    return load(name).title


def _mean_gap(data: Dataset, settings: Settings) -> float:
    local = measures.local_mdi(data, 1, settings=settings)
    return float(np.abs(local.mean(axis=0) - measures.global_mdi(data, 1, settings=settings)).max())


def _sum_gap(data: Dataset, values: np.ndarray, *, settings: Settings) -> float:
    """Compare the values' sum with the probability of the predicted class less its mean."""
    forest = measures.recipe(data, 1, settings=settings).grow()
    X = data.X[: len(values)]
    label = predicted_class(forest, X)
    probability = forest.predict_proba(X)[np.arange(len(X)), label]
    # Without bootstrap every root holds the frequencies of the classes.
    base = np.bincount(data.y) / len(data.y)
    return float(np.abs(values.sum(axis=1) - (probability - base[label])).max())


def _interpreter_gap(
    data: Dataset, settings: Settings, *, interpreter: Callable[[Any, np.ndarray], np.ndarray]
) -> float:
    forest = measures.recipe(data, 1, settings=settings).grow()
    ours, theirs = lm.saabas(forest, data.X), interpreter(forest, data.X)
    return float(np.abs(ours - theirs).max())


def _negative_claim(settings: Settings) -> Claim:
    shares = {}
    for name in NAMES:
        values = measures.local_mdi(load(name), 1, settings=settings)
        shares[_title(name)] = 100 * float((values < 0).mean())
    return Claim(
        "Section 4.1",
        "Unlike global MDI, local MDI can be negative, as the impurity can increase from one node "
        "to one of its successors.",
        "can be negative",
        "share of negative values: "
        + ", ".join(f"{title} {share:.1f} %" for title, share in shares.items()),
        EXACT if max(shares.values()) > 0 else NOT_REPRODUCED,
    )
