"""Figure 3: what a segment or a pixel shows, on which scale."""

from dataclasses import replace

import numpy as np
import pytest

import localmdi as lm
from paper import maps, measures
from paper.data import load
from paper.settings import Settings
from paper.store import Store


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return replace(
        Settings.quick(tmp_path_factory.mktemp("maps")),
        n_trees=20,
        n_trees_digits=4,
        n_rows_digits=10,
    )


@pytest.fixture(scope="module")
def piece(settings):
    return maps.run(settings, Store(settings.folder))


@pytest.fixture(scope="module", params=["led", "digits"])
def found(request, settings):
    return maps.compute(load(request.param), settings=settings, store=Store(settings.folder))


def test_one_sample_of_each_class(found):
    assert found.dataset.y[list(found.rows)].tolist() == list(range(10))
    p = found.dataset.X.shape[1]
    assert found.numbers == {7: (1, 2, 7), 64: (1, 8, 64)}[p]
    assert found.shares.shape == (3, 3, 10, p)


def test_sizes_of_a_map_sum_to_one(found):
    np.testing.assert_allclose(np.abs(found.shares).sum(axis=-1), 1, rtol=1e-12)


def test_shares_are_the_measures_in_other_units(found, settings):
    forest = measures.recipe(found.dataset, found.numbers[1], settings=settings).grow()
    row = found.rows[4]
    local = lm.local_mdi(forest, found.dataset.X[[row]]).values[0]
    label = forest.predict_proba(found.dataset.X[[row]])[0].argmax()
    along = lm.saabas(forest, found.dataset.X[[row]])[0, :, label]
    np.testing.assert_allclose(found.shares[1, 0, 4], local / np.abs(local).sum(), atol=1e-12)
    np.testing.assert_allclose(found.shares[1, 1, 4], along / np.abs(along).sum(), atol=1e-12)


def test_select_keeps_the_maps_of_the_rows(found):
    two = found.select((found.rows[7], found.rows[2]))
    np.testing.assert_array_equal(two.shares[:, :, 0], found.shares[:, :, 7])
    np.testing.assert_array_equal(two.shares[:, :, 1], found.shares[:, :, 2])


def drawn_maps(figure):
    """The coloured segments or pixels of a figure, without samples and the scale."""
    shown = [item for ax in figure.axes[:-1] for item in (*ax.collections, *ax.images)]
    return [
        item for item in shown if item.get_cmap().name != "gray_r" and item.get_array() is not None
    ]


@pytest.mark.parametrize("number", range(4))
def test_every_map_has_the_same_scale_centred_on_zero(piece, number):
    shown = drawn_maps(piece.figures[number].figure)
    assert len(shown) == (18 if number % 2 == 0 else 90)
    limits = {item.get_clim() for item in shown}
    assert len(limits) == 1
    low, high = limits.pop()
    assert -low == high > 0


def test_maps_show_the_table(piece):
    for figure, table in ((piece.figures[1], piece.tables[0]), (piece.figures[3], piece.tables[1])):
        cells = np.array([row[4:] for row in table.rows], dtype=float)
        drawn = np.array([item.get_array().ravel() for item in drawn_maps(figure.figure)])
        np.testing.assert_allclose(drawn, cells, atol=6e-6)


def test_led_scale_hides_nothing(piece):
    for figure in piece.figures[:2]:
        shown = drawn_maps(figure.figure)
        largest = max(np.abs(item.get_array()).max() for item in shown)
        assert shown[0].get_clim()[1] == pytest.approx(largest)


def test_claim_counts_the_lowest_pair(found):
    shares = np.tile(np.array([0.5, 0.3, 0.2]), (3, 3, 10, 1))
    alike = replace(found, shares=shares)
    assert maps._claim(alike).verdict == "holds as read"
    shares = shares.copy()
    shares[2, 1] = [0.2, 0.3, 0.5]
    claim = maps._claim(replace(found, shares=shares))
    assert claim.verdict == "not reproduced"
    assert "(Local MDI and Saabas, K = " in claim.ours
