"""The sorted correlations, against SciPy row by row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from paper import curves, measures
from paper.data import load
from paper.settings import Settings
from paper.store import Store


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return replace(
        Settings.quick(tmp_path_factory.mktemp("curves")),
        n_trees=10,
        n_trees_digits=4,
        n_rows_digits=6,
    )


@pytest.fixture(scope="module")
def piece(settings):
    return curves.run(settings, Store(settings.folder))


@pytest.mark.parametrize("name", ["led", "iris"])
def test_sorted_signed_correlations(settings, name):
    store, dataset = Store(settings.folder), load(name)
    found = curves.sorted_correlations(dataset, settings=settings, store=store)
    mdi = measures.local_mdi(dataset, 1, settings=settings)
    rivals = {
        "Saabas": measures.saabas(dataset, 1, settings=settings),
        "TreeSHAP": measures.treeshap(dataset, 1, settings=settings, store=store),
    }
    for rival, values in rivals.items():
        for title, coefficient in (("Pearson", pearsonr), ("Spearman", spearmanr)):
            rows = [coefficient(a, b)[0] for a, b in zip(mdi, values, strict=True)]
            np.testing.assert_allclose(found[rival, title], sorted(rows), atol=1e-12)


def test_six_panels_with_four_ascending_curves(piece):
    panels = piece.figures[0].figure.axes
    assert [ax.get_title() for ax in panels] == [load(name).title for name in curves._PANELS]
    for ax in panels:
        shown = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) > 2]
        assert len(shown) == 4
        assert all(np.diff(values).min() >= 0 for values in shown)


def test_drawn_curves_are_the_table(piece):
    for ax in piece.figures[0].figure.axes:
        rows = [row for row in piece.tables[1].rows if row[0] == ax.get_title()]
        shown = [line for line in ax.lines if len(line.get_ydata()) > 2]
        for column, line in enumerate(shown, start=2):
            cells = [float(row[column]) for row in rows if row[column]]
            np.testing.assert_allclose(line.get_ydata(), cells, atol=1e-6)


def test_quantiles_end_at_the_extremes(piece):
    quantiles, everything = piece.tables
    of_wine = [row for row in quantiles.rows if row[:3] == ("Wine", "TreeSHAP", "Spearman")]
    cells = [float(row[5]) for row in everything.rows if row[0] == "Wine"]
    assert of_wine[0][3] == len(cells) == 178
    assert float(of_wine[0][4]) == pytest.approx(min(cells), abs=6e-4)
    assert float(of_wine[0][-1]) == pytest.approx(max(cells), abs=6e-4)


def test_digits_against_treeshap_has_the_explained_rows(piece):
    counts = {row[1]: row[3] for row in piece.tables[0].rows if row[0] == "Digits"}
    assert counts == {"Saabas": 1797, "TreeSHAP": 6}
