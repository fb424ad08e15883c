"""The small pieces: datasets, efficiency, examples, identities, times."""

from dataclasses import replace

import numpy as np
import pytest

import localmdi as lm
from paper import characteristics, efficiency, examples, identities, times
from paper.authors_code import authors_local_mdi
from paper.data import NAMES, load
from paper.forests import Recipe
from paper.piece import AS_READ, EXACT, NOT_REPRODUCED, Claim
from paper.settings import Settings
from paper.store import Store
from paper.time_claims import (
    GLOBAL,
    GROWING,
    LOCAL,
    PREDICTION,
    SAABAS,
    SAGE,
    TREESHAP,
    Seconds,
    statements,
)


@pytest.fixture
def tiny(tmp_path):
    return replace(
        Settings.quick(tmp_path), n_trees=4, n_trees_digits=3, n_rows_digits=2, n_rows_timed=1
    )


def test_datasets_have_the_printed_characteristics(tiny, tmp_path):
    piece = characteristics.run(tiny, Store(tmp_path))
    assert [claim.verdict for claim in piece.claims] == [EXACT] * 6


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_float32_and_labels_count_from_zero(name):
    data = load(name)
    assert data.X.dtype == np.float32
    assert np.unique(data.y).tolist() == list(range(data.y.max() + 1))
    assert not data.X.flags.writeable


def test_the_led_sample_depends_on_its_seed_only():
    assert load("led_sampled", 1).digest != load("led_sampled", 2).digest
    assert load("led_sampled", 1).digest == load.__wrapped__("led_sampled", 1).digest
    with pytest.raises(ValueError, match="must be one of led"):
        load("mnist")


def test_every_number_of_the_examples_is_printed_so(tiny, tmp_path):
    piece = examples.run(tiny, Store(tmp_path))
    assert len(piece.claims) == 18
    assert {claim.verdict for claim in piece.claims} == {EXACT}


def test_a_wrong_number_would_be_noticed(tiny, tmp_path, monkeypatch):
    wrong = {**examples.EXAMPLE_2, "H(Y)": "0.82"}
    monkeypatch.setattr(examples, "EXAMPLE_2", wrong)
    piece = examples.run(tiny, Store(tmp_path))
    assert sum(claim.verdict != EXACT for claim in piece.claims) == 1


def test_a_verdict_is_one_of_four():
    with pytest.raises(ValueError, match="verdict must be one of exact"):
        Claim("here", "text", "1", "1", "nearly")


def test_a_reading_is_never_exact_and_only_a_reading_holds_as_read():
    with pytest.raises(ValueError, match="'holds as read' if it has a reading"):
        Claim("here", "text", "much faster", "10 x", EXACT, reading="at least 5 x")
    with pytest.raises(ValueError, match="'exact' if it has none"):
        Claim("here", "text", "1", "1", AS_READ)


def test_the_authors_algorithm_gives_our_values():
    forest = Recipe("wine", max_features=2, n_trees=5).grow()
    X = load("wine").X
    np.testing.assert_allclose(
        authors_local_mdi(forest, X), lm.local_mdi(forest, X).values, atol=1e-12
    )


def test_the_papers_forest():
    forest = Recipe("led", max_features=3, n_trees=2).grow()
    assert (
        forest.get_params()
        | {
            "n_estimators": 2,
            "max_features": 3,
            "criterion": "entropy",
            "random_state": 0,
            "bootstrap": False,
            "max_depth": None,
        }
        == forest.get_params()
    )


def test_identities_hold(tiny, tmp_path):
    piece = identities.run(tiny, Store(tmp_path))
    assert {claim.verdict for claim in piece.claims} == {EXACT}


def test_efficiency_compares_the_same_samples(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(efficiency, "N_DRAWS", 30)
    monkeypatch.setattr(efficiency, "N_TREES", 20)
    piece = efficiency.run(tiny, Store(tmp_path))
    (table,) = piece.tables
    assert [row[:2] for row in table.rows] == [(5, 2), (5, 5), (40, 6), (40, 40)]
    values = {k: efficiency.Samples(40, k, 20).prepare()(0, 30) for k in (1, 40)}
    shares = [f"{np.mean([min(v[:3]) > max(v[3:]) for v in values[k]]):.3f}" for k in (1, 40)]
    assert list(table.rows[3][2:4]) == shares


@pytest.mark.parametrize(("gap", "verdict"), [(1.0, AS_READ), (0.0, NOT_REPRODUCED)])
def test_efficiency_needs_one_better_design(gap, verdict):
    gaps = {(5, 2): np.array([-1.0, 0.0] * 50), (40, 6): np.array([gap, 0.0] * 50)}
    assert efficiency._claim(gaps).verdict == verdict


def test_times_on_led_and_iris(tiny):
    led, iris = times.measure("led", tiny), times.measure("iris", tiny)
    assert set(led) - set(iris) == {SAGE}
    assert all(seconds.value >= 0 for seconds in (*led.values(), *iris.values()))
    assert iris[TREESHAP].scaled
    assert not iris[LOCAL].scaled


def test_times_as_text():
    assert str(Seconds(12.3456, scaled=True)) == "≈ 12.3"
    assert str(Seconds(0.00123)) == "0.00123"
    assert str(Seconds(1764.2)) == "1,760"


def slow_and_fast(*, local):
    """Times on led and wine where local MDI takes `local` seconds and a prediction one."""
    names = {PREDICTION: 1.0, TREESHAP: 100.0, SAABAS: 2.0, GROWING: 10.0, GLOBAL: 1.0}
    both = {name: Seconds(value) for name, value in names.items()} | {LOCAL: Seconds(local)}
    return {"led": {**both, SAGE: Seconds(50.0)}, "wine": both}


def test_statements_about_times_are_tested():
    found = slow_and_fast(local=0.5)
    claims = [statement.claim(found) for statement in statements(found)]
    # Without treeinterpreter the sentence about it is left out.
    assert len(claims) == 5
    assert {claim.verdict for claim in claims} == {AS_READ}
    assert "Wine 0.5" in claims[0].ours


def test_a_dear_local_mdi_would_be_noticed():
    found = slow_and_fast(local=20.0)
    verdicts = [statement.claim(found).verdict for statement in statements(found)]
    assert verdicts == [NOT_REPRODUCED, NOT_REPRODUCED, AS_READ, AS_READ, NOT_REPRODUCED]


def test_modes_differ_in_size_only():
    quick, full = Settings.quick("a"), Settings.full("a")
    assert (full.n_trees, full.n_trees_digits, full.n_rows_digits) == (1000, 1000, 1797)
    assert full.digits_max_features == (1, 2, 4, 8, 16, 32, 64)
    assert full.led_max_features == quick.led_max_features == (1, 2, 3, 4, 5, 6, 7)
    assert full.note("digits") == full.note("led") == ""
    assert "40 rows" in quick.note("digits")
    assert quick.rows("digits", 1797) == 40
    assert quick.rows("wine", 178) == 178
