"""Synthetic answers on real covariates: the protocol of Local MDI+."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.charts import dots
from evaluation.comparison import against, words
from evaluation.responses import RESPONSES, real_problems
from evaluation.rows import collect, in_front, on_top, over_problems, score_table
from paper.piece import Piece

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["run"]


def run(settings: Settings, store: Store) -> Piece:
    """Compare all measures where the same features are true for every row."""
    problems, seeds = real_problems(settings.real_data, settings.real_sizes), settings.other_seeds
    numbers = collect(problems, settings, store=store, seeds=seeds, slow=settings.is_full)
    groups = {f"{r}, {n}": (r, n) for n in settings.real_sizes for r in RESPONSES}
    index = {
        name: [i for i, p in enumerate(problems) if (p.response, p.n_train) == group]
        for name, group in groups.items()
    }
    grouped = {
        name: np.stack([values[:, at].mean(axis=1) for at in index.values()], axis=1)
        for name, values in numbers.items()
    }
    means = over_problems(numbers, "AUROC")
    caption = (
        f"Row AUROC on real covariates ({', '.join(dict.fromkeys(p.data for p in problems))}); the "
        "answer is made from four features, 40 % of its variance explained; columns: response and "
        f"training rows. Seeds {seeds[0]} to {seeds[-1]}; mean ± standard error over seeds."
    )
    return Piece(
        name="real",
        title="Synthetic answers on real covariates",
        notes=(
            words(against(means, "honest gain"), "honest gain"),
            in_front(grouped, list(groups)),
            on_top(grouped),
            "The same four features are true for every row here, so a measure that says the same "
            "about every row, the mean honest gain, loses nothing.",
        ),
        figures=(
            dots(
                "real",
                "Mean and two standard errors over seeds; 0.5 is chance.",
                numbers={name: values[:, :, 0] for name, values in grouped.items()},
                panels=list(groups),
            ),
        ),
        tables=(score_table("real", caption, numbers=grouped, problems=list(groups)),),
    )
