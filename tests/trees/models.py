"""Tables and settings on which the identities must hold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localmdi.trees import RandomizedForestClassifier, RandomizedForestRegressor


def mixed_table(rng, n=60):
    """Numbers with gaps, text, booleans and small integers, and a target that needs them."""
    table = pd.DataFrame(
        {
            "dose": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "site": rng.choice(["a", "b", "c", None], size=n),
            "treated": rng.random(n) < 0.5,
            "count": rng.integers(0, 4, size=n),
            "same": np.ones(n),
        }
    )
    y = (table["count"] + 2 * (table["site"] == "a") + table["treated"]).to_numpy() % 3
    return table, y


def numeric_table(rng, n=60):
    X = rng.normal(size=(n, 4)).round(1)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


CLASSIFIERS = {
    "totally randomized": {},
    "gini": {"criterion": "gini"},
    "best of two": {"max_features": 2},
    "best of two, scikit-learn": {"max_features": 2, "draw": "sklearn"},
    "best of all": {"max_features": None},
    "shallow": {"max_depth": 3, "min_samples_leaf": 2},
    "bootstrap": {"bootstrap": True},
    "small bootstrap": {"bootstrap": True, "max_samples": 0.3, "max_features": 2},
    "balanced": {"class_weight": "balanced"},
    "picky": {"min_impurity_decrease": 0.02, "min_samples_split": 5},
    "heavy leaves": {"min_weight_fraction_leaf": 0.05},
}


def classifier(**settings):
    return RandomizedForestClassifier(**{"n_estimators": 30, "random_state": 0, **settings})


def regressor(**settings):
    return RandomizedForestRegressor(**{"n_estimators": 30, "random_state": 0, **settings})
