"""Thousands of damaged files for every reader: each is read, or refused in our words.

`make fuzz` does the same for longer; ``docs/robustness.md`` has its table.
"""

import mmap
import sys
import time
import warnings

import numpy as np
import pytest

from fuzz import campaign
from fuzz.mutations import damage_bytes, damage_json
from fuzz.targets import Target, targets
from localmdi.io.child_process import reading

CASES = {
    "Forest files": 1500,
    "result files": 1500,
    "skops files": 300,
    "tables": 2000,
    "model files of other libraries": 1000,
    "commands": 100,
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are Linux's")


@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
def test_no_file_does_harm(target):
    target.samples()
    with warnings.catch_warnings():
        # scikit-learn's about versions, and those of Python about forks beside threads.
        warnings.simplefilter("ignore")
        outcome = campaign.run(target, cases=CASES[target.name])
    assert outcome.failures == []
    assert outcome.cases >= CASES[target.name]
    # Damage that is always noticed at the first byte would test nothing.
    assert outcome.counts[campaign.READ] > 0.02 * outcome.cases


def one_case(read):
    """Run a campaign of three cases against a reader that fails."""
    target = Target("demo", lambda: {"a.bin": b"abc"}, damage_bytes, read)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return campaign.run(target, cases=3)


def crash(path):
    import ctypes

    ctypes.string_at(0)


def crash_inside(path):
    with reading(path):
        crash(path)


def spin_inside(path):
    with reading(path):
        while True:
            pass


def fill_inside(path):
    with reading(path):
        np.ones(1 << 28)


def test_the_campaign_sees_what_it_looks_for(monkeypatch):
    assert one_case(crash).failures == [f"demo: case {i}: SIGSEGV" for i in range(3)]
    assert one_case(lambda path: 1 / 0).counts["failed"] == 3
    assert one_case(lambda path: "\ud800".encode()).counts["failed"] == 3
    assert one_case(lambda path: None).counts[campaign.READ] == 3
    assert one_case(crash_inside).counts[campaign.STOPPED] == 3
    monkeypatch.setattr(campaign, "SECONDS", 0.4)
    assert one_case(spin_inside).counts[campaign.STOPPED] == 3
    assert one_case(lambda path: list(iter(int, 1))).counts["failed"] == 3


def test_the_campaign_ends_in_time():
    target = Target("demo", lambda: {"a": b"a"}, damage_bytes, lambda path: time.sleep(0.05))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = campaign.run(target, cases=campaign.CHILD_CASES, seconds=0.5)
    assert 1 <= outcome.cases <= 11


def test_a_reader_that_fills_the_memory_is_stopped():
    (failure, *_) = one_case(fill_inside).failures
    assert "needs more than 1.0 GiB of memory to be read" in failure


def test_leaks_are_seen(monkeypatch):
    kept = []

    def leak(path):
        # Pages of its own: what earlier tests have freed would be used again without a trace.
        kept.append(mmap.mmap(-1, 1 << 20))
        kept[-1].write(b"x" * (1 << 20))

    target = Target("demo", lambda: {"a": b"a"}, damage_bytes, leak)
    monkeypatch.setattr(campaign, "LEAK", 10 << 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = campaign.run(target, cases=150)
    assert "bytes more after" in outcome.failures[-1]


def test_cases_can_be_repeated():
    assert damage_bytes(np.random.default_rng([0, 7]), b"a" * 99) == damage_bytes(
        np.random.default_rng([0, 7]), b"a" * 99
    )
    document = {"a": [1, 2, {"b": "c"}]}
    damaged = [repr(damage_json(np.random.default_rng([0, i]), document)) for i in range(20)]
    assert len(set(damaged)) > 10
    assert document == {"a": [1, 2, {"b": "c"}]}
