"""Measures against the truth, row by row, on the confirmation seeds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import Mean, against, listed, shown, signed, words
from evaluation.measures import LOCAL, SLOW
from evaluation.tuning import tune
from evaluation.work import NUMBERS, RowScores, Sizes
from paper.piece import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.responses import RealProblem
    from evaluation.settings import Settings
    from paper.store import Store

    Problems = Sequence[str] | Sequence[RealProblem]

__all__ = ["collect", "has", "in_front", "on_top", "over_problems", "score_table", "within"]


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

    Each measure explains the forest with the leaf size chosen for it. The slow ones are asked if
    `slow`, on the first seeds only, and LMDI+ is left out where imodels is not installed.
    """
    tuning, sizes = tune(settings, store), Sizes.of(settings)
    groups = defaultdict(list)
    for name in measures:
        groups[tuning.best(name)].append(name)
    asked = [((tuple(names), growing), seeds) for growing, names in groups.items()]
    if slow:
        first = seeds[: settings.slow_seeds]
        names = [name for name in SLOW if name != "LMDI+" or has("imodels")]
        asked += [(((name,), tuning.best(name)), first) for name in names]
    works = {
        (names, seed, problem): RowScores(problem, seed, names, sizes, growing)
        for (names, growing), mine in asked
        for seed in mine
        for problem in problems
    }
    found = dict(zip(works, store.each(list(works.values()), label="rows"), strict=True))
    numbers = {}
    for (names, _), mine in asked:
        block = np.array([[found[names, seed, problem] for problem in problems] for seed in mine])
        for i, name in enumerate(names):
            numbers[name] = block[:, :, i]
    return {name: numbers[name] for name in (*measures, *SLOW) if name in numbers}


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
    """Return one number of every measure for each seed, the mean over the problems that have it."""
    at, known = NUMBERS.index(number), _known(numbers, number)
    return {name: values[:, known, at].mean(axis=1) for name, values in numbers.items()}


def within(numbers: Mapping[str, np.ndarray], problems: Sequence[str]) -> str:
    """Return a sentence on who tells, for one feature, the rows that it decides about."""
    known = _known(numbers, "within")
    names = listed(name for name, each in zip(problems, known, strict=True) if each)
    text = words(against(over_problems(numbers, "within"), "honest gain"), "honest gain")
    return (
        "Within a feature: does a row that the feature decides about have a larger |value| of it "
        f"than a row that it does not ({names})? {text}"
    )


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


def on_top(numbers: Mapping[str, np.ndarray]) -> str:
    """Return a sentence on who puts the true features of a row on top."""
    gaps = against(over_problems(numbers, "top k"), "honest gain")
    return (
        "By the share of true features among the k largest |values| of a row, where k are true: "
        f"{words(gaps, 'honest gain')}"
    )


def _known(numbers: Mapping[str, np.ndarray], number: str) -> np.ndarray:
    """Return which problems have a number; that depends on their answers, not on the measure."""
    values = next(iter(numbers.values()))[:, :, NUMBERS.index(number)]
    return ~np.isnan(values).any(axis=0)


def score_table(
    name: str, caption: str, *, numbers: Mapping[str, np.ndarray], problems: Sequence[str]
) -> Table:
    """Return a table of row AUROC by problem, the mean, and the other scores.

    Within a feature there is nothing to tell where the same features decide about every row.
    """
    heads = {"AUROC": "mean", "top k": "top k", "within": "within a feature"}
    scores = {
        score: over_problems(numbers, score) for score in heads if _known(numbers, score).any()
    }
    rows = [
        (
            shown(measure),
            *(f"{mean:.3f}" for mean in numbers[measure][:, :, 0].mean(axis=0)),
            *(str(Mean.of(values[measure])) for values in scores.values()),
        )
        for measure in sorted(numbers, key=lambda measure: -scores["AUROC"][measure].mean())
    ]
    columns = ("measure", *problems, *(heads[score] for score in scores))
    return Table(name, caption, columns, tuple(rows))
