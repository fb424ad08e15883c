"""The programs of the gallery run without a warning, and each ends in a picture."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

PROGRAMS = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


def test_eight_programs():
    assert len(PROGRAMS) == 8


def test_doubt_is_what_unseen_rows_show():
    """Nothing is left at the leaves of fully grown trees, whatever the trees' votes are."""
    code = next(path for path in PROGRAMS if "medical" in path.name).read_text(encoding="utf-8")
    assert "What is left at the leaves is doubt" not in code
    assert "np.argsort(-honest.residual)" in code


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path):
    runpy.run_path(str(path))
    assert plt.get_fignums()
    code = path.read_text(encoding="utf-8")
    last_cell = code.rpartition("# %%")[2]
    assert "lm.plots." in last_cell
