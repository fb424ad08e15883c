"""Who finds the right features, row by row? INVASE's six problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.charts import dots
from evaluation.comparison import Mean, against, listed, shown, signed, words
from evaluation.measures import LOCAL
from evaluation.problems import INVASE, PROBLEMS
from evaluation.rows import collect, in_front, on_top, over_problems, score_table, within
from evaluation.tuning import MIN_ROWS, tune
from evaluation.work import installed
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

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
            _same_for_all(over_problems(numbers, "AUROC")),
            on_top(numbers),
            within(numbers, INVASE),
            _same_order(over_problems(numbers, "AUROC"), tuning),
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
    auroc = tuning.auroc[LOCAL.index("honest gain")]
    means = auroc[:, MIN_ROWS.index(best.min_rows)].max()
    default = auroc[:, MIN_ROWS.index(DEFAULT_MIN_ROWS)].max()
    return (
        f"On the tuning seeds the honest gain is best with min_rows={best.min_rows} "
        f"({means:.3f}); the default, {DEFAULT_MIN_ROWS}, reaches {default:.3f}."
    )


def _same_for_all(means: Mapping[str, np.ndarray]) -> str:
    """Return how much of the margin is knowing which features are noise in every row."""
    same = "honest gain, mean of all rows"
    constant, own = against(means, same)["TreeSHAP"], against(means, "honest gain")["TreeSHAP"]
    better = {1: "better than", -1: "worse than", 0: "as well as"}[
        against(means, same)["honest gain"].sign
    ]
    return (
        "How much of it is knowing which features are noise in every row? Given to every row "
        f"alike, the mean honest gain differs from TreeSHAP by {signed(constant)}, the honest gain "
        f"of each row by {signed(own)}. So {100 * constant.value / own.value:.0f} % of the lead is "
        "had without knowing anything about the single row; by row AUROC such a measure does "
        f"{better} the honest gain, within a feature it has 0.5."
    )


def _same_order(means: Mapping[str, np.ndarray], tuning: Tuning) -> str:
    """Return how the account ranks a row's features."""
    account, saabas = (
        f"{Mean.of(means[name])} with leaf {tuning.best(name).leaf}"
        for name in ("account", "Saabas")
    )
    return (
        "With two classes the account multiplies all of a row's Saabas values by one number, so "
        "within a row it orders features as Saabas does, not as the gain does: use it to see what "
        f"the forest knows, the gain to find features. Row AUROC of the account {account}, of "
        f"Saabas {saabas}."
    )


def _slow(settings: Settings) -> str:
    version = installed("imodels")
    seeds = listed(map(str, settings.seeds[: settings.slow_seeds]))
    lmdi = (
        "LMDI+ is left out: imodels is not installed."
        if version == "not installed"
        else f"LMDI+ is that of imodels {version}: penalised regressions on the first "
        f"{settings.slow_trees} trees, ranks averaged over trees."
    )
    return (
        f"{lmdi} The slow measures, it and interventional TreeSHAP, have seeds {seeds} only, on "
        "this page as a whole. The account is the expected one, because the labels of new "
        "rows are not known; permutation does use them."
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
