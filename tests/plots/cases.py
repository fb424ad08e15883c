"""Results that the tests draw: made of plain numbers, so that every machine draws the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from localmdi.datasets import make_led
from localmdi.infinite import infinite_interactions, infinite_mdi
from localmdi.results import GlobalImportance, LocalImportance

HOSTILE = (
    "price in $",
    "$x^2$ and $\\frac{1}{0}$",
    "two\nlines\tand a tab",
    "größe µ",
    "",
    "a name that is very much longer than any picture has room for, at its end: 1",
    "a name that is very much longer than any picture has room for, at its end: 2",
    "same",
    "same",
    "<b>&amp;%_#{}~\\",
    "half \ud800 of a pair, \x00 and \x07",
    "50 %",
)


def local(n_rows=60, n_features=8, *, unit="bits", **changes):
    """Waves: smooth values of both signs, the first features the strongest."""
    row, column = np.meshgrid(np.arange(n_rows), np.arange(n_features), indexing="ij")
    values = 0.4 * (np.sin(row / 9 + column) + 0.6) / (column + 1)
    result = LocalImportance(
        values,
        float(np.ceil(values.sum(axis=1).max())) + 1.0,
        residual=np.ceil(values.sum(axis=1).max()) + 1.0 - values.sum(axis=1),
        unit=unit,
        feature_names=tuple(f"feature {j}" for j in range(n_features)),
        n_trees=100,
        data=np.round(np.cos(row / 7 + 2 * column) * 10**column, 3),
        standard_error=np.abs(values) / 10,
    )
    return replace(result, **changes)


def labels(n_rows=60):
    return np.where(np.arange(n_rows) % 3 == 0, "ill", "well")


def mixed(n_rows=60):
    """Four kinds of columns, with missing values in all of them."""
    i = np.arange(n_rows)
    frame = pd.DataFrame(
        {
            "region": pd.Categorical(np.array(["north", "south", "east"])[i % 3]),
            "smoker": pd.array((i % 2 == 0), dtype="boolean"),
            "dose": i / 7.0,
            "visits": pd.array(i % 5, dtype="Int64"),
        }
    )
    frame.loc[::7, "region"] = None
    frame.loc[1::7, "smoker"] = None
    frame.loc[2::7, "dose"] = np.nan
    frame.loc[3::7, "visits"] = None
    return local(n_rows, 4, data=frame, feature_names=tuple(frame.columns), frame_type="pandas")


def hostile():
    return local(n_features=len(HOSTILE), feature_names=HOSTILE)


def global_(n_features=8, **changes):
    values = 1.0 / np.arange(1, n_features + 1)
    values[-1] *= -1
    result = GlobalImportance(
        values,
        unit="bits",
        feature_names=tuple(f"feature {j}" for j in range(n_features)),
        n_trees=100,
        standard_error=values**2 / 10,
    )
    return replace(result, **changes)


def led():
    return infinite_mdi(*make_led())


def pairs():
    return infinite_interactions(*make_led())


def measures(n_rows=60):
    ours = local(n_rows).values
    return {"local MDI": local(n_rows), "doubled": 2 * ours, "turned": -ours[:, ::-1]}
