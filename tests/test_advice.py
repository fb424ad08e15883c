"""What an error message advises can be done: the advice is taken from the message and run."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import localmdi as lm
from localmdi.exceptions import UnsupportedModelError
from localmdi.results import LocalImportance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
CLASSES = (X[:, 0] > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=80)


def advice_of(ask, names, *, start):
    """Return what the expression in the message that starts so evaluates to."""
    with pytest.raises(Exception, match=re.escape(start)) as caught:
        ask()
    message = str(caught.value)
    found = message[message.index(start) :]
    end, depth = 0, 0
    for end, letter in enumerate(found):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0 and not re.match(r"\.\w", found[end + 1 :]):
            break
    return eval(found[: end + 1], {"as_forest": lm.as_forest, "lm": lm, **names})


def check_explains(forest):
    result = lm.local_mdi(forest, X)
    assert result.shape == X.shape
    assert result.additivity_error() < 1e-9


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (HistGradientBoostingClassifier(max_iter=5), CLASSES),
        (HistGradientBoostingRegressor(max_iter=5), NUMBERS),
    ],
    ids=["classes", "numbers"],
)
def test_models_without_impurities(model, y):
    model.fit(X, y)
    names = {"model": model, "X": X, "y": y}
    start = "as_forest(model).with_statistics("
    for ask in (
        lambda: lm.local_mdi(model, X),
        lambda: lm.global_mdi(model),
        lambda: lm.honest_mdi(model, X, y, held_out=True),
    ):
        check_explains(advice_of(ask, names, start=start))
    check_honest_advice(model, y)


def check_honest_advice(model, y):
    """Boosted trees have no rows out of bag; what the error says instead must work."""
    with pytest.raises(UnsupportedModelError, match=r"held_out=True .*held_out=\(X, y\)"):
        lm.honest_mdi(model, X, y)
    assert lm.honest_mdi(model, X, y, held_out=True, measure="loss").honest
    assert lm.honest_mdi(model, X, y, held_out=(X[::2], y[::2])).honest


def test_boosted_trees_and_honest_values():
    model = GradientBoostingClassifier(n_estimators=3).fit(X, CLASSES)
    check_honest_advice(model, CLASSES)


def test_criteria_without_a_distribution():
    model = RandomForestRegressor(5, criterion="absolute_error", random_state=0).fit(X, NUMBERS)
    names = {"model": model, "X": X, "y": NUMBERS}
    forest = advice_of(
        lambda: lm.honest_mdi(model, X, NUMBERS),
        names,
        start="as_forest(model).with_statistics(",
    )
    assert lm.honest_mdi(forest, X, NUMBERS, held_out=True).honest


def test_nodes_without_values():
    model = RandomForestClassifier(5, random_state=0).fit(X, CLASSES)
    bare = lm.as_forest(model, values=False)
    forest = advice_of(lambda: lm.saabas(bare, X), {"model": model}, start="as_forest(model)")
    assert lm.saabas(forest, X).shape == (80, 3, 2)


def test_saabas_of_a_forest_with_statistics():
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, CLASSES)
    forest = lm.as_forest(model).with_statistics(X, CLASSES, criterion="entropy")
    assert lm.saabas(forest, X).shape == (80, 3, 2)


def test_impurities_of_an_unknown_kind():
    model = RandomForestClassifier(5, random_state=0).fit(X, CLASSES)
    forest = replace(lm.as_forest(model), criterion=None)
    names = {"forest": forest, "X": X, "y": CLASSES}
    with pytest.raises(ValueError, match=r"forest\.with_statistics\(X, y, criterion='entropy'\)"):
        lm.local_mdi(forest, X)
    check_explains(
        advice_of(lambda: lm.local_mdi(forest, X), names, start="forest.with_statistics(")
    )


def test_labels_that_cannot_be_saved(tmp_path):
    labels = pd.date_range("2024-01-01", periods=2)
    result = LocalImportance(
        np.zeros((2, 1)), unit="bits", feature_names=("a",), n_trees=1, row_labels=labels
    )
    import dataclasses

    names = {"dataclasses": dataclasses, "result": result}
    better = advice_of(
        lambda: result.save(tmp_path / "a.lmdi"), names, start="dataclasses.replace("
    )
    better.save(tmp_path / "a.lmdi")
    assert lm.load_importance(tmp_path / "a.lmdi").shape == (2, 1)


@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_other_libraries_without_impurities(library, tmp_path):
    module = pytest.importorskip(library)
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, CLASSES)
    else:
        model = module.CatBoostClassifier(3, verbose=0, allow_writing_files=False).fit(X, CLASSES)
    names = {"model": model, "X": X, "y": CLASSES}
    start = "as_forest(model).with_statistics("
    check_explains(advice_of(lambda: lm.local_mdi(model, X), names, start=start))
    check_honest_advice(model, CLASSES)
    lm.as_forest(model).save(tmp_path / "forest.lmdi")
    assert lm.load_forest(tmp_path / "forest.lmdi").n_trees == 3
