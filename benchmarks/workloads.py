"""The six workloads of the speed table: a fitted forest and the rows to explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# The rows of `table` that its model is fitted to; it explains all.
TABLE_TRAINING = 50_000


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    make: Callable[[], tuple[Any, Any]]

    def fit(self) -> tuple[Any, Any]:
        """Return the model, set to one thread, and float32 rows in C order."""
        model, X = self.make()
        model.set_params(n_jobs=1)
        return model, X


def digits(max_features: int) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    model = ExtraTreesClassifier(
        1000, criterion="entropy", max_features=max_features, random_state=0, n_jobs=-1
    )
    return model.fit(X, y), X


def table_rows() -> tuple[Any, Any]:
    X, y = make_classification(100_000, 30, n_informative=10, random_state=0)
    return X.astype(np.float32), y


def table() -> tuple[Any, Any]:
    X, y = table_rows()
    model = RandomForestClassifier(100, random_state=0, n_jobs=-1)
    return model.fit(X[:TABLE_TRAINING], y[:TABLE_TRAINING]), X


def wide() -> tuple[Any, Any]:
    X, y = make_classification(2000, 2000, n_informative=50, random_state=0)
    X = X.astype(np.float32)
    return RandomForestClassifier(500, random_state=0, n_jobs=-1).fit(X, y), X


def large() -> tuple[Any, Any]:
    X, y = make_classification(200_000, 54, n_informative=20, n_classes=7, random_state=0)
    X = X.astype(np.float32)
    return ExtraTreesClassifier(100, random_state=0, n_jobs=-1).fit(X, y), X


WORKLOADS = [
    Workload("a1", "digits 1797 x 64, 1000 ExtraTrees, K=1", lambda: digits(1)),
    Workload("a8", "digits 1797 x 64, 1000 ExtraTrees, K=8", lambda: digits(8)),
    Workload("a64", "digits 1797 x 64, 1000 ExtraTrees, K=64", lambda: digits(64)),
    Workload("b", "100,000 x 30, RandomForest of 100", table),
    Workload("c", "2000 x 2000, RandomForest of 500", wide),
    Workload("d", "200,000 x 54, 7 classes, 100 ExtraTrees", large),
]


def select(names: list[str]) -> Iterator[Workload]:
    """Yield the workloads of these names, all if none are given."""
    for workload in WORKLOADS:
        if not names or workload.name in names:
            yield workload
