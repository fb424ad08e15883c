"""The test of the global gain on noise: what the command prints, and that it holds."""

from __future__ import annotations

import numpy as np
import pytest

import localmdi as lm
from evaluation import sizes


def test_a_design_by_hand():
    name, named, p = "numbers, leaf 5", [], []
    design = sizes.DESIGNS[name]
    for seed in (7, 8, 9):
        rng = np.random.default_rng([seed, sizes.crc32(name.encode())])
        X, y, _, _ = design.draw(rng)
        model = design.model(50, random_state=int(rng.integers(2**31)), **design.options)
        found = lm.honest_global_mdi(model.fit(X, y), X, y)
        named.append(found.significant(0.05))
        p.append(found.p_values())
    size = sizes.measure(name, n_repetitions=3, first_seed=7, n_trees=50)
    assert size.family == np.any(np.array(named)[:, 2:], axis=1).mean()
    assert size.size == (np.array(p)[:, 2:] <= 0.05).mean()
    assert (size.much, size.little) == tuple(np.mean(named, axis=0)[:2])
    assert (size.refused, size.warned) == (0, 0)


def test_what_is_refused_is_counted():
    size = sizes.measure("3 % positives, balanced", n_repetitions=2, n_trees=60)
    if size.refused:  # scikit-learn draws by these weights since 1.9
        assert size.refused == 2
        assert np.isnan(size.family)
    assert size.holds


def test_the_command(capsys):
    names = ["held out", "nothing tells anything, Gini"]
    code = sizes.main(["--repetitions", "2", "--trees", "10", "--seed", "3", "--only", *names])
    printed = capsys.readouterr().out
    assert "Seeds 3 to 4, 10 trees" in printed
    for name in names:
        assert f"| {name} |" in printed or f"| **{name}** |" in printed
    assert code == int("**" in printed)


@pytest.mark.slow
@pytest.mark.parametrize("name", sizes.DESIGNS)
def test_noise_is_named_as_rarely_as_promised(name):
    size = sizes.measure(name, n_repetitions=100)
    # Eighteen rows that weigh as much as all others: docs/evaluation-sizes.md.
    assert size.holds or (name == "3 % positives, balanced_subsample" and size.family < 0.15)
    if np.isfinite(size.much):
        assert size.much > 0.15
