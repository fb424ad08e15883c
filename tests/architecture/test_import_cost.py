"""`import localmdi` loads nothing that the user did not ask for, and is quick."""

import json
import subprocess
import sys

OPTIONAL = {
    "altair",
    "catboost",
    "click",
    "dask",
    "imblearn",
    "jinja2",
    "lightgbm",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "quantile_forest",
    "shap",
    "skops",
    "sksurv",
    "tqdm",
    "treeinterpreter",
    "xgboost",
    "ydf",
}
# The functions that a first explanation needs, not only the empty top level.
FIRST_USE = "from localmdi import Explainer, local_mdi"
YARDSTICK = "import sklearn.tree"
ROUNDS = 7


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def loaded_after(statement):
    return set(json.loads(run(f"{statement}\nimport json, sys; print(json.dumps([*sys.modules]))")))


def seconds(statement):
    clock = "from time import perf_counter as now; start = now()"
    return float(run(f"{clock}\n{statement}\nprint(now() - start)"))


def test_no_optional_library_is_loaded():
    assert loaded_after(FIRST_USE) & OPTIONAL == set()


def test_the_top_level_is_lazy():
    assert loaded_after("import localmdi") & {"numpy", "scipy", "sklearn"} == set()


def test_import_takes_less_than_twice_scikit_learn_s():
    # Both sides take turns, so a busy machine slows both; the best round is the least disturbed.
    rounds = [(seconds(FIRST_USE), seconds(YARDSTICK)) for _ in range(ROUNDS)]
    ours, theirs = (min(side) for side in zip(*rounds, strict=True))
    assert ours < 2 * theirs
