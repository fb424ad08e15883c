"""How well rows are predicted, beside scikit-learn's numbers."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, r2_score, root_mean_squared_error

from localmdi import honest_mdi
from localmdi._quality import RunningQuality, quality_of


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_classes(rng):
    expected = rng.dirichlet(np.ones(3), 400)
    classes = np.array(["a", "b", "c"])
    target = np.array([rng.choice(classes, p=share) for share in expected])
    quality = quality_of(target, expected, classes=classes)
    said = classes[expected.argmax(axis=1)]
    assert quality.figures["accuracy"] == accuracy_score(target, said)
    truth = target[:, None] == classes
    assert quality.figures["brier"] == pytest.approx(((expected - truth) ** 2).sum() / 400)
    share = truth.mean(axis=0)
    frequencies = ((share - truth) ** 2).sum() / 400
    assert quality.figures["brier_frequencies"] == pytest.approx(frequencies)
    assert sum(one.n_rows for one in quality.bins) == 400
    # The truth was drawn from what is said: it comes true, within error.
    assert all(abs(one.said - one.came) < 4 * one.error for one in quality.bins)
    assert [one.said for one in quality.bins] == sorted(one.said for one in quality.bins)


def test_numbers_at_once_and_in_parts(rng):
    y = rng.normal(1e6, 3, 300)
    said = y + rng.normal(0, 1, 300)
    quality = quality_of(y, said[:, None], classes=None)
    assert quality.figures["r2"] == pytest.approx(r2_score(y, said))
    assert quality.figures["error"] == pytest.approx(root_mean_squared_error(y, said))
    assert quality.figures["spread"] == pytest.approx(y.std())
    assert not quality.unseen
    running = RunningQuality(is_classifier=False)
    for part in np.array_split(np.arange(300), 7):
        running.add(said[part], y[part])
    assert running.result().figures == pytest.approx(quality.figures)


@pytest.mark.parametrize("counts", [(500, 30), (30, 500), (200, 300, 100)])
def test_equal_forecasts_are_one_group(counts):
    levels = np.array([0.6, 0.8, 0.9])[: len(counts)]
    said = np.repeat(levels, counts)
    shares = np.stack([said, 1 - said], axis=1)
    quality = quality_of(np.zeros(len(said), dtype=int), shares, classes=np.arange(2))
    assert tuple(one.n_rows for one in quality.bins) == counts
    np.testing.assert_allclose([one.said for one in quality.bins], levels)


def test_groups_have_enough_rows_and_are_not_many(rng):
    for n in (99, 1000, 1003):
        y = rng.integers(0, 30, n).astype(float)
        bins = quality_of(y, y[:, None], classes=None).bins
        assert 2 <= len(bins) <= 10
        assert min(one.n_rows for one in bins) >= 20
        assert sum(one.n_rows for one in bins) == n


@pytest.mark.parametrize("n_rows", [1, 39])
def test_few_rows_have_no_groups(rng, n_rows):
    y = rng.normal(size=n_rows)
    assert quality_of(y, y[:, None], classes=None).bins == ()


def test_nothing_to_judge():
    running = RunningQuality(is_classifier=False)
    running.add(np.array([1.0]), np.array(["a"], dtype=object))
    assert running.result() is None


def test_chances_at_once_and_in_parts(rng):
    expected = rng.dirichlet(np.ones(3), 500)
    classes = np.array(["a", "b", "c"])
    target = np.array([rng.choice(classes, p=share) for share in expected])
    said = classes[expected.argmax(axis=1)]
    whole = quality_of(target, expected, classes=classes)
    running = RunningQuality(is_classifier=True)
    for part in np.array_split(np.arange(500), 7):
        running.add(said[part], target[part], chances=(expected[part], classes))
    found = running.result()
    assert found.figures == pytest.approx(whole.figures)
    assert found.bins == whole.bins


def test_a_class_that_is_never_expected_counts(rng):
    running = RunningQuality(is_classifier=True)
    chances = (np.array([[0.75, 0.25]]), np.array(["a", "b"]))
    running.add(np.array(["a"]), np.array(["c"]), chances=chances)
    assert running.result().figures["brier"] == pytest.approx(0.75**2 + 0.25**2 + 1)


def test_of_a_long_stream_evenly_spaced_rows_are_kept(rng, monkeypatch):
    monkeypatch.setattr("localmdi._quality._MOST_FORECASTS", 100)
    y = rng.normal(size=2000)
    found = []
    for n_parts in (1, 7, 400):
        running = RunningQuality(is_classifier=False)
        for part in np.array_split(np.arange(2000), n_parts):
            running.add(y[part] + 1, y[part])
        found.append(running.result().bins)
    assert found[0] == found[1] == found[2]
    assert 50 <= sum(one.n_rows for one in found[0]) <= 100
    assert all(one.came == pytest.approx(one.said - 1) for one in found[0])
    kept = quality_of(y[::32], y[::32, None] + 1, classes=None).bins
    assert found[0] == kept


def test_figures_of_rows(rng):
    """Those of an account are scikit-learn's own out-of-bag scores, with its bins."""
    X, y = rng.random((300, 3)), rng.choice(["no", "yes"], 300, p=[0.3, 0.7])
    model = RandomForestClassifier(90, criterion="entropy", oob_score=True, random_state=0)
    account = honest_mdi(model.fit(X, y), X, y, measure="loss")
    quality = account.quality()
    shares = model.oob_decision_function_
    assert (account.prediction == model.classes_[shares.argmax(axis=1)]).all()
    own = quality_of(y, shares, classes=model.classes_)
    for name, figure in own.figures.items():
        assert quality.figures[name] == pytest.approx(figure)
    np.testing.assert_allclose(quality.bins, own.bins)
    assert quality.unseen
    before, left = quality.levels("bits")
    share = (y == "yes").mean()
    assert before == pytest.approx(-share * np.log2(share) - (1 - share) * np.log2(1 - share))
    # No tree counts the row itself, so that the mean of the rows is a little above.
    assert before < account.baseline.mean() < before + 0.02
    assert left == pytest.approx(account.residual.mean())
    assert quality.levels("variance") is None
    numbers = RandomForestRegressor(90, oob_score=True, random_state=0).fit(X, X[:, 0])
    account = honest_mdi(numbers, X, X[:, 0], measure="loss")
    np.testing.assert_allclose(account.prediction, numbers.oob_prediction_)
    quality = account.quality()
    assert quality.levels("variance") == pytest.approx((X[:, 0].var(), account.residual.mean()))
    own = quality_of(X[:, 0], numbers.oob_prediction_[:, None], classes=None)
    np.testing.assert_allclose(quality.bins, own.bins)


def test_several_targets_have_no_forecast(rng):
    X = rng.random((120, 3))
    model = RandomForestClassifier(60, random_state=0).fit(X, (X[:, :2] > 0.5).astype(int))
    account = honest_mdi(model, X, (X[:, :2] > 0.5).astype(int), measure="loss")
    assert account.prediction is None
    assert account.quality().bins == ()
    assert 0.5 < account.quality().figures["accuracy"] <= 1
