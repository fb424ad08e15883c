"""The paper's table to the last printed digit, and the sentences about it."""

from dataclasses import replace

import numpy as np
import pytest

from paper import summary
from paper.agreement import PAIRS, led_draws, row_correlations
from paper.correlation import pearson, spearman, summarise
from paper.data import load
from paper.estimate import Estimate, from_draws, from_some_rows, worst
from paper.piece import AS_READ, EXACT, INTERVAL, NOT_REPRODUCED
from paper.printed import SUMMARY
from paper.sentences import sentences
from paper.settings import Settings
from paper.store import Store


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return Settings.full(tmp_path_factory.mktemp("full"))


@pytest.mark.parametrize(
    "name", ["led", "iris", "wine", pytest.param("breast_cancer", marks=pytest.mark.slow)]
)
def test_cells_as_printed(name, full):
    found = row_correlations(load(name), settings=full, store=Store(full.folder))
    for pair in PAIRS:
        assert summarise(found[pair]).cells == SUMMARY[name, *pair], pair


@pytest.mark.slow
def test_digits_against_saabas_as_printed(full, monkeypatch):
    # TreeSHAP takes half an hour on all rows; Saabas' cells do not need it.
    monkeypatch.setattr("paper.measures.treeshap", lambda data, K, **_: data.X[:2])
    found = row_correlations(load("digits"), settings=full, store=Store(full.folder))
    for kind in ("Pearson", "Spearman"):
        assert summarise(found["Saabas", kind]).cells == SUMMARY["digits", "Saabas", kind]


def test_the_misprinted_line_appears_as_printed_and_as_meant(tmp_path):
    settings = replace(Settings.quick(tmp_path), n_trees=60, n_draws=6)
    store = Store(tmp_path)
    draws = led_draws(settings, store)
    assert draws["Saabas", "Pearson"].shape == (6, 4)
    rows = row_correlations(load("led_sampled"), settings=settings, store=store)
    # Seed 0 is the first draw: two ways to the same numbers.
    np.testing.assert_array_equal(
        draws["Saabas", "Pearson"][0], astuple_of(summarise(rows["Saabas", "Pearson"]))
    )
    lines = summary.lines(settings, correlations={"led_sampled": rows}, draws=draws)
    printed, meant = [line for line in lines if (line.rival, line.kind) == ("Saabas", "Pearson")]
    assert printed.printed[2:] == ("100.00", "87.00")
    assert meant.printed[2:] == ("87.00", "100.00")
    assert printed.verdict == NOT_REPRODUCED
    assert printed.claim.label == "not reproduced: a misprint (M1)"
    assert printed.ours[3].verdict("87.00") == NOT_REPRODUCED
    assert meant.ours[3].verdict("100.00") == INTERVAL
    assert len(lines) == 5


def astuple_of(found):
    return [found.average, found.deviation, found.above_90, found.above_75]


def test_correlations_match_scipy():
    from scipy.stats import pearsonr, spearmanr

    first, second = np.random.default_rng(0).normal(size=(2, 4, 9)).round(1)
    expected = [pearsonr(a, b)[0] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(pearson(first, second), expected)
    expected = [spearmanr(a, b)[0] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(spearman(first, second), expected)


def test_an_estimate_is_exact_to_the_printed_digit():
    assert Estimate(0.90649).verdict("0.906") == EXACT
    assert Estimate(0.9066).verdict("0.906") == NOT_REPRODUCED
    assert Estimate(0.5, 0.4, 0.6).verdict("0.60") == INTERVAL
    assert Estimate(0.5, 0.4, 0.6).verdict("0.61") == NOT_REPRODUCED
    assert worst([EXACT, INTERVAL, EXACT]) == INTERVAL
    assert worst([NOT_REPRODUCED, INTERVAL]) == NOT_REPRODUCED


def test_intervals_from_some_rows_cover_all_rows():
    everything = np.tanh(np.random.default_rng(1).normal(1.3, 0.4, size=2000))
    truth = astuple_of(summarise(everything))
    covered = np.zeros(4)
    for seed in range(100):
        some = np.random.default_rng(seed).choice(everything, 40, replace=False)
        covered += [
            e.low <= true <= e.high for e, true in zip(from_some_rows(some), truth, strict=True)
        ]
    # The deviation's interval takes the rows as normal, which correlations are not.
    assert (covered >= [95, 85, 95, 95]).all(), covered


def test_one_more_draw_lies_in_the_interval():
    generator = np.random.default_rng(2)
    inside = 0
    for _ in range(200):
        draws = generator.normal([0.9, 0.1, 60.0, 80.0], [0.01, 0.01, 5.0, 5.0], size=(11, 4))
        inside += from_draws(draws[:10])[2].verdict(f"{draws[10, 2]:.2f}") == INTERVAL
    assert inside >= 190


def shares(**above_75):
    """Correlations of 1000 rows, the given per cent of them similar, for every pair."""
    rows = {}
    for title, (of_pearson, of_spearman) in above_75.items():
        share = {"Pearson": of_pearson, "Spearman": of_spearman}
        rows[title] = {
            pair: np.where(np.arange(1000) < 10 * share[pair[1]], 0.95, 0.1) for pair in PAIRS
        }
    return rows


def test_sentences_about_the_table_are_counted():
    as_printed = shares(
        a=(91.5, 80.9), b=(95.3, 91.3), c=(90.3, 84.7), d=(100, 100), e=(100, 100), f=(99.4, 99.5)
    )
    most, four_and_two, uncorrelated = sentences(as_printed)
    assert {most.verdict, four_and_two.verdict, uncorrelated.verdict} == {AS_READ}
    worse = {**as_printed, **shares(b=(85.0, 79.0))}
    most, four_and_two, uncorrelated = sentences(worse)
    assert (four_and_two.verdict, uncorrelated.verdict) == (NOT_REPRODUCED, NOT_REPRODUCED)
    assert sentences(shares(a=(49.0, 90.0)))[0].verdict == NOT_REPRODUCED


def test_every_printed_line_is_there():
    assert len(SUMMARY) == 6 * len(PAIRS)
    assert all(
        [len(cell.partition(".")[2]) for cell in cells] == [3, 3, 2, 2]
        for cells in SUMMARY.values()
    )
