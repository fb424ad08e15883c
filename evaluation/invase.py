"""Who finds the right features, row by row? INVASE's six problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.charts import dots
from evaluation.comparison import against, shown, signed, words
from evaluation.problems import INVASE, PROBLEMS
from evaluation.rows import SLOW, collect, in_front, over_problems, score_table
from evaluation.tuning import MIN_ROWS, tune
from evaluation.work import installed
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.comparison import Mean
    from evaluation.settings import Settings
    from evaluation.tuning import Tuning
    from paper.store import Store

__all__ = ["run"]

# What the honest gain is asked to be ahead of TreeSHAP by.
MARGIN = 0.08
DEFAULT_MIN_ROWS = 10


def run(settings: Settings, store: Store) -> Piece:
    """Compare all measures on Syn1 to Syn6."""
    tuning = tune(settings, store)
    numbers = collect(INVASE, settings, store=store, seeds=settings.seeds)
    gaps = against(over_problems(numbers, "AUROC"), "honest gain")
    caption = (
        "Row AUROC on Syn1 to Syn6: for each new row, the probability that a feature that decides "
        f"has a larger |value| than one that does not. Seeds {settings.seeds[0]} to "
        f"{settings.seeds[-1]}, {settings.n_train} training rows, {settings.n_rows} new rows, "
        f"{settings.n_trees} trees; mean ± standard error over seeds."
    )
    return Piece(
        name="invase",
        title="Who finds the right features, row by row?",
        notes=(
            words(gaps, "honest gain"),
            in_front(numbers, INVASE),
            margin(gaps["TreeSHAP"]),
            _default(tuning),
            _slow(settings),
        ),
        figures=(
            dots(
                "invase",
                "Mean and two standard errors over seeds; 0.5 is chance.",
                numbers={name: values[:, :, 0] for name, values in numbers.items()},
                panels=INVASE,
            ),
        ),
        tables=(
            score_table("invase", caption, numbers=numbers, problems=INVASE),
            _gap_table(gaps),
            tuning.table(settings),
            tuning.min_rows_table(settings),
            Table(
                "problems",
                "The problems: eleven normal features, P(Y = 1) a logistic function of",
                ("problem", "what decides"),
                tuple((name, PROBLEMS[name].text) for name in INVASE),
            ),
        ),
    )


def margin(gap: Mean) -> str:
    """Return whether the honest gain keeps its margin over TreeSHAP.

    Examples
    --------
    >>> from evaluation.comparison import Mean
    >>> margin(Mean(0.05, 0.01))
    'The margin over TreeSHAP, +0.050 ± 0.010, is below the 0.08 that was set before the run.'
    """
    where = "at least" if gap.value >= MARGIN else "below"
    return (
        f"The margin over TreeSHAP, {signed(gap)}, is {where} the {MARGIN} that was set before the "
        "run."
    )


def _default(tuning: Tuning) -> str:
    """Return what the tuning seeds say about the default of `min_rows`."""
    best = tuning.best("honest gain")
    means = tuning.auroc[0, :, MIN_ROWS.index(best.min_rows)].max()
    default = tuning.auroc[0, :, MIN_ROWS.index(DEFAULT_MIN_ROWS)].max()
    return (
        f"On the tuning seeds the honest gain is best with min_rows={best.min_rows} "
        f"({means:.3f}); the default, {DEFAULT_MIN_ROWS}, reaches {default:.3f}."
    )


def _slow(settings: Settings) -> str:
    version = installed("imodels")
    if version == "not installed":
        return "LMDI+ is left out: imodels is not installed."
    seeds = ", ".join(map(str, settings.seeds[: settings.slow_seeds]))
    word = "seed" if settings.slow_seeds == 1 else "seeds"
    return (
        f"{SLOW} is that of imodels {version}: penalised logistic regressions on the first "
        f"{settings.slow_trees} trees, ranks averaged over trees; {word} {seeds} only, because it "
        "takes seconds for each tree."
    )


def _gap_table(gaps: Mapping[str, Mean]) -> Table:
    verdicts = {"ahead of": "ahead", "level with": "level", "behind": "behind"}
    return Table(
        "invase-gaps",
        "Honest gain minus its rival, mean over Syn1 to Syn6, seed by seed; ahead or behind from "
        "two standard errors on.",
        ("rival", "difference of AUROC", "honest gain is"),
        tuple(
            (shown(name), signed(gap), verdicts.get(gap.word, "one seed"))
            for name, gap in gaps.items()
        ),
    )
