"""What is refused, and what is said, where unseen rows say less than they seem to."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.fixes import parse_version

import localmdi as lm
from honest.samples import CLASSES, NEW, NUMBERS, X, counts, fitted
from localmdi.exceptions import MissingStatisticsError, UnsupportedModelError

MEASURES = ["gain", "loss"]
DRAWS_BY_WEIGHT = parse_version(sklearn.__version__) >= parse_version("1.9")
FUNCTIONS = [lm.honest_mdi, lm.honest_global_mdi]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("measure", MEASURES)
class TestBags:
    def test_every_class_needs_rows_out_of_bag(self, function, measure):
        plain = RandomForestClassifier(3, random_state=0).fit(X, CLASSES)
        always = np.flatnonzero((counts(plain, 60) > 0).all(axis=0))
        y = np.array(["common"] * 60)
        y[always[:2]] = "rare"
        model = RandomForestClassifier(3, random_state=0).fit(X, y)
        with pytest.raises(UnsupportedModelError, match="'rare' are in every tree's bag"):
            function(model, X, y, measure=measure)
        with pytest.raises(UnsupportedModelError, match=r"held_out=\(X, y\)"):
            function(model, X, y, measure=measure)
        function(model, NEW, np.resize(["rare", "common"], 20), held_out=True, measure=measure)

    def test_rows_that_weigh_nothing_are_left_out_without_a_word(self, function, measure):
        weight = np.where(np.arange(60) % 7 == 0, 0.0, 1.0)
        model = BaggingClassifier(n_estimators=60, random_state=0)
        model.fit(X, CLASSES, sample_weight=weight)
        for options in ({}, {"held_out": True}):
            result = function(model, X, CLASSES, sample_weight=weight, measure=measure, **options)
            if function is lm.honest_mdi:
                assert (np.isnan(result.values[:, 0]) == (weight == 0)).all()
                assert result.row_weight.tolist() == weight.tolist()

    @pytest.mark.skipif(not DRAWS_BY_WEIGHT, reason="this scikit-learn does not draw by weight")
    def test_balanced_classes_of_which_one_is_rare(self, function, measure):
        rng = np.random.default_rng(0)
        rows, y = rng.random((600, 3)), (np.arange(600) < 18).astype(int)
        model = RandomForestClassifier(60, class_weight="balanced", random_state=0).fit(rows, y)
        with pytest.raises(UnsupportedModelError, match="those of '1' are in every tree's bag"):
            function(model, rows, y, measure=measure)

    @pytest.mark.skipif(not DRAWS_BY_WEIGHT, reason="this scikit-learn does not draw by weight")
    def test_heavy_rows_that_are_never_out_of_bag(self, function, measure):
        rng = np.random.default_rng(0)
        rows, y = rng.random((300, 3)), rng.integers(0, 2, 300)
        weight = np.where(np.arange(300) % 10 == 0, 50.0, 1.0)
        model = RandomForestClassifier(60, random_state=0).fit(rows, y, sample_weight=weight)
        with pytest.raises(UnsupportedModelError, match="82% of the rows' weight is in every"):
            function(model, rows, y, sample_weight=weight, measure=measure)

    def test_groups_of_which_some_row_is_in_every_bag(self, function, measure):
        model, y = fitted("gini", n_trees=60)
        groups = np.arange(60) // 6
        with pytest.raises(UnsupportedModelError, match="of the rows' weight belongs to groups"):
            function(model, X, y, groups=groups, measure=measure)
        with pytest.raises(UnsupportedModelError, match="honest_folds"):
            function(model, X, y, groups=np.arange(60) // 30, measure=measure)

    def test_what_chance_leaves_is_said_and_not_refused(self, function, measure):
        model, y = fitted("gini", n_trees=4)
        never = (counts(model, 60) > 0).all(axis=0).sum()
        assert never > 3
        with pytest.warns(UserWarning, match=f"^{never} rows of 60 were seen by every tree"):
            function(model, X, y, measure=measure)


class TestOtherRows:
    """A model that was trained on other rows than X."""

    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("measure", MEASURES)
    def test_fewer(self, function, measure):
        rng = np.random.default_rng(0)
        rows, y = rng.random((178, 4)), rng.integers(0, 2, 178)
        model = RandomForestClassifier(20, random_state=0).fit(rows[:133], y[:133])
        with pytest.raises(ValueError, match=r"at least 133 rows, X has 45.*at=.*held_out=True"):
            function(model, rows[133:], y[133:], measure=measure)
        function(model, rows[133:], y[133:], measure=measure, held_out=True)

    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize("n", [60, 90])
    def test_as_many_or_more(self, function, measure, n):
        model, _ = fitted("gini")
        rng = np.random.default_rng(1)
        with pytest.raises(UnsupportedModelError, match=r"Pass exactly what fit got.*at="):
            function(model, rng.random((n, 3)), rng.integers(0, 3, n), measure=measure)


def likeness(model, rows, y, **options):
    """What is said of unseen rows that are not."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lm.honest_mdi(model, rows, y, measure="loss", **options)
    return " ".join(str(one.message) for one in said)


class TestLikeness:
    def patients(self, *, shuffled):
        """Fifteen rows each of forty patients, whose answer has nothing to do with the columns."""
        rng = np.random.default_rng(0)
        patient = np.repeat(np.arange(40), 15)
        rows = rng.normal(size=(40, 4))[patient] + 0.2 * rng.normal(size=(600, 4))
        y = rng.normal(size=40)[patient]
        order = rng.permutation(600) if shuffled else np.arange(600)
        return rows[order], y[order], patient[order]

    def test_rows_of_one_patient_in_any_order(self):
        # A forest that knows them perfectly misses nothing: leaves here hold several patients.
        rows, y, patient = self.patients(shuffled=True)
        model = RandomForestRegressor(200, min_samples_leaf=30, random_state=0).fit(rows, y)
        said = likeness(model, rows, y)
        assert "the row most like it" in said
        assert "honest_folds" in said
        assert patient.max() == 39

    def test_whole_groups_unseen_are_not_warned_of(self):
        rows, y, patient = self.patients(shuffled=False)
        model = RandomForestRegressor(400, max_samples=20, random_state=0).fit(rows, y)
        assert "the row" in likeness(model, rows, y)
        assert "the row" not in likeness(model, rows, y, groups=patient)

    def test_a_walk_through_time(self):
        rng = np.random.default_rng(0)
        rows = np.cumsum(rng.normal(size=(400, 3)), axis=0)
        y = np.cumsum(rng.normal(size=400))
        model = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(rows, y)
        assert "the row before it" in likeness(model, rows, y)

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("kind", ["clean", "clustered", "sorted", "noise"])
    def test_unrelated_rows(self, kind, seed):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(300, 4))
        if kind == "clustered":
            rows += 5 * rng.integers(0, 4, 300)[:, None]
        y = (rows[:, 0] + rng.normal(size=300) > rows[:, 0].mean()).astype(int)
        if kind == "sorted":
            rows, y = rows[np.argsort(y)], np.sort(y)
        if kind == "noise":
            y = rng.integers(0, 3, 300)
        model = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed).fit(rows, y)
        assert likeness(model, rows, y) == ""

    def test_new_rows_and_held_out_ones_are_not_asked(self):
        rows, y, _ = self.patients(shuffled=False)
        model = RandomForestRegressor(50, max_samples=20, random_state=0).fit(rows, y)
        assert likeness(model, rows, y, held_out=True) == ""


DAYS = pd.date_range("2020-01-01", periods=60)
BAD_WEIGHTS = {
    "NaN": np.where(np.arange(60) == 7, np.nan, 1.0),
    "infinite": np.where(np.arange(60) == 7, np.inf, 1.0),
    "negative": np.where(np.arange(60) == 7, -1.0, 1.0),
    "all zero": np.zeros(60),
    "None": np.full(60, None),
    "some None": np.where(np.arange(60) == 7, None, 1.0),
    "words": np.full(60, "heavy"),
    "words as objects": np.full(60, "heavy", dtype=object),
    "too few": np.ones(59),
    "too few objects": np.ones(59, dtype=object),
    "lists as objects": np.array([[1.0], *[[1.0, 2.0]] * 59], dtype=object),
    "a column": np.ones((60, 1)),
    "dates": DAYS.to_numpy(),
    "dates as objects": np.array(DAYS.to_pydatetime(), dtype=object),
    "durations": (DAYS - DAYS[0]).to_numpy(),
    "durations as objects": np.array([datetime.timedelta(1)] * 60, dtype=object),
    "NumPy durations as objects": np.array([*(DAYS - DAYS[0]).to_numpy()], dtype=object),
    "NumPy dates as objects": np.array([*DAYS.to_numpy(dtype="datetime64[s]")], dtype=object),
    "complex": np.ones(60, dtype=complex),
    "a sum of infinity": np.full(60, 1e308),
}


@pytest.mark.parametrize("bad", BAD_WEIGHTS)
class TestWeights:
    def refused(self, call, *args, **options):
        with pytest.raises((TypeError, ValueError), match="sample_weight"):
            call(*args, **options)

    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("measure", MEASURES)
    def test_of_honest_values(self, bad, function, measure):
        weight, (model, y) = BAD_WEIGHTS[bad], fitted("gini")
        options = {"measure": measure}
        self.refused(function, model, X, y, sample_weight=weight, **options)
        self.refused(function, model, X, y, sample_weight=weight, held_out=True, **options)
        self.refused(function, model, X, y, held_out=(X, y, weight), **options)
        self.refused(function, model, X, y, sample_weight=weight, held_out=(X, y), **options)

    def test_of_the_decomposition(self, bad):
        model, y = fitted("gini")
        self.refused(lm.decompose_global, model, X, y, sample_weight=BAD_WEIGHTS[bad])


@pytest.mark.parametrize("kind", [int, bool, object, np.float32, "Decimal"])
def test_weights_of_any_numbers_are_taken(kind):
    model, y = fitted("gini", bootstrap=False, max_features=1)
    weight = np.arange(60) % 2 + (0 if kind is bool else 1)
    given = weight.astype(kind) if kind != "Decimal" else pd.Series(weight).astype("Int64")
    expected = lm.honest_mdi(model, X, y, held_out=True, sample_weight=weight.astype(float))
    result = lm.honest_mdi(model, X, y, held_out=True, sample_weight=given)
    np.testing.assert_array_equal(result.values, expected.values)


class TestArguments:
    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_forests_without_bootstrap(self, function):
        model = ExtraTreesClassifier(3, random_state=0).fit(X, CLASSES)
        for measure in MEASURES:
            with pytest.raises(UnsupportedModelError, match=r"bootstrap=True.*held_out=\(X, y\)"):
                function(model, X, CLASSES, measure=measure)

    def test_boosting(self):
        model = GradientBoostingRegressor(n_estimators=2).fit(X, NUMBERS)
        for held_out in (None, True, (X, NUMBERS)):
            with pytest.raises(UnsupportedModelError, match="boosted trees have seen all rows"):
                lm.honest_mdi(model, X, NUMBERS, held_out=held_out)
        with pytest.raises(UnsupportedModelError, match="with_statistics"):
            lm.honest_mdi(lm.as_forest(model), X, NUMBERS, held_out=True)

    def test_other_criteria(self):
        model = RandomForestRegressor(2, criterion="absolute_error").fit(X, NUMBERS)
        with pytest.raises(MissingStatisticsError, match="entropy, gini or squared_error"):
            lm.honest_mdi(model, X, NUMBERS)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"y": None}, ValueError, "y must be given"),
            ({"y": CLASSES[:5]}, ValueError, "per row"),
            ({"y": CLASSES + 7}, ValueError, "classes of the model"),
            ({"y": np.where(CLASSES == 0, np.nan, 1.0)}, ValueError, "missing"),
            ({"measure": "drop"}, ValueError, "'gain' or 'loss'"),
            ({"measure": None}, ValueError, "'gain' or 'loss'"),
            ({"min_rows": 0}, ValueError, "min_rows"),
            ({"min_rows": 2.5}, ValueError, "min_rows"),
            ({"min_rows": True}, ValueError, "min_rows"),
            ({"standard_error": "rows"}, ValueError, "'trees', 'labels' or 'both'"),
            ({"standard_error": "label"}, ValueError, "'trees', 'labels' or 'both'"),
            ({"standard_error": 1}, ValueError, "'trees', 'labels' or 'both'"),
            ({"standard_error": "labels", "measure": "loss"}, ValueError, "measure='gain'"),
            ({"standard_error": "both", "measure": "loss"}, ValueError, "measure='gain'"),
            ({"held_out": X}, TypeError, "held_out"),
            ({"held_out": (X,)}, TypeError, "held_out"),
            ({"held_out": (X, None)}, ValueError, "y must be given"),
            ({"random_state": None}, TypeError, "random_state"),
            ({"loss": "brier"}, ValueError, "measure='loss'"),
            ({"many_trees": True}, ValueError, "measure='loss'"),
            ({"many_trees": 1, "measure": "loss"}, TypeError, "many_trees"),
            ({"loss": "hinge", "measure": "loss"}, ValueError, "'log', 'brier'"),
            ({"at": NEW, "many_trees": True, "measure": "loss"}, ValueError, "labels of the rows"),
            ({"at": NEW, "standard_error": True, "measure": "loss"}, ValueError, "labels of the"),
            ({"groups": np.ones(3)}, ValueError, "groups"),
            ({"groups": np.where(CLASSES > 0, np.nan, 1.0)}, ValueError, "groups"),
        ],
        ids=str,
    )
    def test_bad_arguments(self, options, error, message):
        model, _ = fitted("gini")
        with pytest.raises(error, match=message):
            lm.honest_mdi(model, X, **{"y": CLASSES} | options)

    def test_a_loss_of_classes_for_numbers(self):
        model, y = fitted("squared_error")
        with pytest.raises(ValueError, match="squared error"):
            lm.honest_mdi(model, X, y, measure="loss", loss="log")

    @pytest.mark.parametrize(
        "options",
        [{"method": "oob"}, {"method": "ufi", "min_rows": 3}, {"method": "ufi", "measure": "loss"}],
        ids=str,
    )
    def test_methods(self, options):
        model, y = fitted("gini")
        with pytest.raises(ValueError, match="method"):
            lm.honest_global_mdi(model, X, y, **options)

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_no_rows(self, function):
        model, y = fitted("gini")
        for measure in MEASURES:
            with pytest.raises(ValueError, match="at least one row"):
                function(model, X[:0], y[:0], measure=measure)
            with pytest.raises(ValueError, match="at least one row"):
                function(model, X, y, held_out=(X[:0], y[:0]), measure=measure)
