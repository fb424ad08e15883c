"""Spark ML: live models beside Spark's own answers.

With LOCALMDI_RENEW_SPARK=1 the directories in tests/data/spark are written again.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import localmdi as lm
from adapters.libraries import assert_same_leaves, assert_same_predictions, strange_rows
from localmdi.adapters import load_model_file
from localmdi.exceptions import UnsupportedModelError

SAVED = Path(__file__).parents[1] / "data" / "spark"
N_CATEGORIES = 9
NAMES = ["dose", "age", "city", "noise"]
rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4)).round(2)
X[:, 2] = rng.integers(0, N_CATEGORIES, len(X))
NUMBER = X[:, 0] + 2 * (X[:, 2] % 3 == 1) + 0.3 * rng.normal(size=len(X))
WEIGHT = rng.integers(1, 4, len(X)).astype(float)
# Vectors of Spark hold no category that was not there in training, but nothing checks that.
ODD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 2.5, -1.0, 8.0, 9.0, 40.0, 1e12)


def vectors(spark, rows, names=(), columns=()):
    """Return a frame with a column of vectors; it knows the categories of the third feature."""
    from pyspark.ml.linalg import Vectors

    beside = zip(*columns, strict=True) if columns else ((),) * len(rows)
    data = [
        (Vectors.dense(row.tolist()), *map(float, others))
        for row, others in zip(rows, beside, strict=True)
    ]
    frame = spark.createDataFrame(data, ["features", *names]).coalesce(1)
    nominal = {"idx": 2, "name": "city", "vals": [str(code) for code in range(N_CATEGORIES)]}
    numeric = [{"idx": i, "name": NAMES[i]} for i in (0, 1, 3)]
    attributes = {"numeric": numeric, "nominal": [nominal]}
    return frame.withMetadata("features", {"ml_attr": {"attrs": attributes, "num_attrs": 4}})


@pytest.fixture(scope="module")
def training(spark):
    columns = [NUMBER, np.digitize(NUMBER, [0.5, 2.0]), NUMBER > 1, WEIGHT]
    return vectors(spark, X, ["number", "three", "two", "weight"], columns).cache()


def estimator(name):
    from pyspark.ml import classification, regression

    small = {"maxDepth": 4, "seed": 1, "maxBins": 16}
    classes, numbers = small | {"labelCol": "three"}, small | {"labelCol": "number"}
    makers = {
        "forest": lambda: classification.RandomForestClassifier(numTrees=4, **classes),
        "unpruned": lambda: classification.RandomForestClassifier(
            numTrees=4, impurity="entropy", weightCol="weight", **classes
        ),
        "numbers": lambda: regression.RandomForestRegressor(numTrees=4, **numbers),
        "tree": lambda: classification.DecisionTreeClassifier(**classes),
        "number tree": lambda: regression.DecisionTreeRegressor(weightCol="weight", **numbers),
        "boosted": lambda: regression.GBTRegressor(maxIter=3, **numbers),
        "boosted classes": lambda: classification.GBTClassifier(
            maxIter=3, **small | {"labelCol": "two"}
        ),
    }
    made = makers[name]()
    # A parameter that the constructors of pyspark do not take.
    return made._set(pruneTree=False) if name == "unpruned" else made


MODELS = ["forest", "unpruned", "numbers", "tree", "number tree", "boosted", "boosted classes"]


@pytest.fixture(scope="module")
def fitted(training):
    """Return models and their forests by name, each fitted once."""
    models = {}

    def fit(name):
        if name not in models:
            model = estimator(name).fit(training)
            models[name] = model, lm.as_forest(model)
        return models[name]

    return fit


def spark_scores(model, rows):
    """Return the leaf of every row in every tree, and the raw prediction."""
    leaf, score = [], []
    table = model.copy().setLeafCol("leaf").transform(rows)
    kind = "probability" if "Classification" in type(model).__name__ else "prediction"
    if "GBTClassification" in type(model).__name__:
        kind = "rawPrediction"
    for row in table.select("leaf", kind).collect():
        leaf.append(as_array(row["leaf"]))
        found = as_array(row[kind])
        # Of boosted classes: minus the margin, and the margin.
        score.append(found[1:] if kind == "rawPrediction" else found)
    return np.array(leaf), np.array(score)


def as_array(cell):
    """Return a number or a vector of Spark."""
    return np.ravel(cell.toArray() if hasattr(cell, "toArray") else cell)


def decreases(forest):
    """Return the weighted impurity decreases of each tree by feature."""
    out = np.zeros((forest.n_trees, forest.n_features))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))
    mass = forest.weight * forest.impurity
    for node in np.flatnonzero(forest.feature >= 0):
        children = forest.child[forest.child_offset[node] : forest.child_offset[node + 1]]
        out[tree[node], forest.feature[node]] += mass[node] - mass[children].sum()
    return out


@pytest.mark.parametrize("name", MODELS)
def test_routes_predicts_and_ranks_as_spark(spark, fitted, name):
    model, forest = fitted(name)
    assert (forest.n_features, forest.row_dtype) == (4, "float64")
    assert (forest.split_kind == lm.SplitKind.CATEGORY_SET).any()
    Z = strange_rows(X, forest, odd=ODD)
    leaf, score = spark_scores(model, vectors(spark, Z))
    assert_same_leaves(forest, Z, leaf)
    assert_same_predictions(forest, Z, score, atol=1e-12)
    # Spark divides each tree of a forest by its sum; boosted trees only all of them together.
    by_tree = decreases(forest)
    if not forest.boosted:
        by_tree /= by_tree.sum(axis=1, keepdims=True)
    theirs = model.featureImportances.toArray()
    np.testing.assert_allclose(by_tree.sum(axis=0) / by_tree.sum(), theirs, atol=1e-12)
    if forest.boosted or forest.n_trees == 1:
        ours = lm.global_mdi(forest).values
        np.testing.assert_allclose(ours / ours.sum(), theirs, atol=1e-12)


@pytest.mark.parametrize("name", ["tree", "number tree"])
def test_the_impurities_are_those_of_the_rows(fitted, name):
    _, forest = fitted(name)
    y = NUMBER if "number" in name else np.digitize(NUMBER, [0.5, 2.0])
    weight = WEIGHT if "number" in name else None
    again = forest.with_statistics(X, y, sample_weight=weight)
    np.testing.assert_allclose(again.weight, forest.weight, rtol=1e-12)
    np.testing.assert_allclose(again.impurity, forest.impurity, atol=1e-12)
    np.testing.assert_allclose(again.value, forest.value, atol=1e-12)


def test_no_leaf_lacks_its_impurity(fitted):
    # Spark writes -1 at some leaves of this forest.
    _, forest = fitted("numbers")
    assert forest.impurity.min() >= 0


def test_pruning_takes_importance_away(training, fitted):
    _, pruned = fitted("tree")
    grown = lm.as_forest(estimator("tree")._set(pruneTree=False).fit(training))
    assert pruned.n_nodes < grown.n_nodes
    assert lm.global_mdi(pruned).values.sum() < lm.global_mdi(grown).values.sum()


def test_pipelines_give_names(spark, training, tmp_path):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import StandardScaler, VectorAssembler
    from pyspark.ml.functions import vector_to_array

    plain = training.select(
        *[vector_to_array("features")[i].alias(name) for i, name in enumerate(NAMES)],
        "number",
        "three",
    )
    assembler = VectorAssembler(inputCols=NAMES, outputCol="features")
    forest_of = estimator("forest").setNumTrees(2).setMaxDepth(2)
    model = Pipeline(stages=[assembler, forest_of]).fit(plain)
    forest = lm.as_forest(model)
    assert forest.feature_names == tuple(NAMES)
    model.save(str(tmp_path / "pipeline"))
    assert load_model_file(tmp_path / "pipeline") == forest
    scaled = forest_of.copy().setFeaturesCol("scaled")
    scaler = StandardScaler(inputCol="features", outputCol="scaled")
    again = Pipeline(stages=[assembler, scaler, scaled]).fit(plain)
    assert lm.as_forest(again).feature_names is None
    with pytest.raises(UnsupportedModelError, match="ends in VectorAssembler"):
        lm.as_forest(Pipeline(stages=[assembler]).fit(plain))
    if os.environ.get("LOCALMDI_RENEW_SPARK") == "1":
        renew(model, "pipeline")
        small = estimator("boosted").setMaxIter(2).setMaxDepth(2)
        renew(small.fit(training), "boosted")


def renew(model, name):
    shutil.rmtree(SAVED / name, ignore_errors=True)
    model.save(str(SAVED / name))
    for path in (SAVED / name).rglob("*"):
        if path.name.endswith((".crc", "_SUCCESS")):
            path.unlink()


def test_searches_give_their_best_model(fitted):
    from pyspark.ml.tuning import CrossValidatorModel, TrainValidationSplitModel

    model, forest = fitted("tree")
    assert lm.as_forest(CrossValidatorModel(model, avgMetrics=[0.0])) == forest
    assert lm.as_forest(TrainValidationSplitModel(model, validationMetrics=[0.0])) == forest


def test_a_cluster_that_does_not_write_here(fitted, monkeypatch):
    model, _ = fitted("tree")
    monkeypatch.setattr(type(model.write().overwrite()), "save", lambda self, path: None)
    with pytest.raises(UnsupportedModelError, match="disk of the driver"):
        lm.as_forest(model)
