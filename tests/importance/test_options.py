"""Options with a wrong value are refused, and unknown ones in the name of what was called."""

import inspect

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
from localmdi.forest import ForestBuilder

X = np.random.default_rng(0).integers(0, 3, (60, 3))
Y = (X[:, 0] > 1).astype(int)
MODEL = RandomForestClassifier(3, random_state=0).fit(X, Y)
EXPLAINER = lm.Explainer(MODEL)

WRONG = {
    "measure": ["drops", None, True],
    "criterion": ["entropie", 1, ["gini"]],
    "n_jobs": [0, 1.5, "2"],
    "standard_error": ["label", "labels", 1, None],
    "output": ["wide", None, True],
    "out": [np.zeros((2, 2)), [[0.0] * 3] * 60, "file"],
    "progress": ["yes", 1, None],
    "direction": ["up", 1, None],
}
CALLS = {
    "local_mdi": lambda **options: lm.local_mdi(MODEL, X, **options),
    "local_mdi_by_class": lambda **options: lm.local_mdi_by_class(MODEL, X, **options),
    "global_mdi": lambda **options: lm.global_mdi(MODEL, **options),
    "decompose_global": lambda **options: lm.decompose_global(MODEL, X, **options),
    "saabas": lambda **options: lm.saabas(MODEL, X, **options),
    "forest_gap": lambda **options: lm.forest_gap(MODEL, X, Y, **options),
    "as_forest": lambda **options: lm.as_forest(MODEL, **options),
    "local_interactions": lambda **options: lm.local_interactions(MODEL, X, **options),
    "__call__": lambda **options: EXPLAINER(X, **options),
    "iter_batches": lambda **options: EXPLAINER.iter_batches(X, **options),
    "build_forest": lambda **options: lm.build_forest(n_features=1, **options),
    "build": lambda **options: ForestBuilder(1).build(**options),
    "add_tree": lambda **options: ForestBuilder(1).add_tree([-1], [-1], feature=[-1], **options),
}


@pytest.mark.parametrize(("option", "value"), [(o, v) for o, all_ in WRONG.items() for v in all_])
def test_a_wrong_value_is_refused_by_whoever_takes_the_option(option, value):
    refused = 0
    for name in ("local_mdi", "__call__", "iter_batches", "decompose_global", "local_mdi_by_class"):
        function = getattr(lm, name, None) or getattr(lm.Explainer, name)
        if option in inspect.signature(function).parameters:
            with pytest.raises((TypeError, ValueError), match=option):
                CALLS[name](**{option: value})
            refused += 1
    assert refused


def test_every_option_of_local_mdi_is_tried_here():
    assert inspect.signature(lm.local_mdi).parameters.keys() == {"model", "X", *WRONG}


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_keyword_names_the_function_that_was_called(name):
    with pytest.raises(TypeError) as error:
        CALLS[name](n_job=2)
    assert f"{name}()" in str(error.value)
    assert "'n_job'" in str(error.value)


@pytest.mark.parametrize("values", ["no", 1, None])
def test_whether_values_are_kept_is_yes_or_no(values):
    with pytest.raises(TypeError, match="values"):
        lm.as_forest(MODEL, values=values)


def test_numpy_flags_are_flags():
    result = lm.local_mdi(MODEL, X, standard_error=np.True_, direction=np.False_)
    assert result.standard_error is not None
    assert result.direction is None


def test_nothing_is_written_before_options_are_checked():
    out = np.full(X.shape, 7.0)
    for wrong in ({"direction": "up"}, {"progress": 1}, {"measure": "drops"}):
        with pytest.raises((TypeError, ValueError)):
            lm.local_mdi(MODEL, X, out=out, **wrong)
    assert (out == 7).all()
