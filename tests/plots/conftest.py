"""Every test draws on Agg, leaves no figure open and the user's settings alone."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def clean_canvas():
    matplotlib.use("Agg")
    plt.close("all")  # the examples of docstrings, run in the same process, leave theirs open
    # The tests' own settings, whatever a matplotlibrc says.
    with plt.style.context("default"):
        before = dict(matplotlib.rcParams)
        yield
        assert dict(matplotlib.rcParams) == before
    plt.close("all")
