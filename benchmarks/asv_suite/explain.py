"""Explaining rows with a fitted forest."""

from __future__ import annotations

from time import process_time

import localmdi as lm
from benchmarks.workloads import select


class Explain:
    """The workloads of the speed table whose forests are fitted within seconds."""

    params = ("a1", "a8", "a64", "c")
    param_names = ("workload",)
    timer = process_time

    def setup(self, name):
        (workload,) = select([name])
        self.model, self.X = workload.fit()
        self.explainer = lm.Explainer(self.model)

    def time_prepared(self, name):
        self.explainer(self.X)

    def time_unprepared(self, name):
        lm.local_mdi(self.model, self.X)

    def time_one_row(self, name):
        self.explainer(self.X[:1])

    def time_prepare(self, name):
        lm.Explainer(self.model)

    def peakmem_prepared(self, name):
        self.explainer(self.X)
