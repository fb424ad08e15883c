"""Why some rows disagree (Appendix E): where local MDI and TreeSHAP differ, forests are unsure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

import localmdi as lm
from evaluation.comparison import Mean, listed, signed
from evaluation.work import Work
from paper.correlation import pearson
from paper.data import load
from paper.drawing import TEXT, new_figure, style
from paper.forests import Recipe
from paper.piece import Picture, Piece, Table
from paper.rivals import TreeShapRows, of_class, predicted_class

if TYPE_CHECKING:
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["Agreement", "OutOfFold", "run"]

NAMES = ("iris", "wine", "breast_cancer", "digits")
# Rows whose correlation is below this disagree.
LIMIT = 0.75


@dataclass(frozen=True)
class OutOfFold(Work):
    """The class probabilities of every row from forests that have not seen it."""

    name: str
    n_trees: int
    n_folds: int = 10

    @property
    def label(self) -> str:
        """A few words for the folder of the cache."""
        return f"out of fold {self.name}"

    def compute(self) -> np.ndarray:
        """Grow the paper's forest on all folds but one, for each fold."""
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        data = load(self.name)
        forest = ExtraTreesClassifier(
            self.n_trees, max_features=1, criterion="entropy", random_state=0
        )
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=0)
        return cross_val_predict(forest, data.X, data.y, cv=folds, method="predict_proba")


@dataclass(frozen=True, eq=False)
class Agreement:
    """One dataset: the certainty of its rows, and local MDI's correlation with three rivals."""

    title: str
    certainty: np.ndarray
    treeshap: np.ndarray
    saabas: np.ndarray
    saabas_all: np.ndarray
    n_classes: int

    @property
    def disagrees(self) -> np.ndarray:
        """Which rows have a correlation with TreeSHAP below the limit."""
        return self.treeshap < LIMIT

    @property
    def auc(self) -> float:
        """The probability that a row that disagrees is less certain than one that agrees."""
        if not 0 < self.disagrees.sum() < len(self.disagrees):
            return float("nan")
        return float(roc_auc_score(self.disagrees, -self.certainty))

    @property
    def error(self) -> float:
        """The standard error of the AUC (Hanley and McNeil)."""
        n, m = self.disagrees.sum(), (~self.disagrees).sum()
        a = self.auc
        q1, q2 = a / (2 - a), 2 * a**2 / (1 + a)
        variance = a * (1 - a) + (n - 1) * (q1 - a**2) + (m - 1) * (q2 - a**2)
        return float(np.sqrt(variance / (n * m)))


def agreement(name: str, settings: Settings, *, store: Store) -> Agreement:
    """Return how the rows of a dataset agree, K = 1."""
    recipe = Recipe(name, 1, settings.n_trees)
    forest, data = recipe.grow(), recipe.data
    n = min(len(data.X), settings.n_digits) if name == "digits" else len(data.X)
    treeshap = store.rows(TreeShapRows(recipe, "tree_path_dependent"), n)
    (chance,) = store.each([OutOfFold(name, settings.n_trees)], label=f"out of fold {name}")
    local = lm.local_mdi(forest, data.X[:n], n_jobs=1).values
    moves = lm.saabas(forest, data.X[:n], n_jobs=1)
    return Agreement(
        data.title,
        chance[:n].max(axis=1),
        pearson(local, treeshap),
        pearson(local, of_class(moves, predicted_class(forest, data.X[:n]))),
        # Each class counts by its probability. That of the forest itself is 0 or 1 on the rows
        # that it was grown on.
        pearson(local, np.einsum("rfk,rk->rf", moves, chance[:n])),
        moves.shape[2],
    )


def run(settings: Settings, store: Store) -> Piece:
    """Compare the rows of four datasets."""
    found = [agreement(name, settings, store=store) for name in NAMES]
    known = [each for each in found if not np.isnan(each.auc)]
    unsure = [each for each in known if each.auc - 2 * each.error > 0.5]
    aucs = listed(f"{each.title} {each.auc:.2f}" for each in unsure) or "none"
    return Piece(
        name="disagreement",
        title="Why some rows disagree",
        notes=(
            "Appendix E finds rows where local MDI and TreeSHAP are uncorrelated. In "
            f"{len(unsure)} of the {len(known)} datasets that have such rows, they are the rows "
            "that forests are unsure of, by two standard errors or more: AUC of the out-of-fold "
            f"probability {aucs}.",
            "TreeSHAP and Saabas explain the predicted class alone, local MDI the uncertainty "
            "about all classes. " + _all_classes(known),
        ),
        figures=(_picture(found),),
        tables=(_table(found, settings),),
    )


def _all_classes(found: list[Agreement]) -> str:
    """Return whether all classes together agree better with local MDI on rows that disagree."""
    gains = {
        each.title: Mean.of((each.saabas_all - each.saabas)[each.disagrees])
        for each in found
        if each.n_classes > 2
    }
    parts = [f"{title} {signed(gain)}, {_EFFECT[gain.sign]}" for title, gain in gains.items()]
    return (
        "Saabas' values of all classes, each weighted by its out-of-fold probability, instead of "
        "those of the predicted class change the correlation on rows that disagree by: "
        f"{'; '.join(parts)}. With two classes the weights can only scale a row's values or turn "
        "all their signs."
    )


_EFFECT = {1: "better", 0: "level", -1: "worse"}


def _table(found: list[Agreement], settings: Settings) -> Table:
    def median(values: np.ndarray, each: Agreement) -> str:
        return f"{np.median(values[each.disagrees]):.2f}" if each.disagrees.any() else "none"

    rows = tuple(
        (
            each.title,
            each.n_classes,
            f"{each.disagrees.sum()} of {len(each.treeshap)}",
            f"{each.auc:.3f} ± {each.error:.3f}",
            median(each.treeshap, each),
            median(each.saabas, each),
            median(each.saabas_all, each),
        )
        for each in found
    )
    return Table(
        "disagreement",
        f"Rows whose Pearson correlation of local MDI with TreeSHAP is below {LIMIT} disagree. "
        "AUC: how well the out-of-fold probability tells them from the others, ± its standard "
        f"error. The last columns are medians over the rows that disagree. {settings.n_trees} "
        "Extra-Trees, K = 1.",
        (
            "dataset",
            "classes",
            "rows that disagree",
            "AUC of the probability",
            "TreeSHAP",
            "Saabas",
            "Saabas, all classes",
        ),
        rows,
    )


def _picture(found: list[Agreement]) -> Picture:
    with style():
        figure = new_figure(TEXT, 4.4)
        grid = figure.subplots(2, 2, sharey=True)
        for ax, each in zip(grid.flat, found, strict=True):
            off = each.disagrees
            for at, colour, marker in ((~off, "#0072B2", "o"), (off, "#D55E00", "D")):
                ax.plot(
                    each.certainty[at],
                    each.treeshap[at],
                    marker,
                    color=colour,
                    markersize=2.6,
                    alpha=0.6,
                    markeredgewidth=0,
                )
            ax.axhline(LIMIT, color="#999999", linewidth=0.6, linestyle=":")
            ax.set_title(f"{each.title}: AUC {each.auc:.2f}", loc="left")
        figure.supxlabel("out-of-fold probability of the most probable class", fontsize=8)
        figure.supylabel("correlation of local MDI with TreeSHAP", fontsize=8)
    caption = (
        "Every point is a row: how sure forests that have not seen it are, and how well local MDI "
        "and path-dependent TreeSHAP agree on it. Diamonds disagree."
    )
    return Picture("disagreement", caption, figure)
