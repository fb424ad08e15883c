"""What K means: exact curves in both meanings, and a test that tells them apart."""

from dataclasses import replace

import numpy as np
import pytest

from paper import draws
from paper.draws import chi_square, exact_curve
from paper.settings import Settings
from paper.store import Store

# The Shapley values of I(Y;S) on led, as docs/theory/paper.md prints them; they sum to log2 10.
SHAPLEY = np.array([0.412693, 0.581541, 0.531156, 0.542129, 0.656582, 0.225816, 0.372011])


def test_curves_are_shares_of_the_entropy():
    for draw in draws.DRAWS:
        np.testing.assert_allclose(exact_curve(draw).sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(exact_curve(draw)[0] * np.log2(10), SHAPLEY, atol=1e-6)


def test_meanings_of_k_agree_at_both_ends_only():
    apart = np.abs(exact_curve("theory") - exact_curve("sklearn")).max(axis=1)
    assert apart[[0, 6]].max() < 1e-12
    assert apart[1:6].min() > 1e-4


def test_chi_square_of_one_free_feature_is_z_squared():
    first = np.random.default_rng(1).normal(0.3, 0.1, size=(200, 1))
    fit = chi_square(np.hstack([first, 1 - first]), np.array([0.29, 0.71]))
    z = (first.mean() - 0.29) / (first.std(ddof=1) / np.sqrt(200))
    assert fit.chi_square == pytest.approx(z**2)
    assert fit.largest_z == pytest.approx(abs(z))
    assert fit.degrees == 1


def test_chi_square_uses_the_covariance():
    """Twice the same noise must not count twice."""
    noise = np.random.default_rng(2).normal(size=(300, 2))
    trees = 0.25 + noise @ np.array([[1.0, 1.0, -1.0, -1.0], [0.0, 0.1, 0.0, -0.1]])
    trees += 1e-3 * np.random.default_rng(3).normal(size=(300, 4))
    alone = chi_square(trees[:, :1] * [1, -1], np.array([0.25, -0.25])).chi_square
    assert alone < chi_square(trees, np.full(4, 0.25)).chi_square < alone + 20


@pytest.mark.parametrize("draw", draws.DRAWS)
def test_forests_follow_their_own_meaning_of_k(draw):
    shares, error = draws._many_trees(4000, draw)
    (other,) = set(draws.DRAWS) - {draw}
    own = ((shares - exact_curve(draw)) / error) ** 2
    foreign = ((shares - exact_curve(other)) / error) ** 2
    # 49 squares, of which 42 are free.
    assert own.sum() < 100 < 150 < foreign.sum()


@pytest.fixture(scope="module")
def piece(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draws")
    settings = replace(Settings.quick(folder), n_trees=60, led_max_features=(1, 3, 7))
    return draws.run(settings, Store(folder))


def test_claims(piece):
    shapley, which, total = piece.claims
    shown = float(shapley.ours.split()[2])
    assert shown == pytest.approx(float(piece.tables[0].rows[0][1]), abs=0.06)
    assert "K as in the theory: χ²" in which.ours
    assert total.verdict == "exact"


def test_table_sums_the_forests(piece):
    *of_one, everything = piece.tables[0].rows
    assert [cells[0] for cells in of_one] == ["1", "3", "7"]
    assert float(everything[1]) == pytest.approx(sum(float(cells[1]) for cells in of_one), abs=0.02)
    assert everything[-1] == "18"


def test_figure_shows_the_distance_of_the_curves(piece):
    ax = piece.figures[0].figure.axes[3]
    lines = [line.get_ydata() for line in ax.lines if line.get_ls() == "-"]
    apart = 1000 * (exact_curve("theory") - exact_curve("sklearn"))[:, 3]
    np.testing.assert_allclose(lines[0], 0, atol=1e-12)
    np.testing.assert_allclose(lines[1], apart, atol=1e-9)
