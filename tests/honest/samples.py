"""Small data and forests of every kind, with what their trees have not seen, from public names."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.class_weight import compute_sample_weight

RNG = np.random.default_rng(0)
X = RNG.random((60, 3)).astype(np.float32)
CLASSES = (X[:, 0] * 2 + RNG.random(60)).astype(int)
NUMBERS = 100 + X[:, 0] + 0.3 * RNG.normal(size=60)
NEW = RNG.random((20, 3)).astype(np.float32)
TARGETS = {
    "classes": CLASSES,
    "two classes": (CLASSES > 1).astype(int),
    "numbers": NUMBERS,
    "two targets of classes": np.stack([CLASSES, (X[:, 1] > 0.5).astype(int)], axis=1),
    "two numbers": np.stack([NUMBERS, X[:, 1] - X[:, 2]], axis=1),
}


def fitted(criterion, n_trees=24, target=None, **options):
    """A forest and its target."""
    of_numbers = criterion == "squared_error"
    kind = RandomForestRegressor if of_numbers else RandomForestClassifier
    y = TARGETS[target or ("numbers" if of_numbers else "classes")]
    return kind(n_trees, criterion=criterion, random_state=0, **options).fit(X, y), y


def counts(model, n_rows):
    """How often every tree drew each row, (n_trees, n_rows)."""
    return np.array([np.bincount(drawn, minlength=n_rows) for drawn in model.estimators_samples_])


def out_of_bag(model, n_rows):
    """1 where a tree has not drawn a row, (n_trees, n_rows)."""
    return (counts(model, n_rows) == 0).astype(float)


def law_weight(model, y, weight=None):
    """What each row weighs in the law of each tree's root if it is drawn once, (n_trees, n_rows).

    That is its own weight, times that of its class, which may depend on the draw.
    """
    own = np.ones(len(y)) if weight is None else weight
    class_weight = getattr(model, "class_weight", None)
    if class_weight == "balanced_subsample":
        of_class = [
            compute_sample_weight("balanced", y, indices=drawn)
            for drawn in model.estimators_samples_
        ]
    else:
        of_class = [compute_sample_weight(class_weight, y)] * len(model.estimators_)
    return own * np.array(of_class)


def truth_of(y, *, of_classes):
    """1 for the class of each row, or its numbers, side by side; and where every output starts."""
    outputs = np.asarray(y).reshape(len(y), -1)
    if not of_classes:
        return outputs.astype(float), list(range(outputs.shape[1] + 1))
    parts = [(output[:, None] == np.unique(output)).astype(float) for output in outputs.T]
    starts = np.cumsum([0, *(part.shape[1] for part in parts)])
    return np.concatenate(parts, axis=1), starts.tolist()


def trees_of(model):
    """Return scikit-learn's `tree_` of all members."""
    return [member.tree_ for member in model.estimators_]
