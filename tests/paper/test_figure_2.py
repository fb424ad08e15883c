"""Figure 2: correlations of absolute values against independent computations."""

from dataclasses import replace

import numpy as np
import pytest
import shap
from scipy.stats import pearsonr, spearmanr
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm
from paper import figure_2
from paper.figure_2 import PAIRS, Agreement
from paper.settings import Settings
from paper.store import Store

N_TREES = 20


@pytest.fixture(scope="module")
def piece(tmp_path_factory):
    settings = replace(
        Settings.quick(tmp_path_factory.mktemp("figure_2")),
        n_trees=N_TREES,
        n_trees_digits=4,
        n_rows_digits=6,
        digits_max_features=(1, 64),
        led_max_features=(1, 2, 7),
    )
    return figure_2.run(settings, Store(settings.folder))


def along_the_path(tree, x, *, of_node):
    """Sum what `of_node` says a child adds, by the feature of its parent's split."""
    found, node = np.zeros(len(x)), 0
    while tree.feature[node] >= 0:
        goes_left = x[tree.feature[node]] <= tree.threshold[node]
        child = (tree.children_left if goes_left else tree.children_right)[node]
        found[tree.feature[node]] += of_node(tree, child) - of_node(tree, node)
        node = child
    return found


def independent_values(K):
    """Absolute values of the three measures on led, straight from the definitions."""
    X, y = lm.datasets.make_led()
    X = X.astype(np.float32)
    forest = ExtraTreesClassifier(N_TREES, max_features=K, criterion="entropy", random_state=0)
    trees = [tree.tree_ for tree in forest.fit(X, y).estimators_]
    label = forest.predict_proba(X).argmax(axis=1)
    mdi = [
        np.mean([along_the_path(t, x, of_node=lambda t, n: -t.impurity[n]) for t in trees], axis=0)
        for x in X
    ]
    saabas = [
        np.mean(
            [along_the_path(t, x, of_node=lambda t, n, c=c: t.value[n, 0, c]) for t in trees],
            axis=0,
        )
        for x, c in zip(X, label, strict=True)
    ]
    values = shap.TreeExplainer(forest).shap_values(X)
    treeshap = [values[i, :, c] for i, c in enumerate(label)]
    return {
        "Local MDI": np.abs(mdi).round(10),
        "Saabas": np.abs(saabas).round(10),
        "TreeSHAP": np.abs(treeshap).round(10),
    }


@pytest.mark.parametrize("K", [1, 2, 7])
def test_led_table_against_definitions(piece, K):
    values = independent_values(K)
    cells = {row[:3]: np.array(row[3:6], dtype=float) for row in piece.tables[1].rows}
    for a, b in PAIRS:
        for name, coefficient in (("Pearson", pearsonr), ("Spearman", spearmanr)):
            rows = [coefficient(x, z)[0] for x, z in zip(values[a], values[b], strict=True)]
            expected = [np.mean(rows), min(rows), max(rows)]
            np.testing.assert_allclose(cells[K, f"{a} and {b}", name], expected, atol=6e-5)


def test_digits_rows_are_those_of_treeshap(piece):
    table = piece.tables[0]
    assert {row[0] for row in table.rows} == {1, 64}
    assert {row[-1] for row in table.rows} == {6}


def test_band_and_mean_are_drawn_from_the_table(piece):
    pair = PAIRS[0]
    shown = [row for row in piece.tables[1].rows if row[1:3] == (" and ".join(pair), "Pearson")]
    ax = piece.figures[1].figure.axes[0]
    (mean,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(mean.get_ydata(), [float(row[3]) for row in shown], atol=6e-5)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    low, high = min(float(row[4]) for row in shown), max(float(row[5]) for row in shown)
    np.testing.assert_allclose([band.min(), band.max()], [low, high], atol=6e-5)


def agreement(K, pair, *rows):
    return Agreement(K, pair, "Pearson", np.array(rows))


def verdicts(*found):
    return [claim.verdict for claim in figure_2._claims(list(found), "led")]


def test_claims_hold_when_rivals_are_closest():
    with_saabas, with_treeshap, rivals = PAIRS
    assert verdicts(
        agreement(1, with_saabas, 0.90, 0.92),
        agreement(1, with_treeshap, 0.90, 0.92),
        agreement(1, rivals, 0.98, 0.99),
        agreement(8, with_saabas, 0.80, 0.96),
        agreement(8, with_treeshap, 0.80, 0.92),
        agreement(8, rivals, 0.90, 0.99),
    ) == ["holds as read", "holds as read", "exact"]


def test_claims_fail_when_they_are_not():
    with_saabas, with_treeshap, rivals = PAIRS
    assert verdicts(
        agreement(1, with_saabas, 0.60, 0.70),
        agreement(1, with_treeshap, 0.99, 1.00),
        agreement(1, rivals, 0.98, 0.99),
    ) == ["not reproduced", "not reproduced", "not reproduced"]


def test_what_the_papers_own_table_contradicts_is_said_so():
    # The table prints a mean correlation of 1.000 of local MDI and TreeSHAP on led, not on digits.
    with_saabas, with_treeshap, rivals = PAIRS
    found = [agreement(1, pair, 0.9) for pair in (with_saabas, with_treeshap, rivals)]
    *_, led = figure_2._claims(found, "led")
    assert "contradicted by the paper's own table" in led.label
    *_, digits = figure_2._claims(found, "digits")
    assert digits.label == "not reproduced"
