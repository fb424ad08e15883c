"""Growing totally randomized and best-of-K trees, with the training rows explained on the way."""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.grow import SETTINGS
from localmdi import RandomizedForestClassifier


class Grow:
    params = (1, 8, 64)
    param_names = ("K",)
    timer = process_time

    def setup(self, k):
        X, self.y = load_digits(return_X_y=True)
        self.X = X.astype(np.float32)
        self.model = RandomizedForestClassifier(200, max_features=k, draw="sklearn", **SETTINGS)

    def time_fit(self, k):
        self.model.fit(self.X, self.y)
