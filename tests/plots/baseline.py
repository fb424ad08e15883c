"""Compare a figure with a picture that was looked at and stored.

Letters are left out, so that fonts do not matter, and little squares of pixels are averaged, so
that the smoothing of edges does not. Words are tested as words, not as pictures.
Run the tests with LOCALMDI_RENEW_BASELINES=1 to store new pictures, and look at them.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.text import Text

FOLDER = Path(__file__).parent / "baseline"
RENEW = "LOCALMDI_RENEW_BASELINES"
DPI = 90
SQUARE = 8
TOLERANCE = 0.02


def render(figure):
    """Return the pixels of a figure without its letters, as they are stored."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_tick_params(which="both", length=0, labelsize=0)
            axis.set_ticklabels([])
        legend = axes.get_legend()
        if legend is not None:
            legend.set_in_layout(False)
    for text in figure.findobj(Text):
        text.set_visible(False)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=DPI, format="png")
    stream.seek(0)
    return plt.imread(stream)[:, :, :3], stream.getvalue()


def distance(first, second):
    """Root mean square of the differences between squares of pixels; colours run from 0 to 1."""
    height, width = np.minimum(first.shape, second.shape)[:2]
    if np.abs(np.subtract(first.shape, second.shape)).max() > 1:  # sizes in inches are rounded
        return float("inf")
    difference = _squares(first[:height, :width]) - _squares(second[:height, :width])
    return float(np.sqrt((difference**2).mean()))


def assert_like_baseline(figure, name):
    pixels, stored = render(figure)
    path = FOLDER / f"{name}.png"
    if os.environ.get(RENEW):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(stored)
    found = distance(pixels, plt.imread(path)[:, :, :3])
    assert found <= TOLERANCE, f"{name} differs from its baseline by {found:.3f}"


def _squares(pixels):
    height, width, _ = pixels.shape
    height, width = height // SQUARE * SQUARE, width // SQUARE * SQUARE
    cut = pixels[:height, :width]
    return cut.reshape(height // SQUARE, SQUARE, width // SQUARE, SQUARE, 3).mean(axis=(1, 3))
