"""Every measure that is compared: from a forest and rows to a score for each row and feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from time import process_time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import localmdi as lm

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.problems import Drawn

__all__ = ["LOCAL", "MEASURES", "SLOW", "WITH_MIN_ROWS", "Question", "predictions", "timed"]


# Rows whose values replace a feature's in the local permutation importance and the ICE variance.
_N_OTHERS = 20


@dataclass(frozen=True, eq=False)
class Question:
    """A forest, the rows it was grown on, and the rows to explain."""

    forest: Any
    drawn: Drawn
    min_rows: int
    n_background: int
    slow_trees: int
    seed: int

    @property
    def background(self) -> np.ndarray:
        """The training rows that interventional measures compare with."""
        return self.drawn.train.X[: self.n_background]


def timed(name: str, question: Question) -> tuple[np.ndarray, float]:
    """Return a measure's scores, |value| of each row and feature, and the CPU seconds it took."""
    _warm_up()
    start = process_time()
    values = MEASURES[name](question)
    return np.abs(values), process_time() - start


@cache
def _warm_up() -> None:
    """Load once in each process what the measures load when first used, so that no time has it."""
    from sklearn.ensemble import RandomForestClassifier

    from evaluation.problems import draw

    drawn = draw("switch", 50, n_rows=2, seed=0)
    forest = RandomForestClassifier(40, random_state=0).fit(drawn.train.X, drawn.train.y)
    for name, measure in MEASURES.items():
        if name not in SLOW:
            measure(Question(forest, drawn, 1, 5, 5, 0))


def _plain(measure: str) -> Callable[[Question], np.ndarray]:
    def values(question: Question) -> np.ndarray:
        rows = question.drawn.rows.X
        return lm.local_mdi(question.forest, rows, measure=measure, n_jobs=1).values

    return values


def _honest_gain(question: Question) -> np.ndarray:
    train, rows = question.drawn.train, question.drawn.rows
    return lm.honest_mdi(
        question.forest, train.X, train.y, at=rows.X, min_rows=question.min_rows, n_jobs=1
    ).values


def _account(question: Question) -> np.ndarray:
    """Return the expected account: the labels of the new rows are not known."""
    train, rows = question.drawn.train, question.drawn.rows
    return lm.honest_mdi(
        question.forest, train.X, train.y, at=rows.X, measure="loss", n_jobs=1
    ).values


def _honest_for_all(question: Question) -> np.ndarray:
    """Return the same for every row: the mean of the honest gain over the training rows."""
    train, rows = question.drawn.train, question.drawn.rows
    mean = lm.honest_global_mdi(
        question.forest, train.X, train.y, min_rows=question.min_rows, n_jobs=1
    )
    return np.tile(mean.values, (len(rows.X), 1))


def _saabas(question: Question) -> np.ndarray:
    return _last_class(lm.saabas(question.forest, question.drawn.rows.X, n_jobs=1))


def _path_dependent(question: Question) -> np.ndarray:
    import shap

    return _last_class(shap.TreeExplainer(question.forest).shap_values(question.drawn.rows.X))


def _interventional(question: Question) -> np.ndarray:
    import shap

    explainer = shap.TreeExplainer(
        question.forest, question.background, feature_perturbation="interventional"
    )
    return _last_class(explainer.shap_values(question.drawn.rows.X))


def _last_class(values: np.ndarray) -> np.ndarray:
    """Return the values of the second of two classes, which are those of the first with a minus."""
    return values[..., -1] if values.ndim == 3 else values


def _permuted(question: Question) -> np.ndarray:
    """Return by how much the forest's squared error about each row rises, feature by feature.

    The label of the row is used.
    """
    rows = question.drawn.rows
    after = (_replaced(question) - rows.y) ** 2
    before = (predictions(question, rows.X) - rows.y) ** 2
    return after.mean(axis=0).T - before[:, np.newaxis]


def _ice_variance(question: Question) -> np.ndarray:
    """Return how much the forest's answer about each row varies, feature by feature."""
    return _replaced(question).var(axis=0).T


def _replaced(question: Question) -> np.ndarray:
    """Return the forest's answers with a feature's value replaced by those of training rows.

    An array (values, features, rows).
    """
    rng = np.random.default_rng(question.seed)
    train, rows = question.drawn.train, question.drawn.rows
    n_rows, p = rows.X.shape
    changed = np.tile(rows.X, (_N_OTHERS, p, 1, 1))
    for j in range(p):
        changed[:, j, :, j] = train.X[rng.integers(len(train.X), size=(_N_OTHERS, n_rows)), j]
    return predictions(question, changed.reshape(-1, p)).reshape(_N_OTHERS, p, n_rows)


def predictions(question: Question, X: np.ndarray) -> np.ndarray:
    """Return the forest's number, or its probability of the second of two classes."""
    forest = question.forest
    return forest.predict(X) if question.drawn.regression else forest.predict_proba(X)[:, 1]


def _local_mdi_plus(question: Question) -> np.ndarray:
    """Return LMDI+ as imodels computes it: ranks of the features in each tree, averaged."""
    from imodels.tree.rf_plus.feature_importance.rfplus_explainer import LMDIPlus

    train = question.drawn.train
    model = _forest_plus(question)
    model.fit(train.X, train.y, n_jobs=1)
    return LMDIPlus(model).get_lmdi_plus_scores(question.drawn.rows.X, ranking=True)


def _forest_plus(question: Question) -> Any:
    """Return the forest's first trees with penalised regressions in place of their leaves."""
    from copy import copy

    from imodels.tree.rf_plus.rf_plus import rf_plus_models
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV

    forest = copy(question.forest)
    forest.estimators_ = forest.estimators_[: question.slow_trees]
    forest.n_estimators = len(forest.estimators_)
    if question.drawn.regression:
        regression = RidgeCV(np.logspace(-1, 4, 6))
        return rf_plus_models.RandomForestPlusRegressor(regression, forest, verbose=False)
    regression = LogisticRegressionCV(
        Cs=(0.001, 0.01, 0.1, 1.0),
        cv=3,
        l1_ratios=(0,),
        scoring="neg_log_loss",
        max_iter=1000,
        use_legacy_attributes=False,
    )
    return rf_plus_models.RandomForestPlusClassifier(regression, forest, verbose=False)


MEASURES = MappingProxyType(
    {
        "honest gain": _honest_gain,
        "account": _account,
        "local MDI": _plain("drop"),
        "local MDI, gain": _plain("gain"),
        "TreeSHAP": _path_dependent,
        "TreeSHAP, interventional": _interventional,
        "Saabas": _saabas,
        "permutation": _permuted,
        "ICE variance": _ice_variance,
        "LMDI+": _local_mdi_plus,
        "honest gain, mean of all rows": _honest_for_all,
    }
)
# What every table of rows compares, and what is asked on fewer seeds because it is slow.
SLOW = ("TreeSHAP, interventional", "LMDI+")
LOCAL = tuple(name for name in MEASURES if name not in SLOW)
# Those that have `min_rows`.
WITH_MIN_ROWS = frozenset({"honest gain", "honest gain, mean of all rows"})
