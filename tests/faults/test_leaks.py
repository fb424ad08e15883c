"""Thousands of calls take no more memory than the first ones."""

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

import localmdi as lm

N_CALLS = 2000
SLACK_MB = 2


def resident_mb():
    gc.collect()
    status = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return int(status.split("Rss:")[1].split()[0]) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_flat(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    y = X[:, 0] > 0
    codes = random.integers(0, 2, size=(20, 3))
    path = tmp_path / "f.lmdi"

    def everything():
        model = lm.RandomizedForestClassifier(3, random_state=0).fit(X, y)
        forest = model.forest_
        explainer = lm.Explainer(forest)
        explainer(X, standard_error=True).to_frame()
        explainer(X, output="sparse")
        explainer.predict(X)
        lm.global_mdi(forest)
        lm.saabas(forest, X)
        forest.with_statistics(X, y)
        lm.infinite_mdi(codes, codes[:, 0])
        forest.save(path)
        lm.load_forest(path)
        with pytest.raises(ValueError, match="feature"):
            explainer(X[:, :2])

    for _ in range(N_CALLS // 4):
        everything()
    before = resident_mb()
    for _ in range(N_CALLS):
        everything()
    assert resident_mb() - before < SLACK_MB
