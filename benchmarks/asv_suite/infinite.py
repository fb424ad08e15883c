"""The infinite forest: one benchmark for each exact way, and one for sampled paths."""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.infinite import make_sample
from localmdi import infinite_mdi


class Infinite:
    timer = process_time

    def setup(self):
        self.narrow = make_sample(2000, 14)
        self.wide = make_sample(2000, 20)
        rng = np.random.default_rng(0)
        self.few_rows = rng.integers(0, 2, (12, 5000)), np.arange(12) % 3

    def time_blocked_search(self):
        X, y = self.wide
        infinite_mdi(X, y, X[:1], method="exact")

    def time_shared_partition(self):
        infinite_mdi(*self.narrow)

    def time_row_dual(self):
        infinite_mdi(*self.few_rows)

    def time_row_sets(self):
        X, y = self.narrow
        unseen = np.append(X[0, :-1], 2)
        infinite_mdi(X, y, [unseen], method="exact")

    def time_sampled_paths(self):
        X, y = self.wide
        infinite_mdi(X, y, X[:20], method="sampled", n_paths=1000, random_state=0)
