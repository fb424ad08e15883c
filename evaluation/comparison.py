"""Means over seeds with their standard errors, differences of two measures, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Mean", "against", "behind", "by_mean", "listed", "shown", "signed", "words"]

# Names that read better in a sentence than in a list.
_SHOWN = {
    "local MDI, gain": "local MDI gain",
    "TreeSHAP, interventional": "interventional TreeSHAP",
    "honest gain, mean of all rows": "mean honest gain of all rows",
}
_ONE_SEED = "not to be compared, for want of seeds, with"


@dataclass(frozen=True)
class Mean:
    """A mean over seeds and its standard error, NaN for one seed.

    Examples
    --------
    >>> print(Mean.of([0.8, 0.9, 1.0]))
    0.900 ± 0.058
    """

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float] | np.ndarray) -> Mean:
        """Return the mean of independent values."""
        values = np.asarray(values, dtype=float)
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(values.mean()), float(error))

    @property
    def sign(self) -> int:
        """1 or -1 if the mean is two errors from zero or more, else 0."""
        return int(np.sign(self.value)) if abs(self.value) >= 2 * self.error else 0

    @property
    def word(self) -> str:
        """Which of two measures a difference speaks for."""
        if np.isnan(self.error):
            return _ONE_SEED
        return {1: "ahead of", -1: "behind", 0: "level with"}[self.sign]

    def __str__(self) -> str:
        if np.isnan(self.error):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ± {self.error:.3f}"


def signed(mean: Mean) -> str:
    """Return a difference with its sign.

    Examples
    --------
    >>> signed(Mean(0.1, 0.01)), signed(Mean(-0.1, 0.01))
    ('+0.100 ± 0.010', '-0.100 ± 0.010')
    """
    return ("-" if mean.value < 0 else "+") + str(Mean(abs(mean.value), mean.error))


def against(values: Mapping[str, np.ndarray], first: str) -> dict[str, Mean]:
    """Return the mean of `first` minus each other measure, seed by seed.

    A measure that ran on the first seeds only is compared on these.
    """
    own = np.asarray(values[first])
    return {
        name: Mean.of(own[: len(other)] - other) for name, other in values.items() if name != first
    }


def behind(values: Mapping[str, np.ndarray], first: str) -> list[str]:
    """Return the measures that are ahead of `first` by two errors or more."""
    return [name for name, gap in against(values, first).items() if gap.sign < 0]


def by_mean(values: Mapping[str, np.ndarray]) -> list[str]:
    """Return the measures, the best first."""
    return sorted(values, key=lambda name: -float(np.mean(values[name])))


def words(gaps: Mapping[str, Mean], first: str) -> str:
    """Return a sentence on where a measure is ahead, where behind, and where it cannot be told.

    Examples
    --------
    >>> words({"B": Mean(0.1, 0.01), "C": Mean(-0.1, 0.01), "D": Mean(0.1, 0.2)}, "A")
    'A is ahead of B (+0.100 ± 0.010), behind C (-0.100 ± 0.010), and level with D (...).'
    """
    parts = []
    for word in ("ahead of", "behind", "level with", _ONE_SEED):
        names = [f"{shown(name)} ({signed(gap)})" for name, gap in gaps.items() if gap.word == word]
        if names:
            parts.append(f"{word} {listed(names)}")
    text = f"{shown(first)} is {listed(parts, comma=True)}."
    return text[0].upper() + text[1:]


def shown(name: str) -> str:
    """Return a measure's name as sentences and tables have it.

    Examples
    --------
    >>> shown("TreeSHAP, interventional"), shown("Saabas")
    ('interventional TreeSHAP', 'Saabas')
    """
    return _SHOWN.get(name, name)


def listed(names: Iterable[str], *, comma: bool = False) -> str:
    """Return names as English lists them; `comma` puts one before "and".

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A"])
    ('A, B and C', 'A')
    """
    names = list(names)
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + ("," if comma else "") + " and " + names[-1]
