"""A feature that moves only how widely answers spread, and who sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.charts import dots
from evaluation.comparison import Mean, against, by_mean, listed, shown, words
from evaluation.problems import PROBLEMS, SPREAD
from evaluation.rows import collect, over_problems, score_table
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["run"]

# From here on a measure is said to see such a feature.
SEEN = 0.9


def run(settings: Settings, store: Store) -> Piece:
    """Compare the measures on numbers whose standard deviation depends on a feature."""
    seeds = settings.other_seeds
    numbers = collect(SPREAD, settings, store=store, seeds=seeds, slow=False)
    scores = {name: values[:, :, 0] for name, values in numbers.items()}
    gaps = against(over_problems(numbers, "AUROC"), "honest gain")
    caption = (
        "Row AUROC where a feature moves the spread of numbers, not their mean. Seeds "
        f"{seeds[0]} to {seeds[-1]}, {settings.n_train} training rows; leaf sizes and min_rows "
        "are those chosen on Syn1 to Syn6."
    )
    return Piece(
        name="spread",
        title="A feature that moves only the spread",
        notes=(
            _who_sees({name: values[:, 0] for name, values in scores.items()}),
            _beside({name: values[:, 1] for name, values in scores.items()}),
            f"Over both problems: {words(gaps, 'honest gain')}",
        ),
        figures=(
            dots(
                "spread",
                "Mean and two standard errors over seeds; 0.5 is chance.",
                numbers=scores,
                panels=SPREAD,
            ),
        ),
        tables=(
            score_table("spread", caption, numbers=numbers, problems=SPREAD),
            Table(
                "spread-problems",
                "The problems.",
                ("problem", "what decides"),
                tuple((name, PROBLEMS[name].text) for name in SPREAD),
            ),
        ),
    )


def _who_sees(alone: Mapping[str, np.ndarray]) -> str:
    """Return which measures find a feature that moves nothing but the spread."""
    see = [shown(name) for name, values in alone.items() if values.mean() >= SEEN]
    blind = [shown(name) for name, values in alone.items() if Mean.of(values - 0.5).sign < 1]
    return (
        "Where no feature moves the mean, every forest fits noise, and fits more of it where "
        f"answers spread more. The feature has a row AUROC of {SEEN} or more by "
        f"{listed(see) or 'no measure'}; it is not above chance by {listed(blind) or 'none'}."
    )


def _beside(both: Mapping[str, np.ndarray]) -> str:
    """Return how it is found beside a feature that moves the mean."""
    gap = against(both, "local MDI")["honest gain"]
    word = {1: "better than", -1: "worse than", 0: "as well as"}[gap.sign]
    return (
        "Beside a feature that moves the mean, local MDI, whose drop of the variance sees spread "
        f"itself, has {Mean.of(both['local MDI'])} and does {word} the honest gain, "
        f"{Mean.of(both['honest gain'])}; the account has {Mean.of(both['account'])}. Best: "
        f"{shown(by_mean(both)[0])}, {Mean.of(both[by_mean(both)[0]])}."
    )
