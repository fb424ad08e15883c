"""The page on dashboards: what it hands over has the documented form, and both programs take it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "dashboards.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PROGRAMS = ("shapash", "explainerdashboard")
# They warn of their own use of pandas and IPython, which is no error of ours; pytest lists it.
OTHERS_WARN = pytest.mark.filterwarnings("default")


def run(*programs):
    """Run the blocks of the page that need none but these programs; return what they define."""
    missing = [program for program in PROGRAMS if program not in programs]
    names = {}
    for block in BLOCKS:
        if not any(f"from {program} import" in block for program in missing):
            exec(compile(block, PAGE.name, "exec"), names)
    return names


def installed(program):
    reason = f"{program} has an environment of its own; run make test-dashboards"
    pytest.importorskip(program, reason=reason)


def test_what_shapash_gets():
    names = run()
    X, model = names["X"], names["model"]
    frames = names["contributions"]
    assert len(frames) == len(model.classes_)
    for frame in frames:
        assert isinstance(frame, pd.DataFrame)
        pd.testing.assert_index_equal(frame.index, X.index)
        pd.testing.assert_index_equal(frame.columns, X.columns)


def test_what_explainerdashboard_gets():
    names = run()
    base, moves = names["base_values"], names["contributions_to_class"]
    assert all(type(value) is float for value in base)
    assert {array.shape for array in moves} == {names["X"].shape}
    predicted = np.column_stack(
        [value + array.sum(axis=1) for value, array in zip(base, moves, strict=True)]
    )
    np.testing.assert_allclose(predicted, names["model"].predict_proba(names["X"]), atol=1e-12)


@pytest.mark.slow
@OTHERS_WARN
def test_shapash_takes_it():
    installed("shapash")
    names = run("shapash")
    best = names["parts"][0][0].top(1)  # of the first row, which is predicted to be of class 0
    first = names["summary"].iloc[0]
    assert (first["pred"], first["feature_1"]) == (0, best.names[0, 0])
    assert first["contribution_1"] == pytest.approx(best.values[0, 0], rel=1e-6)


@pytest.mark.slow
@OTHERS_WARN
def test_explainerdashboard_takes_it():
    installed("explainerdashboard")
    names = run("explainerdashboard")
    explainer, model, X = (names[name] for name in ("explainer", "model", "X"))
    for k, label in enumerate(explainer.labels):
        steps = explainer.get_contrib_df(0, topx=3, pos_label=label)
        said = steps.set_index("col").loc["_PREDICTION", "cumulative"]
        assert said == pytest.approx(model.predict_proba(X.iloc[:1])[0, k], abs=1e-12)
    assert explainer.plot_importances(topx=3).data
    assert type(names["dashboard"]).__name__ == "ExplainerDashboard"
