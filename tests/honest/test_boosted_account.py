"""The account of boosted trees: against loops, and against the libraries' own predictions."""

from __future__ import annotations

import math

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.integrate import quad
from scipy.special import softmax
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, r2_score

import localmdi as lm
import oracles
from localmdi.exceptions import UnsupportedModelError


def rows(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, {
        "two classes": (score > 0.3).astype(int),
        "three classes": np.digitize(score, [-0.5, 0.6]),
        "numbers": 50 + 3 * score,
    }


TRAIN, TEST = rows(0), rows(1)
WEIGHT = np.random.default_rng(2).choice([0.5, 1.0, 3.0], 200)
ALONE = {"verbose": -1, "num_threads": 1}
QUIET = {"iterations": 12, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
MODELS = {
    "GradientBoosting": (
        lambda: GradientBoostingClassifier(n_estimators=12, random_state=0),
        lambda: GradientBoostingRegressor(n_estimators=12, random_state=0),
    ),
    "HistGradientBoosting": (
        lambda: HistGradientBoostingClassifier(max_iter=12),
        lambda: HistGradientBoostingRegressor(max_iter=12),
    ),
    "LightGBM": (
        lambda: lgb.LGBMClassifier(n_estimators=12, **ALONE),
        lambda: lgb.LGBMRegressor(n_estimators=12, **ALONE),
    ),
    "XGBoost": (
        lambda: xgb.XGBClassifier(n_estimators=12, n_jobs=1),
        lambda: xgb.XGBRegressor(n_estimators=12, n_jobs=1),
    ),
    "CatBoost": (
        lambda: cb.CatBoostClassifier(**QUIET),
        lambda: cb.CatBoostRegressor(**QUIET),
    ),
}
TARGETS = ["two classes", "three classes", "numbers"]


def fitted(library, target):
    model = MODELS[library][target == "numbers"]()
    return model.fit(TRAIN[0], TRAIN[1][target]), TEST[1][target]


def account(model, X, y, **options):
    return lm.honest_mdi(model, X, y, held_out=True, measure="loss", **options)


def adds_up(result):
    gap = result.values.sum(axis=1) - (result.baseline - result.residual)
    size = np.abs(result.values).sum(axis=1) + result.baseline + result.residual
    return (np.abs(gap) <= 6e-15 * size).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("library", MODELS)
def test_before_and_after_are_the_losses_of_the_prior_and_of_the_model(library, target, weighted):
    model, y = fitted(library, target)
    weight = WEIGHT if weighted else None
    result = account(model, TEST[0], y, sample_weight=weight)
    tolerance = {"rtol": 1e-5, "atol": 1e-5}  # libraries predict in single precision
    if target == "numbers":
        mean = np.average(y, weights=weight)
        np.testing.assert_allclose(result.baseline, (y - mean) ** 2, rtol=1e-12, atol=1e-10)
        left = (y - model.predict(TEST[0])) ** 2
        np.testing.assert_allclose(result.residual, left, rtol=1e-4, atol=1e-4)
        r2 = r2_score(y, model.predict(TEST[0]), sample_weight=weight)
        assert result.quality().figures["r2"] == pytest.approx(r2, rel=1e-5)
    else:
        share = np.bincount(y, weights=weight) / (len(y) if weight is None else weight.sum())
        np.testing.assert_allclose(result.baseline, -np.log2(share[y]), rtol=1e-12)
        said = model.predict_proba(TEST[0])
        np.testing.assert_allclose(result.residual, -np.log2(said[range(200), y]), **tolerance)
        figures = result.quality().figures
        expected = log_loss(y, said, sample_weight=weight) / np.log(2)
        assert figures["log_loss"] == pytest.approx(expected, rel=1e-5)
        right = np.average(said.argmax(axis=1) == y, weights=weight)
        assert figures["accuracy"] == pytest.approx(right, rel=1e-12)
    assert result.feature_names[-1] == "(intercept)"
    assert result.shape == (200, 5)
    assert result.unit == ("variance" if target == "numbers" else "bits")
    assert adds_up(result)
    mean = np.average(result.values, axis=0, weights=weight)
    np.testing.assert_allclose(result.mean().values, mean, rtol=0, atol=1e-12)


def cover_means(tree):
    """Values of the nodes: those of leaves, and their means by the rows below."""
    value, n = tree.value[:, 0, 0].copy(), tree.weighted_n_node_samples
    for node in reversed(np.flatnonzero(tree.children_left >= 0)):
        children = [tree.children_left[node], tree.children_right[node]]
        value[node] = np.average(value[children], weights=n[children])
    return value


def paths(model, X, start):
    """Where the score of every row begins, and what each feature moves it by."""
    moves = np.zeros((*X.shape, model.estimators_.shape[1]))
    root = np.array(start, dtype=float)
    for k, stages in enumerate(model.estimators_.T):
        for member in stages:
            tree = member.tree_
            value = model.learning_rate * cover_means(tree)
            root[k] += value[0]
            for i, x in enumerate(X):
                for node, child, feature in oracles.walk(tree, x):
                    moves[i, feature, k] += value[child] - value[node]
    return root, moves


def one_score(y, prior, way, *, loss):
    """The weight of a single score: the loss it saves per step."""
    return (loss(y, prior) - loss(y, prior + way)) / way


def mean_chance(k, prior, way):
    return quad(lambda u: softmax(prior + u * way)[k], 0, 1)[0]


def bits(y, score):
    return math.log2(1 + math.exp(-score if y else score))


def squares(y, score):
    return (y - score) ** 2


@pytest.mark.parametrize("target", TARGETS)
def test_gradient_boosting_against_loops(target):
    model, y = fitted("GradientBoosting", target)
    X, n_scores = TEST[0], model.estimators_.shape[1]
    result = account(model, X, y)
    first = model.init_.predict(X[:1]) if target == "numbers" else model.init_.class_prior_
    if target == "two classes":
        first = [math.log(first[1] / first[0])]
    elif target == "three classes":
        first = np.log(first)
    root, moves = paths(model, X, first)
    share = np.bincount(y) / 200 if target != "numbers" else None
    prior = np.array([y.mean()]) if share is None else np.log(share)
    if n_scores == 1 and share is not None:
        prior = prior[1:] - prior[:1]
    for i in range(40):
        way = root - prior + moves[i].sum(axis=0)
        if n_scores == 1:
            loss = squares if share is None else bits
            weight = [one_score(y[i], prior[0], way[0], loss=loss)]
        else:
            means = [mean_chance(k, prior, way) for k in range(n_scores)]
            weight = (np.eye(n_scores)[y[i]] - means) / math.log(2)
        expected = [*(moves[i] @ weight), (root - prior) @ weight]
        np.testing.assert_allclose(result.values[i], expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("library", MODELS)
def test_every_library_against_what_features_moved(library, target):
    # For one score a row's features share its loss as they share the way of the score.
    model, y = fitted(library, target)
    result = account(model, TEST[0], y)
    moves = lm.saabas(model, TEST[0])
    if moves.shape[2] > 1:
        chances = model.predict_proba(TEST[0])
        assert np.corrcoef(result.residual, -np.log2(chances[range(200), y]))[0, 1] > 0.999
        assert np.abs(result.values[:, 0]).mean() > np.abs(result.values[:, 2]).mean()
        return
    weight = result.values[:, :-1].sum(axis=1) / moves[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(result.values[:, :-1], moves[:, :, 0] * weight[:, None], atol=1e-9)


def test_a_model_that_never_learned_is_its_intercept():
    X, y = TRAIN[0], TRAIN[1]["two classes"]
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=150).fit(X, y)
    result = account(model, TEST[0], TEST[1]["two classes"])
    assert (result.values[:, :-1] == 0).all()
    np.testing.assert_allclose(result.values[:, -1], result.baseline - result.residual, atol=1e-15)


def test_frames_and_other_labels():
    names = np.array(["no", "yes"])
    frame = pd.DataFrame(TEST[0], columns=list("abcd"), index=range(7, 207))
    y = TEST[1]["two classes"]
    train = pd.DataFrame(TRAIN[0], columns=list("abcd"))
    model = GradientBoostingClassifier(n_estimators=12, random_state=0)
    model.fit(train, names[TRAIN[1]["two classes"]])
    result = account(model, frame, names[y])
    plain = account(*fitted("GradientBoosting", "two classes")[:1], TEST[0], y)
    np.testing.assert_allclose(result.values, plain.values, rtol=0, atol=1e-12)
    assert result.feature_names == (*"abcd", "(intercept)")
    assert result.to_frame().index.tolist() == list(range(7, 207))


@pytest.mark.parametrize("target", ["two classes", "numbers"])
def test_the_same_bits_for_any_threads_and_however_few_rows(monkeypatch, target):
    model, y = fitted("LightGBM", target)
    first = account(model, TEST[0], y, n_jobs=1)
    two = account(model, TEST[0], y, n_jobs=2)
    monkeypatch.setattr("localmdi.honest.scores._PATHS", 50)
    for other in (two, account(model, TEST[0], y)):
        np.testing.assert_array_equal(other.values, first.values)
        np.testing.assert_array_equal(other.residual, first.residual)


def test_the_mean_has_the_error_of_the_rows():
    model, y = fitted("XGBoost", "two classes")
    local = account(model, TEST[0], y).values
    mean = lm.honest_global_mdi(model, TEST[0], y, held_out=True, measure="loss")
    np.testing.assert_allclose(mean.values, local.mean(axis=0), rtol=1e-10)
    error = local.std(axis=0, ddof=1) / np.sqrt(200)
    np.testing.assert_allclose(mean.standard_error, error, rtol=1e-10)
    assert mean.feature_names[-1] == "(intercept)"


class TestRefusals:
    @pytest.mark.parametrize(
        "options",
        [{"at": TRAIN[0]}, {"standard_error": True}, {"many_trees": True}, {"loss": "brier"}],
        ids=lambda options: next(iter(options)),
    )
    def test_what_only_averaged_trees_have(self, options):
        model, y = fitted("LightGBM", "two classes")
        with pytest.raises((UnsupportedModelError, ValueError), match="boosted trees"):
            account(model, TEST[0], y, **options)

    def test_rows_that_it_was_trained_on(self):
        model, _ = fitted("LightGBM", "two classes")
        with pytest.raises(UnsupportedModelError, match="held_out"):
            lm.honest_mdi(model, TRAIN[0], TRAIN[1]["two classes"], measure="loss")

    def test_a_class_that_is_not_held_out(self):
        model, _ = fitted("LightGBM", "two classes")
        with pytest.raises(ValueError, match="every class"):
            account(model, TEST[0][:3], np.zeros(3, dtype=int))

    def test_boosting_that_starts_from_another_model(self):
        model = GradientBoostingRegressor(n_estimators=3, init=HistGradientBoostingRegressor())
        model.fit(TRAIN[0], TRAIN[1]["numbers"])
        with pytest.raises(UnsupportedModelError, match="init="):
            account(model, TEST[0], TEST[1]["numbers"])

    def test_scores_that_are_no_log_odds(self):
        X, y = TRAIN[0], TRAIN[1]["two classes"]
        poisson = lgb.LGBMRegressor(n_estimators=5, objective="poisson", **ALONE)
        poisson.fit(X, TRAIN[1]["numbers"])
        with pytest.raises(UnsupportedModelError, match="LGBMRegressor"):
            account(poisson, TEST[0], TEST[1]["numbers"])
        votes = AdaBoostClassifier(n_estimators=5).fit(X, y)
        with pytest.raises(UnsupportedModelError, match="measure='gain'"):
            account(votes, TEST[0], TEST[1]["two classes"])
