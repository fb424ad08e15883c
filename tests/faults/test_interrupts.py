"""Ctrl-C ends every long call soon, at any moment, and what was shared is as good as before."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import localmdi as lm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2000, 10))
Y = X[:, 0] + X[:, 1] > 0
CODES = RANDOM.integers(0, 2, size=(1500, 40))
MODEL = lm.RandomizedForestClassifier(100, random_state=0).fit(X, Y)
FOREST = MODEL.forest_
ROWS = np.tile(X, (60, 1))
N_TREES = 10**6


def many(call, n=10**6):
    for _ in range(n):
        call()


CALLS = {
    "fit": lambda: lm.RandomizedForestClassifier(N_TREES, random_state=0).fit(X, Y),
    "fit, honest": lambda: lm.RandomizedForestRegressor(N_TREES, honest=True).fit(X, X[:, 0]),
    "explain": lambda: many(lambda: lm.local_mdi(FOREST, ROWS, n_jobs=2)),
    "predict": lambda: many(lambda: lm.Explainer(FOREST).predict(ROWS)),
    "saabas": lambda: many(lambda: lm.saabas(FOREST, ROWS)),
    "global": lambda: many(lambda: lm.global_mdi(FOREST)),
    "packing": lambda: many(lambda: lm.Explainer(FOREST)),
    "statistics": lambda: many(lambda: FOREST.with_statistics(ROWS, np.tile(Y, 60))),
    "infinite, exact": lambda: many(
        lambda: lm.infinite_mdi(CODES[:, :12], CODES[:, 20], method="exact")
    ),
    "infinite, sampled": lambda: lm.infinite_mdi(
        CODES, CODES[:, 0], method="sampled", n_paths=10**8
    ),
    "interactions": lambda: lm.infinite_interactions(CODES, CODES[:, 0], n_paths=10**8),
    "relevance": lambda: many(
        lambda: lm.local_relevance(CODES[:, :14], CODES[:, 20], CODES[:50, :14])
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name):
    before = lm.local_mdi(FOREST, X[:200]).values
    sent = []

    def interrupt():
        sent.append((time.monotonic(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(RANDOM.uniform(0.02, 0.5), interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            CALLS[name]()
    finally:
        timer.cancel()  # a call that fails at once must not leave its signal to others
    wall, work = time.monotonic() - sent[0][0], time.process_time() - sent[0][1]
    # A busy machine stretches the time on the clock, not the work that is still done.
    assert min(wall, work) < 1
    np.testing.assert_array_equal(lm.local_mdi(FOREST, X[:200]).values, before)


# Ctrl-C may come between `open` and `with`: Python then closes the file when it is collected, with
# a warning that no program can prevent.
@pytest.mark.filterwarnings(r"ignore:unclosed file .*f\.lmdi:ResourceWarning")
def test_ctrl_c_while_a_file_is_read_or_written(tmp_path):
    path = tmp_path / "f.lmdi"
    FOREST.save(path)
    for call in (lambda: lm.load_forest(path), lambda: FOREST.save(path)):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            many(call)
        assert lm.load_forest(path) == FOREST
        assert [found.name for found in tmp_path.iterdir()] == ["f.lmdi"]
