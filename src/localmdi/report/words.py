"""What the numbers of a result mean, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi.report.text import clean, number_text

if TYPE_CHECKING:
    from localmdi.results import LocalImportance

__all__ = ["quantity", "reading", "trees"]

_QUANTITIES = {
    "bits": "uncertainty",
    "gini": "Gini impurity",
    "variance": "variance",
    "mae": "absolute error",
    "poisson": "Poisson deviance",
}


def quantity(unit: str) -> str:
    """Return what is removed, for a unit of impurity.

    Examples
    --------
    >>> quantity("bits"), quantity("variance")
    ('uncertainty', 'variance')
    """
    return _QUANTITIES.get(unit, "impurity")


def reading(result: LocalImportance) -> tuple[str, str, str]:
    """Return three sentences on how to read the values.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> for line in reading(LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits",
    ...                                     feature_names=("a", "b"), n_trees=1)):
    ...     print(line)
    A value says how many bits of uncertainty about Y a feature removed for one row.
    Every row starts at the root with H(Y), here 2 bits, and ends with what is left at the leaf,
    here 1 bits on average.
    Positive values removed uncertainty, negative ones raised it, and together they are exactly the
    way from root to leaf.
    """
    unit, what = clean(result.unit), quantity(result.unit)
    start = number_text(float(np.mean(result.baseline)))
    left = number_text(float(result.residual.mean()))
    if unit == "bits":
        first = "A value says how many bits of uncertainty about Y a feature removed for one row."
        root, start, left = "with H(Y)", f"{start} bits", f"{left} bits"
    else:
        first = f"A value says how much {what} of Y ({unit}) a feature removed for one row."
        root = f"with the {what} of Y"
    return (
        first,
        f"Every row starts at the root {root}, here {start}, and ends with what is left at the "
        f"leaf, here {left} on average.",
        f"Positive values removed {what}, negative ones raised it, and together they are exactly "
        "the way from root to leaf.",
    )


def trees(result: LocalImportance) -> str:
    """Return the number of trees as a text; the infinite forest counts as none.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> trees(LocalImportance(np.eye(2), 2.0, residual=np.ones(2), unit="bits", n_trees=1000,
    ...                       feature_names=("a", "b")))
    '1,000'
    """
    return f"{result.n_trees:,}" if result.n_trees else "∞"
