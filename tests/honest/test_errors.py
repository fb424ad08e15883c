"""Errors of the honest gain: over trees, of labels, over refits; what is significant."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import localmdi as lm
from honest.samples import NEW, X, fitted, out_of_bag
from honest.test_gain import by_loops


class TestErrors:
    def test_over_trees(self):
        model, y = fitted("gini", n_trees=24)
        result = lm.honest_mdi(model, X, y, min_rows=1, standard_error="trees")
        held = out_of_bag(model, len(X))
        per_tree = np.full((24, *X.shape), np.nan)
        for tree in range(24):
            only = np.zeros_like(held)
            only[tree] = held[tree]
            with np.errstate(invalid="ignore"):
                per_tree[tree] = by_loops(model, y, held=only, min_rows=1)
        n = (~np.isnan(per_tree[:, :, 0])).sum(axis=0)
        several = n > 1
        expected = np.nanstd(per_tree[:, several], axis=0, ddof=1) / np.sqrt(n[several])[:, None]
        np.testing.assert_allclose(result.standard_error[several], expected, rtol=0, atol=1e-12)

    def test_of_labels_is_the_spread_over_labels(self):
        # Fixed trees, random labels of the held-out rows: the error must be their spread.
        rng = np.random.default_rng(0)
        rows, new = rng.random((200, 2)), rng.random((5, 2))
        model = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
        model.fit(rng.random((200, 2)), rng.normal(size=200))
        draws = []
        for _ in range(60):
            held_out = (rows, rng.normal(size=200))
            draws.append(lm.honest_mdi(model, new, held_out=held_out, standard_error="labels"))
        spread = np.std([draw.values for draw in draws], axis=0)
        claimed = np.mean([draw.standard_error for draw in draws], axis=0)
        np.testing.assert_allclose(claimed, spread, rtol=0.35)
        score = np.array([draw.values / draw.standard_error for draw in draws])
        assert 0.7 < score.std() < 1.4
        assert draws[0].error_kind == "labels"

    def test_of_labels_with_a_single_residual(self):
        # Without one of the first two rows, the other's is the only residual that is not 0: every
        # sign leaves the value as far from 0 as it is, and so must their mean.
        model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
        rows, y = np.array([[0.0], [0.0], [1.0]]), np.array([-1.0, 1.0, 0.0])
        result = lm.honest_mdi(model, rows, y, held_out=True, min_rows=1, standard_error="labels")
        assert (result.values[:2] != 0).all()
        np.testing.assert_allclose(result.standard_error, np.abs(result.values), rtol=1e-12)

    def test_labels_of_a_group_change_their_signs_together(self):
        rng = np.random.default_rng(0)
        rows, y = rng.random((90, 2)), rng.normal(size=90)
        model = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
        model.fit(rng.random((200, 2)), rng.normal(size=200))
        new = rng.random((10, 2))
        options = {"standard_error": "labels", "min_rows": 30}
        once = lm.honest_mdi(model, new, held_out=(rows, y), standard_error="labels", min_rows=10)
        held_out = (np.tile(rows, (3, 1)), np.tile(y, 3))
        groups = np.tile(np.arange(90), 3)
        thrice = lm.honest_mdi(model, new, held_out=held_out, groups=groups, **options)
        np.testing.assert_allclose(thrice.standard_error, once.standard_error, rtol=1e-10)
        naive = lm.honest_mdi(model, new, held_out=held_out, **options)
        assert 0.4 < np.median(naive.standard_error / once.standard_error) < 0.75

    def test_both_add_up(self):
        model, y = fitted("gini", n_trees=20)
        for at in (None, NEW):
            trees, labels, both = (
                lm.honest_mdi(model, X, y, at=at, standard_error=kind).standard_error
                for kind in ("trees", "labels", "both")
            )
            np.testing.assert_allclose(both**2, trees**2 + labels**2, rtol=1e-9, atol=1e-15)

    def test_signal_is_found_and_noise_is_not(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(500, 6))
        y = (rows[:, 0] > 0).astype(int)
        model = RandomForestClassifier(50, random_state=0).fit(rows, y)
        result = lm.honest_mdi(model, rows, y, standard_error=True)
        found = result.significant(0.05)
        assert found[:, 0].mean() > 0.95
        assert found[:, 1:].mean() < 0.05
        assert result.p_values().shape == rows.shape
        with pytest.raises(ValueError, match="p-values need honest values"):
            lm.local_mdi(model, rows, standard_error=True).significant()
        for alpha in (0, 1, 5):
            with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
                result.significant(alpha)

    @pytest.mark.parametrize("measure", ["gain", "loss"])
    def test_over_refits(self, measure):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 3))
        y = rows[:, 0] + rng.normal(size=200)
        model = RandomForestRegressor(40, random_state=0).fit(rows, y)
        options = {"at": rows[:5], "n_refits": 8, "measure": measure}
        result = lm.honest_mdi(model, rows, y, **options)
        assert result.error_kind == "refits"
        assert (result.standard_error > 0).all()
        again = lm.honest_mdi(model, rows, y, **options)
        assert np.array_equal(again.standard_error, result.standard_error)
        with pytest.raises(ValueError, match="p-values need"):
            result.significant()
        # By hand: fits to halves of all rows, however few are explained.
        alone = lm.honest_mdi(model, rows, y, **options | {"at": rows[:1]})
        np.testing.assert_array_equal(alone.standard_error, result.standard_error[:1])
        assert np.median(result.standard_error) < 0.5

    def test_refits_that_cannot_be(self):
        model, y = fitted("gini")
        with pytest.raises(ValueError, match="at least 2; got 1"):
            lm.honest_mdi(model, X, y, n_refits=1)
        for given in (
            {"held_out": True},
            {"groups": np.arange(60)},
            {"sample_weight": np.ones(60)},
        ):
            with pytest.raises(ValueError, match="cannot be used with"):
                lm.honest_mdi(model, X, y, n_refits=2, **given)


@pytest.mark.slow
def test_size_and_power_of_the_label_test():
    """Print what "this feature tells nothing about this row" gets wrong, and finds."""
    levels, rejected, found, n_noise = np.array([0.05, 0.01]), np.zeros(2), [], 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(500, 6))
        y = (rng.random(500) < 1 / (1 + np.exp(-2 * rows[:, 0]))).astype(int)
        model = RandomForestClassifier(200, min_samples_leaf=5, random_state=seed, n_jobs=2)
        result = lm.honest_mdi(
            model.fit(rows, y), rows, y, standard_error="labels", min_rows=5, n_jobs=2
        )
        p = result.p_values()
        rejected += (p[:, 1:, None] < levels).sum(axis=(0, 1))
        n_noise += p[:, 1:].size
        found.append(result.significant(0.05)[:, 0].mean())
    size = rejected / n_noise
    print(f"size at .05 and .01: {size.round(4).tolist()}; power: {np.mean(found):.3f}")
    assert 0.02 < size[0] < 0.08
    assert 0.002 < size[1] < 0.025
    assert np.mean(found) > 0.5
