"""Many callers at once, workers of joblib, children of a fork, and Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
from importance.models import X_CLASS, Y_CLASS
from localmdi._validation import count_threads

MODEL = RandomForestClassifier(20, random_state=0).fit(X_CLASS, Y_CLASS)
EXPLAINER = lm.Explainer(MODEL)
ROWS = np.random.default_rng(0).normal(size=(3000, 6)).astype(np.float32)
EXPECTED = EXPLAINER(ROWS, standard_error=True)


def same(result):
    return np.array_equal(result.values, EXPECTED.values) and np.array_equal(
        result.standard_error, EXPECTED.standard_error
    )


def explain(explainer, n_jobs):
    return explainer(ROWS, n_jobs=n_jobs, standard_error=True)


def test_several_threads_share_one_explainer():
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(explain, [EXPLAINER] * 24, [1, 2, 3] * 8))
    assert all(map(same, results))


def test_other_threads_run_while_a_kernel_does():
    # A kernel that kept the interpreter to itself would let nobody count.
    rows = np.tile(ROWS, (60, 1))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(EXPLAINER, rows)
        counted = 0
        while not call.done():
            counted += 1
            time.sleep(0.001)
    assert counted > 5


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_inside_joblib_workers(backend):
    parallel = joblib.Parallel(2, backend=backend)
    with warnings.catch_warnings():
        # joblib tells that a worker stopped while others were given work; that is its business.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        results = parallel(joblib.delayed(explain)(EXPLAINER, n) for n in (None, 1, 2, None))
    assert all(map(same, results))


def test_n_jobs_is_counted_as_joblib_does():
    assert count_threads(None) == 1
    assert count_threads(-1) == joblib.effective_n_jobs(-1)
    assert count_threads(np.int64(3)) == 3
    with joblib.parallel_config("threading", n_jobs=2):
        assert count_threads(None) == 2
        assert count_threads(1) == 1
    assert count_threads(10**9) <= max(256, os.cpu_count())


def send_result(connection):
    connection.send(same(explain(EXPLAINER, 2)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*may lead to deadlocks:DeprecationWarning")
def test_after_a_fork():
    assert same(explain(EXPLAINER, 2))
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=send_result, args=(sender,))
        child.start()
        assert receiver.poll(30), "the child hangs"
        assert receiver.recv()
        child.join(10)
        assert child.exitcode == 0
    assert same(explain(EXPLAINER, 2))


LONG_CALL = """
import os, signal, threading, time
import numpy as np
from sklearn.tree import ExtraTreeRegressor
from sklearn.ensemble import BaggingRegressor
import localmdi as lm

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 10)).astype(np.float32)
model = BaggingRegressor(ExtraTreeRegressor(), 5, random_state=0).fit(X, rng.normal(size=3000))
model.estimators_ = model.estimators_ * 200
model.estimators_features_ = model.estimators_features_ * 200
explainer = lm.Explainer(model)
rows = np.tile(X, (400, 1))
sent = []

def interrupt():
    sent.append((time.monotonic(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.4, interrupt).start()  # into the kernel
try:
    {call}
except KeyboardInterrupt:
    wall, work = time.monotonic() - sent[0][0], time.process_time() - sent[0][1]
    print(wall, work, flush=True)
    raise
"""
CALLS = {
    "one thread": "explainer(rows, n_jobs=1)",
    "two threads": "explainer(rows, n_jobs=2)",
    "few tasks": "explainer(rows[:40_000], n_jobs=2, standard_error=True)",
    "progress": "explainer(rows, n_jobs=2, progress=True)",
    "sparse": "explainer(rows, output='sparse', n_jobs=2)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_a_long_call(call):
    program = LONG_CALL.format(call=CALLS[call])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert done.stdout, "the call was not long enough"
    wall, work = map(float, done.stdout.split())
    assert wall < 3, f"took {wall:.1f} s"
    # A busy machine stretches the time on the clock, not the work that is still done.
    assert min(wall, work) < 1
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode != 0
