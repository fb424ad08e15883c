"""One difficulty at a time: a switch, doubles, columns with many values, wrong labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.charts import dots
from evaluation.comparison import against, words
from evaluation.problems import DIFFICULTIES, PROBLEMS
from evaluation.rows import collect, in_front, on_top, over_problems, score_table, within
from paper.piece import Piece, Table

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["run"]


def run(settings: Settings, store: Store) -> Piece:
    """Compare all measures on each difficulty."""
    seeds = settings.seeds if settings.is_full else settings.other_seeds
    numbers = collect(DIFFICULTIES, settings, store=store, seeds=seeds, slow=settings.is_full)
    gaps = against(over_problems(numbers, "AUROC"), "honest gain")
    overall = words(gaps, "honest gain")
    caption = (
        f"Row AUROC where one thing is difficult. Seeds {seeds[0]} to {seeds[-1]}; leaf sizes and "
        "min_rows are those chosen on Syn1 to Syn6."
    )
    return Piece(
        name="difficulties",
        title="One difficulty at a time",
        notes=(
            f"Over all of them, {overall[0].lower()}{overall[1:]}",
            in_front(numbers, DIFFICULTIES),
            on_top(numbers),
            within(numbers, DIFFICULTIES),
        ),
        figures=(
            dots(
                "difficulties",
                "Mean and two standard errors over seeds; 0.5 is chance.",
                numbers={name: values[:, :, 0] for name, values in numbers.items()},
                panels=DIFFICULTIES,
            ),
        ),
        tables=(
            score_table("difficulties", caption, numbers=numbers, problems=DIFFICULTIES),
            Table(
                "difficulties-problems",
                "The problems.",
                ("problem", "what decides"),
                tuple((name, PROBLEMS[name].text) for name in DIFFICULTIES),
            ),
        ),
    )
