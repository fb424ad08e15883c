"""Who the true features are: what the problems say against brute force on their rules."""

import numpy as np
import pytest

from evaluation.problems import PROBLEMS, draw
from evaluation.responses import COVARIATES, RESPONSES, RealProblem, covariates, real_problems
from evaluation.tables import TABLES, draw_table


def changes(drawn):
    """Return where another value of a feature, taken from other rows, changes the rule."""
    X = drawn.rows.X
    parts = [part for part in (drawn.rule.signal, drawn.rule.spread) if part is not None]
    found = np.zeros(X.shape, dtype=bool)
    for part in parts:
        before = part(X)
        for j in range(X.shape[1]):
            for value in drawn.train.X[:, j]:
                other = X.copy()
                other[:, j] = value
                found[:, j] |= part(other) != before
    return found


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 7])
def test_a_feature_is_true_where_another_value_changes_the_answer(name, seed):
    drawn = draw(name, 60, n_rows=40, seed=seed)
    np.testing.assert_array_equal(drawn.rows.truth, changes(drawn))


@pytest.mark.parametrize("response", RESPONSES)
def test_true_features_of_real_covariates_are_those_that_matter_for_some_row(response):
    drawn = RealProblem("diabetes", response, 150).draw(40, seed=3)
    assert drawn.regression
    assert drawn.rows.truth[0].sum() == 4
    assert (drawn.rows.truth == drawn.rows.truth[0]).all()
    np.testing.assert_array_equal(changes(drawn).any(axis=0), drawn.rows.truth[0])


def test_invase_sets():
    # One based, as its authors write them: Syn4 has X1, X2, X11 or X3 to X6, X11.
    expected = {
        "Syn1": {(1, 2)},
        "Syn2": {(3, 4, 5, 6)},
        "Syn3": {(7, 8, 9, 10)},
        "Syn4": {(1, 2, 11), (3, 4, 5, 6, 11)},
        "Syn5": {(1, 2, 11), (7, 8, 9, 10, 11)},
        "Syn6": {(3, 4, 5, 6, 11), (7, 8, 9, 10, 11)},
    }
    for name, sets in expected.items():
        truth = draw(name, 1, n_rows=50, seed=0).rows.truth
        assert {tuple(np.flatnonzero(row) + 1) for row in truth} == sets


def test_answers_follow_the_rule():
    drawn = draw("Syn2", 20_000, n_rows=1, seed=1)
    chance = 1 / (1 + np.exp(-drawn.rule.signal(drawn.train.X)))
    sure = np.abs(chance - 0.5) > 0.4
    assert (drawn.train.y == (chance > 0.5))[sure].mean() > 0.93
    assert abs(drawn.train.y.mean() - chance.mean()) < 0.02


def test_only_the_spread_depends_on_the_first_feature():
    train = draw("spread alone", 20_000, n_rows=1, seed=1).train
    high = train.X[:, 0] > 0
    assert train.y[high].std() == pytest.approx(2, rel=0.03)
    assert train.y[~high].std() == pytest.approx(0.5, rel=0.03)
    assert abs(train.y[high].mean()) < 0.06
    assert abs(train.y[~high].mean()) < 0.02


@pytest.mark.parametrize("name", ["rare", "rare, many values"])
def test_about_one_label_of_twenty_is_rare(name):
    assert 0.04 < draw(name, 20_000, n_rows=1, seed=1).train.y.mean() < 0.065


def test_one_label_of_five_is_wrong():
    drawn = draw("wrong labels", 20_000, n_rows=1, seed=1)
    chance = 1 / (1 + np.exp(-drawn.rule.signal(drawn.train.X)))
    flipped = 0.8 * chance + 0.2 * (1 - chance)
    assert abs(np.mean((drawn.train.y - flipped) * (chance - 0.5))) < 0.005


def test_forty_percent_of_the_variance_is_explained():
    drawn = RealProblem("breast cancer", "linear", 500).draw(60, seed=0)
    share = np.corrcoef(drawn.rule.signal(drawn.train.X), drawn.train.y)[0, 1] ** 2
    assert 0.3 < share < 0.5


def test_draws_are_of_their_seed_alone():
    one, same, other = (draw("switch", 30, n_rows=5, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.train.X, same.train.X)
    np.testing.assert_array_equal(one.rows.y, same.rows.y)
    assert not np.array_equal(one.train.X, other.train.X)


def test_li_has_its_own_number_of_rows():
    drawn = draw("Li", 2000, n_rows=5, seed=0)
    assert len(drawn.train.X) == PROBLEMS["Li"].n_train == 200
    assert drawn.train.truth[0].sum() == 5
    assert not drawn.train.truth[:, 10:].any()
    assert [len(np.unique(column)) for column in drawn.train.X.T[:3]] == [2, 3, 4]


def test_real_problems_leave_rows_to_explain():
    for problem in real_problems(COVARIATES, (150, 400, 1000)):
        assert len(covariates(problem.data)) >= problem.n_train + 40
    assert not covariates("diabetes").flags.writeable


@pytest.mark.parametrize("data", COVARIATES)
def test_no_cut_between_neighbours_is_rounded_up_to_one_of_them(data):
    for column in covariates(data).T:
        values = np.unique(column).astype(float)
        cuts = (values[1:] + values[:-1]) / 2
        assert (cuts.astype(np.float32) < values[1:]).all()


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_keep_their_answers(name):
    from sklearn import datasets

    raw = getattr(datasets, f"load_{TABLES[name][0].replace(' ', '_')}")()
    expected = TABLES[name][1](raw.target)
    drawn = draw_table(name, 50, seed=2)
    X = np.vstack([drawn.train.X, drawn.rows.X])
    y = np.concatenate([drawn.train.y, drawn.rows.y])
    assert len(X) == len(raw.data)
    assert len(drawn.rows.X) == min(50, len(X) // 3)
    # Columns that do not vary are left out, and nothing lies exactly on its old place.
    table = covariates(TABLES[name][0])
    nearest = [int(((table - row) ** 2).sum(axis=1).argmin()) for row in X[::7]]
    np.testing.assert_array_equal(y[::7], expected[nearest])
