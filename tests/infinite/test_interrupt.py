"""Ctrl-C stops a long kernel within a second."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from infinite.samples import draw_sample
from localmdi.infinite.categorical_sample import read_samples
from localmdi.infinite.exact import path_rules


@pytest.mark.parametrize("kernel", ["lattice", "lattice_gain", "shared_partition", "sampled_paths"])
def test_keyboard_interrupt(kernel):
    X, y, _ = draw_sample(0, n_rows=1500, n_features=50, arity=2, full=True)
    (sample,) = read_samples(X, y)
    table = np.zeros(sample.shape)
    calls = {
        "lattice": lambda: sample.kernel.lattice(0, False, False, 2),
        "lattice_gain": lambda: sample.kernel.lattice_gain(0, False, 2),
        "shared_partition": lambda: sample.kernel.shared_partition(True, table, 2),
        "sampled_paths": lambda: sample.kernel.sampled_paths(
            sample.codes,
            None,
            path_rules("skip", "gain"),
            np.array([0, 0, 10**7], dtype=np.uint64),
            np.zeros((2 * len(table), table.shape[1])),
            np.zeros((2, len(table))),
            2,
        ),
    }
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        calls[kernel]()
    assert time.perf_counter() - start < 1.5
