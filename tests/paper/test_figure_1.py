"""Figure 1: the points are the forests', the curves are the theory's, the verdicts follow both."""

from dataclasses import replace

import numpy as np
import pytest
import shap
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm
from paper import drawing, figure_1
from paper.figure_1 import Curve
from paper.piece import AS_READ, NOT_REPRODUCED
from paper.settings import Settings
from paper.store import Store

NUMBERS = (1, 2, 7)
N_TREES = 30


@pytest.fixture(scope="module")
def piece(tmp_path_factory):
    settings = replace(
        Settings.quick(tmp_path_factory.mktemp("figure_1")),
        n_trees=N_TREES,
        led_max_features=NUMBERS,
        sage_permutations=256,
        sage_threshold=0.5,
    )
    return figure_1.run(settings, Store(settings.folder))


@pytest.fixture(scope="module")
def led():
    X, y = lm.datasets.make_led()
    return X.astype(np.float32), y


def forest(led, K):
    model = ExtraTreesClassifier(N_TREES, max_features=K, criterion="entropy", random_state=0)
    return model.fit(*led)


def row(piece, measure, K, *, what="value"):
    (found,) = [cells for cells in piece.tables[0].rows if cells[:3] == (measure, K, what)]
    return np.array(found[3:], dtype=float)


@pytest.mark.parametrize("K", NUMBERS)
def test_points_are_the_mean_over_scikit_learns_trees(piece, led, K):
    trees = np.array(
        [
            tree.tree_.compute_feature_importances(normalize=False)
            for tree in forest(led, K).estimators_
        ]
    )
    shares = trees / np.log2(10)
    error = shares.std(axis=0, ddof=1) / np.sqrt(N_TREES)
    np.testing.assert_allclose(row(piece, "Global MDI", K), shares.mean(axis=0), atol=6e-6)
    errors = row(piece, "Global MDI", K, what="standard error")
    np.testing.assert_allclose(errors, error, atol=6e-6)


@pytest.mark.parametrize(
    ("measure", "how"),
    [
        (figure_1.PATH_DEPENDENT, "tree_path_dependent"),
        (figure_1.INTERVENTIONAL, "interventional"),
    ],
)
def test_treeshap_is_the_mean_size_for_the_predicted_class(piece, led, measure, how):
    model = forest(led, 2)
    background = led[0] if how == "interventional" else None
    values = shap.TreeExplainer(model, background, feature_perturbation=how).shap_values(led[0])
    label = model.predict_proba(led[0]).argmax(axis=1)
    sizes = np.mean([np.abs(values[i, :, label[i]]) for i in range(10)], axis=0)
    np.testing.assert_allclose(row(piece, measure, 2), sizes / sizes.sum(), atol=6e-6)


@pytest.mark.parametrize("measure", [figure_1.MDI, figure_1.SAGE, figure_1.SAGE_MSE])
@pytest.mark.parametrize("K", NUMBERS)
def test_sizes_sum_to_one(piece, measure, K):
    assert np.abs(row(piece, measure, K)).sum() == pytest.approx(1, abs=4e-5)


def test_exact_curves_are_in_the_table_and_in_the_figure(piece):
    law = lm.theory.Distribution.from_samples(*lm.datasets.make_led())
    exact = lm.theory.population_mdi(law, 2, draw="theory") / np.log2(10)
    cells = row(piece, "Global MDI, exact (draw='theory')", 2)
    np.testing.assert_allclose(cells, exact, atol=6e-6)
    dashed = [line for line in piece.figures[0].figure.axes[0].lines if line.get_ls() == "--"]
    np.testing.assert_allclose([line.get_ydata()[1] for line in dashed], exact, rtol=1e-12)


def test_drawn_points_are_the_table(piece):
    left = piece.figures[0].figure.axes[0]
    points = [line for line in left.lines if line.get_marker() != "None"]
    drawn = np.transpose([line.get_ydata() for line in points])
    np.testing.assert_allclose(drawn[-1], row(piece, "Global MDI", 7), atol=6e-6)
    assert [line.get_xdata().tolist() for line in points] == [list(NUMBERS)] * 7


@pytest.mark.parametrize("number", [0, 1])
def test_every_point_is_inside_its_panel(piece, number):
    *panels, _key = piece.figures[number].figure.axes
    for ax in panels:
        low, high = ax.get_ylim()
        drawn = np.concatenate([line.get_ydata() for line in ax.lines])
        assert low == 0
        assert drawn.max() < high


def test_labels_keep_their_distance_and_leave_the_data_alone():
    heights = np.array([0.2, 0.201, 0.202, 0.9])
    before = heights.copy()
    ax = drawing.new_figure(1.0, 1.0).add_subplot()
    drawing.label_ends(ax, heights, x=1, gap=0.05)
    placed = sorted(text.get_position()[1] for text in ax.texts)
    assert np.diff(placed).min() >= 0.05 - 1e-9
    np.testing.assert_array_equal(heights, before)


def curves(*, last, sage=None):
    """Curves of all measures that go from one share to another; SAGE may end elsewhere."""
    first = np.array([0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1])
    titles = (
        *(figure_1.MDI, figure_1.SAGE, figure_1.SAGE_MSE),
        *(figure_1.INTERVENTIONAL, figure_1.PATH_DEPENDENT),
    )
    found = {title: Curve(title, np.array([first, last])) for title in titles}
    if sage is not None:
        found[figure_1.SAGE] = Curve(figure_1.SAGE, np.array([first, sage]))
    return found


def test_masking_is_judged_by_the_two_that_gain_most():
    favours_2_and_5 = np.array([0.1, 0.3, 0.1, 0.1, 0.3, 0.05, 0.05])
    other = favours_2_and_5[::-1]
    claims = list(figure_1._masking_claims(curves(last=favours_2_and_5, sage=other)))
    assert [claim.verdict for claim in claims] == [AS_READ, NOT_REPRODUCED, *[AS_READ] * 3]
    assert "X_2 (0.200 → 0.300) and X_5 (0.100 → 0.300)" in claims[0].ours


def test_similarity_is_judged_for_each_k():
    last = np.array([0.1, 0.3, 0.1, 0.1, 0.3, 0.05, 0.05])
    claims = list(figure_1._similarity_claims(curves(last=last, sage=last[::-1]), (1, 7)))
    assert [claim.verdict for claim in claims] == [AS_READ, NOT_REPRODUCED]
    assert "largest difference 0.250" in claims[1].ours
