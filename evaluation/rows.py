"""Measures against the truth, row by row, on the confirmation seeds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import Mean, against, listed, shown, signed
from evaluation.measures import LOCAL
from evaluation.tuning import tune
from evaluation.work import NUMBERS, RowScores, Sizes
from paper.piece import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.responses import RealProblem
    from evaluation.settings import Settings
    from paper.store import Store

    Problems = Sequence[str] | Sequence[RealProblem]

__all__ = ["SLOW", "collect", "has", "in_front", "over_problems", "score_table"]

SLOW = "LMDI+"


def collect(
    problems: Problems,
    settings: Settings,
    *,
    store: Store,
    seeds: Sequence[int],
    measures: Sequence[str] = LOCAL,
    slow: bool = True,
) -> dict[str, np.ndarray]:
    """Return every measure's numbers: (seeds, problems, `NUMBERS`).

    Each measure explains the forest with the leaf size chosen for it. LMDI+ is asked if `slow`, on
    the first seeds only, and left out where imodels is not installed.
    """
    tuning, sizes = tune(settings, store), Sizes.of(settings)
    groups = defaultdict(list)
    for name in measures:
        groups[tuning.best(name)].append(name)
    if slow and has("imodels"):
        groups[tuning.best(SLOW)].append(SLOW)
    works = {
        (tuple(names), seed, problem): RowScores(problem, seed, tuple(names), sizes, growing)
        for growing, names in groups.items()
        for seed in (seeds[: settings.slow_seeds] if names == [SLOW] else seeds)
        for problem in problems
    }
    found = dict(zip(works, store.each(list(works.values()), label="rows"), strict=True))
    numbers = {}
    for names in map(tuple, groups.values()):
        mine = [seed for seed in seeds if (names, seed, problems[0]) in works]
        block = np.array([[found[names, seed, problem] for problem in problems] for seed in mine])
        for i, name in enumerate(names):
            numbers[name] = block[:, :, i]
    return {name: numbers[name] for name in (*measures, SLOW) if name in numbers}


def has(library: str) -> bool:
    """Return whether a library can be imported.

    Examples
    --------
    >>> has("numpy"), has("no_such_library")
    (True, False)
    """
    from importlib.util import find_spec

    return find_spec(library) is not None


def over_problems(numbers: Mapping[str, np.ndarray], number: str) -> dict[str, np.ndarray]:
    """Return one number of every measure for each seed, the mean over the problems."""
    at = NUMBERS.index(number)
    return {name: values[:, :, at].mean(axis=1) for name, values in numbers.items()}


def in_front(
    numbers: Mapping[str, np.ndarray], problems: Sequence[str], *, of: str = "honest gain"
) -> str:
    """Return a sentence that names, problem by problem, the measures that are ahead of one."""
    parts = []
    for i, problem in enumerate(problems):
        gaps = against({name: values[:, i, 0] for name, values in numbers.items()}, of)
        ahead = [f"{shown(name)} ({signed(gap)})" for name, gap in gaps.items() if gap.sign < 0]
        if ahead:
            parts.append(f"on {problem} behind {listed(ahead)}")
    if not parts:
        return f"On no single problem is the {of} behind another measure by two standard errors."
    return f"Problem by problem, the {of} is {'; '.join(parts)}; on no other."


def score_table(
    name: str, caption: str, *, numbers: Mapping[str, np.ndarray], problems: Sequence[str]
) -> Table:
    """Return a table of row AUROC by problem, the mean, and the share of true features on top."""
    means = over_problems(numbers, "AUROC")
    tops = over_problems(numbers, "top k")
    rows = [
        (
            shown(measure),
            *(f"{mean:.3f}" for mean in numbers[measure][:, :, 0].mean(axis=0)),
            str(Mean.of(means[measure])),
            str(Mean.of(tops[measure])),
        )
        for measure in sorted(means, key=lambda measure: -means[measure].mean())
    ]
    return Table(name, caption, ("measure", *problems, "mean", "top k"), tuple(rows))
