"""The account: against loops over its formulas."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)

import localmdi as lm
import oracles
from honest.samples import (
    CLASSES,
    NEW,
    NUMBERS,
    RNG,
    X,
    counts,
    fitted,
    law_weight,
    out_of_bag,
    trees_of,
    truth_of,
)

WEIGHT = RNG.choice([0.5, 1.0, 2.0], size=len(X))
QUESTIONS = {
    "Brier": ("gini", None, "brier"),
    "Brier, two classes": ("gini", "two classes", "brier"),
    "log": ("entropy", None, "log"),
    "log, two classes": ("entropy", "two classes", "log"),
    "squares": ("squared_error", None, "squared_error"),
    "Brier, two targets": ("gini", "two targets of classes", "brier"),
    "log, two targets": ("entropy", "two targets of classes", "log"),
    "squares, two targets": ("squared_error", "two numbers", "squared_error"),
}


def by_loops(model, y, loss, *, held=None, rows=X):
    truth, starts = truth_of(y, of_classes=loss != "squared_error")
    held = out_of_bag(model, len(rows)) if held is None else held
    return oracles.account(trees_of(model), rows, truth, held=held, loss=loss, starts=starts)


def account(model, rows, y, **options):
    return lm.honest_mdi(model, rows, y, measure="loss", **options)


def same(result, found, tolerance=1e-12):
    np.testing.assert_allclose(result.values, found["credit"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.baseline, found["before"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.residual, found["after"], rtol=0, atol=tolerance)


def adds_up(result, digits=6e-15):
    """Whether credits add up to before − after, relative to the largest of the numbers."""
    known = ~np.isnan(result.residual)
    gap = result.values.sum(axis=1) - (result.baseline - result.residual)
    size = np.abs(result.values).sum(axis=1) + result.baseline + result.residual
    return (np.abs(gap[known]) <= digits * size[known]).all()


@pytest.mark.parametrize("question", QUESTIONS)
class TestAgainstLoops:
    def test_training_rows(self, question):
        criterion, target, loss = QUESTIONS[question]
        model, y = fitted(criterion, target=target)
        result = account(model, X, y)
        same(result, by_loops(model, y, loss))
        unit = {"brier": "gini", "log": "bits", "squared_error": "variance"}[loss]
        assert (result.unit, result.measure, result.honest) == (unit, "loss", True)
        assert result.row_weight is None
        assert adds_up(result)

    def test_error_over_trees_and_correction_for_few(self, question):
        criterion, target, loss = QUESTIONS[question]
        model, y = fitted(criterion, target=target, n_trees=30)
        found = by_loops(model, y, loss)
        result = account(model, X, y, standard_error=True)
        np.testing.assert_allclose(result.standard_error, found["error"], rtol=1e-6, atol=1e-8)
        assert result.error_kind == "trees"
        many = account(model, X, y, many_trees=True)
        expected = found["credit"] - found["excess"]
        np.testing.assert_allclose(many.values, expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(many.baseline, result.baseline)
        assert adds_up(many)

    def test_held_out_rows_with_weights(self, question):
        criterion, target, loss = QUESTIONS[question]
        model, y = fitted(criterion, target=target, bootstrap=False, max_features=1)
        found = by_loops(model, y, loss, held=np.ones((24, len(X))))
        result = account(model, X, y, held_out=True, sample_weight=WEIGHT)
        same(result, found)
        expected = np.average(found["credit"], axis=0, weights=WEIGHT)
        np.testing.assert_allclose(result.mean().values, expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
    def test_new_rows_by_regression(self, question, weighted):
        criterion, target, loss = QUESTIONS[question]
        model, y = fitted(criterion, target=target, bootstrap=not weighted, max_features=1)
        held, weight = np.ones((24, len(X))), np.ones(len(X))
        options = {}
        if weighted:
            weight, options = WEIGHT, {"held_out": (X, y, WEIGHT)}
        else:
            held = out_of_bag(model, len(X))
        truth, starts = truth_of(y, of_classes=loss != "squared_error")
        found = oracles.expected_account(
            trees_of(model),
            X,
            truth,
            NEW,
            held=held,
            loss=loss,
            starts=starts,
            weight=weight,
        )
        result = account(model, X, y, at=NEW, **options)
        same(result, found, tolerance=1e-11)
        assert adds_up(result)
        assert "expected" in result.caveat
        if weighted:
            # Rows of X that others tell about are new rows, too.
            same(account(model, NEW, None, held_out=(X, y, WEIGHT)), found, tolerance=1e-11)


@pytest.mark.parametrize(
    ("class_weight", "weighted"),
    [
        (None, True),
        ("balanced_subsample", False),
        ("balanced", False),
        ({0: 1, 1: 1.5, 2: 1.2}, True),
    ],
    ids=str,
)
def test_rows_count_as_in_the_law_of_the_roots(class_weight, weighted):
    # scikit-learn draws by these weights, so they are mild: heavy ones are refused.
    rng = np.random.default_rng(4)
    rows, n = rng.random((200, 4)), 200
    y = np.digitize(rows[:, 0] + 0.5 * rng.random(200), [0.7, 1.0])
    weight = rng.choice([1.0, 1.2], n) if weighted else None
    model = RandomForestClassifier(60, class_weight=class_weight, random_state=0)
    model.fit(rows, y, sample_weight=weight)
    result = account(model, rows, y, sample_weight=weight)
    found = by_loops(model, y, "brier", rows=rows)
    same(result, found)
    held = out_of_bag(model, n)
    own = (held * law_weight(model, y, weight)).sum(axis=0) / held.sum(axis=0)
    np.testing.assert_allclose(
        result.row_weight / result.row_weight.sum(), own / own.sum(), rtol=1e-12
    )
    mean = np.average(found["credit"], axis=0, weights=own)
    np.testing.assert_allclose(result.mean().values, mean, rtol=0, atol=1e-12)


def test_held_out_rows_that_weigh_nothing():
    model, y = fitted("gini", bootstrap=False, max_features=1)
    weight = np.where(np.arange(60) % 7 == 0, 0.0, WEIGHT)
    result = account(model, X, y, held_out=True, sample_weight=weight)
    assert result.row_weight.tolist() == weight.tolist()
    found = by_loops(model, y, "brier", held=np.ones((24, len(X))))
    expected = np.average(found["after"][weight > 0], weights=weight[weight > 0])
    assert result.quality().figures["brier"] == pytest.approx(expected, rel=1e-12)


class TestGroups:
    GROUP = np.repeat(np.arange(20), 3)

    def model(self):
        return RandomForestClassifier(300, max_samples=12, random_state=0).fit(X, CLASSES)

    def test_a_tree_that_saw_one_saw_all(self):
        model = self.model()
        held = out_of_bag(model, len(X))
        held *= np.repeat(held.reshape(-1, 20, 3).min(axis=2), 3, axis=1)
        result = account(model, X, CLASSES, groups=self.GROUP)
        same(result, by_loops(model, CLASSES, "brier", held=held))
        named = account(model, X, CLASSES, groups=[f"patient {k % 7} {k}" for k in self.GROUP])
        np.testing.assert_array_equal(named.values, result.values)

    def test_the_mean_has_the_error_of_groups(self):
        model = self.model()
        local = account(model, X, CLASSES, groups=self.GROUP).values
        mean = lm.honest_global_mdi(model, X, CLASSES, groups=self.GROUP, measure="loss")
        np.testing.assert_allclose(mean.values, local.mean(axis=0), rtol=0, atol=1e-12)
        sums = (local - local.mean(axis=0)).reshape(20, 3, 3).sum(axis=1)
        error = np.sqrt((sums**2).sum(axis=0) * 20 / 19) / 60
        np.testing.assert_allclose(mean.standard_error, error, rtol=1e-10)
        rows = lm.honest_global_mdi(model, X, CLASSES, measure="loss")
        values = account(model, X, CLASSES).values
        error = values.std(axis=0, ddof=1) / np.sqrt(60)
        np.testing.assert_allclose(rows.standard_error, error, rtol=1e-10)

    def test_groups_that_every_tree_has_seen(self):
        model, y = fitted("gini")
        with pytest.raises(lm.exceptions.UnsupportedModelError, match="groups"):
            account(model, X, y, groups=np.arange(60) % 2)


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_either_loss_of_any_criterion(loss):
    for criterion in ("entropy", "gini"):
        model, y = fitted(criterion)
        same(account(model, X, y, loss=loss), by_loops(model, y, loss))
    other = account(model, X, y, criterion="entropy")
    assert other.unit == "bits"
    same(other, by_loops(model, y, "log"))


@pytest.mark.parametrize(("loss", "most"), [("brier", 0.3), ("log", 0.5)])
def test_with_more_trees_corrected_values_agree_better(loss, most):
    # Many trees, and the same in forests of 40: these differ by being few, and by nothing else. Of
    # the log loss the correction is the first term only.
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 4))
    y = (rows[:, 0] + rng.normal(size=150) > 0).astype(int)
    model = RandomForestClassifier(1200, min_samples_leaf=3, random_state=0).fit(rows, y)
    large = account(model, rows, y, loss=loss).values
    trees = model.estimators_
    few = {False: [], True: []}
    for first in range(0, 1200, 40):
        model.estimators_ = trees[first : first + 40]
        for many, values in few.items():
            values.append(account(model, rows, y, loss=loss, many_trees=many).values)
    bias = {many: np.mean(values, axis=0) - large for many, values in few.items()}
    assert np.abs(bias[False]).mean() > 0.003
    assert np.abs(bias[True].mean(axis=0)).max() < most * np.abs(bias[False].mean(axis=0)).max()
    assert np.abs(bias[True]).mean() < np.abs(bias[False]).mean()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_the_error_over_trees_is_the_spread_over_forests(criterion):
    drawn = []
    for seed in range(30):
        kind = RandomForestRegressor if criterion == "squared_error" else RandomForestClassifier
        y = NUMBERS if criterion == "squared_error" else CLASSES
        model = kind(60, criterion=criterion, min_samples_leaf=3, random_state=seed).fit(X, y)
        drawn.append(account(model, X, y, standard_error="trees"))
    spread = np.std([result.values for result in drawn], axis=0, ddof=1)
    claimed = np.mean([result.standard_error for result in drawn], axis=0)
    assert 0.9 < np.median(claimed / spread) < 1.1


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["gini", "entropy", "squared_error"]),
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_account_adds_up(seed, criterion, n_outputs, weighted, held_out):
    """Missing values, constant columns and targets, single nodes, weights, several outputs."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 40)), int(rng.integers(1, 5))
    rows = rng.choice([0.0, 1.0, 0.1, 16777217.0, np.nan], size=(n, p))
    rows[:, -1] = 1.0
    numbers = rng.normal(size=(n, n_outputs)) * 10.0 ** rng.integers(-3, 4)
    y = (
        numbers
        if criterion == "squared_error"
        else rng.integers(0, int(rng.integers(1, 4)), numbers.shape)
    )
    y = y[:, 0] if n_outputs == 1 else y
    kind = RandomForestRegressor if criterion == "squared_error" else RandomForestClassifier
    weight = rng.choice([1.0, 2.5], n) if weighted else None
    model = kind(80, criterion=criterion, max_depth=rng.choice([None, 1]), random_state=seed % 100)
    model.fit(rows, y, sample_weight=None if held_out else weight)
    options = {"held_out": True} if held_out else {}
    with warnings.catch_warnings():
        # A class of one row is unknown to the trees that have not seen it.
        warnings.filterwarnings("ignore", message=".* of a class that no tree knows")
        try:
            result = account(model, rows, y, sample_weight=weight, **options)
        except lm.exceptions.UnsupportedModelError:
            assume(False)
    assert adds_up(result)
    assert (np.nan_to_num(result.values[:, -1]) == 0).all()
    assert (result.residual[~np.isnan(result.residual)] >= 0).all()


@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
def test_the_same_bits_for_any_number_of_threads_and_kind_of_rows(criterion):
    rng = np.random.default_rng(0)
    rows = rng.random((5000, 3)).astype(np.float32)
    y = rng.integers(0, 3, 5000) if criterion == "entropy" else rng.normal(size=5000)
    kind = RandomForestRegressor if criterion == "squared_error" else RandomForestClassifier
    model = kind(30, criterion=criterion, max_depth=6, random_state=0).fit(rows, y)
    kinds = [rows, rows.astype(np.float64), sp.csr_array(rows), pd.DataFrame(rows)]
    options = {"standard_error": True, "many_trees": True}
    first = account(model, rows, y, n_jobs=1, **options)
    for n_jobs, same_rows in zip((2, 5, 3, 1), kinds, strict=True):
        if isinstance(same_rows, pd.DataFrame):
            model = kind(30, criterion=criterion, max_depth=6, random_state=0).fit(same_rows, y)
        other = account(model, same_rows, y, n_jobs=n_jobs, **options)
        for name in ("values", "baseline", "residual", "standard_error"):
            np.testing.assert_array_equal(getattr(other, name), getattr(first, name))


@pytest.mark.parametrize("errors", [False, True])
def test_the_same_bits_however_few_rows_pass_at_a_time(monkeypatch, errors):
    model, y = fitted("entropy", n_trees=40)
    whole = account(model, X, y, standard_error=errors)
    at = account(model, X, y, at=NEW)
    monkeypatch.setattr("localmdi.forest.packing._PAIRS", 200, raising=True)
    monkeypatch.setattr("localmdi.honest.account._PAIRS", 1)
    monkeypatch.setattr("localmdi.honest.account._PATHS", 1)
    tiles = account(model, X, y, standard_error=errors)
    for name in ("values", "baseline", "residual", "standard_error"):
        np.testing.assert_array_equal(getattr(tiles, name), getattr(whole, name))
    # The regression adds up rows in tiles, which rounds.
    np.testing.assert_allclose(account(model, X, y, at=NEW).values, at.values, rtol=1e-10)


class TestEdges:
    def test_one_row(self):
        model, y = fitted("gini", bootstrap=False, max_features=1)
        whole = account(model, X, y, held_out=True)
        one = account(model, X[5:6], y[5:6], held_out=True)
        np.testing.assert_array_equal(one.values[0], whole.values[5])
        np.testing.assert_array_equal(one.residual[0], whole.residual[5])

    def test_one_feature(self):
        rows = X[:, :1]
        model = RandomForestRegressor(50, random_state=0).fit(rows, NUMBERS)
        result = account(model, rows, NUMBERS)
        found = by_loops(model, NUMBERS, "squared_error", rows=rows)
        same(result, found)

    @pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
    def test_a_constant_target(self, kind):
        model = kind(30, random_state=0).fit(X, np.ones(60))
        result = account(model, X, np.ones(60), standard_error=True)
        for part in (result.values, result.baseline, result.residual, result.standard_error):
            assert (part == 0).all()

    def test_trees_of_a_single_node(self):
        y = np.random.default_rng(0).integers(0, 3, 60)
        model = RandomForestClassifier(40, min_samples_leaf=60, random_state=0).fit(X, y)
        result = account(model, X, y)
        assert (result.values == 0).all()
        np.testing.assert_array_equal(result.baseline, result.residual)

    def test_thresholds_at_the_edge_of_float32(self):
        base = np.float32(1.0)
        near = np.nextafter(base, np.float32(2.0))
        rows = np.where(CLASSES[:, None] > 0, near, base).astype(np.float32)
        model = RandomForestClassifier(40, random_state=0).fit(rows, CLASSES)
        same(account(model, rows, CLASSES), by_loops(model, CLASSES, "brier", rows=rows))
        # 64 bits say more than the model looks at.
        finer = rows.astype(np.float64) + 1e-12
        np.testing.assert_array_equal(
            account(model, finer, CLASSES).values, account(model, rows, CLASSES).values
        )

    def test_missing_values(self):
        rows = X.copy()
        rows[::3, 0] = np.nan
        rows[1::4, 1] = np.nan
        model = RandomForestClassifier(40, random_state=0).fit(rows, CLASSES)
        same(account(model, rows, CLASSES), by_loops(model, CLASSES, "brier", rows=rows))

    def test_categories(self):
        frame = pd.DataFrame({"a": list("xyxyzxyzxy") * 6, "b": X[:, 0]})
        y = (frame["a"].isin(["x"]) ^ (X[:, 1] > 0.9)).astype(int)
        model = lm.RandomizedForestClassifier(
            60, bootstrap=True, oob_score=True, random_state=0
        ).fit(frame, y)
        result = account(model, frame, y, loss="brier")
        squares = ((model.oob_decision_function_ - np.eye(2)[y]) ** 2).sum(axis=1)
        np.testing.assert_allclose(result.residual, squares, rtol=0, atol=1e-13)
        assert result.mean().values[0] > 0.1 > 0 > result.mean().values[1]

    def test_numbers_far_from_zero_lose_no_digits(self):
        model, y = fitted("squared_error", bootstrap=False, max_features=1)
        forest = lm.as_forest(model)
        far = dataclasses.replace(forest, value=forest.value + 2.0**30)
        moved = account(far, X, y + 2.0**30, held_out=True)
        plain = account(forest, X, y, held_out=True)
        np.testing.assert_allclose(moved.values, plain.values, rtol=0, atol=1e-5)
        assert adds_up(moved)
        assert moved.quality().figures["r2"] == pytest.approx(plain.quality().figures["r2"])

    def test_a_drawn_row_counts_as_often_as_it_was_drawn(self):
        # What is out of bag does not depend on how often others are in.
        model, _ = fitted("gini")
        assert counts(model, 60).max() > 2
        held = out_of_bag(model, 60)
        assert (account(model, X, CLASSES).quality().n_rows, held.any(axis=0).sum()) == (60, 60)


def test_noise_costs():
    rng = np.random.default_rng(0)
    rows = rng.random((400, 6))
    for y in ((rows[:, 0] > 0.5).astype(int), rng.integers(0, 2, 400)):
        for loss in ("log", "brier"):
            model = RandomForestClassifier(100, random_state=0).fit(rows, y)
            mean = account(model, rows, y, loss=loss).mean().values
            assert mean[1:].sum() < 0


def test_noise_of_new_rows_is_not_believed():
    rng = np.random.default_rng(0)
    rows, y = rng.random((400, 4)), rng.integers(0, 2, 400)
    model = RandomForestClassifier(100, random_state=0).fit(rows, y)
    at = account(model, rows, y, at=rng.random((300, 4)))
    # Against rows whose answers are known.
    new, answers = rng.random((3000, 4)), rng.integers(0, 2, 3000)
    real = account(model, new, answers, held_out=True)
    assert abs(at.residual.mean() - real.residual.mean()) < 0.05
    assert at.values.sum(axis=1).mean() < 0.02
