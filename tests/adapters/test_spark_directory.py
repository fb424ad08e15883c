"""Directories of Spark ML are read without Spark; damaged ones give clear errors."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import localmdi as lm
from localmdi.adapters import load_model_file
from localmdi.exceptions import FileFormatError, InvalidForestError, UnsupportedModelError

SAVED = Path(__file__).parents[1] / "data" / "spark"
CLEAR = (FileFormatError, InvalidForestError, UnsupportedModelError)


@pytest.fixture(params=["pipeline", "boosted"])
def copy(request, tmp_path):
    return shutil.copytree(SAVED / request.param, tmp_path / request.param)


def nodes_of(model):
    """Return the file of the nodes, and its rows."""
    (path,) = model.rglob("data/*.parquet")
    table = parquet.read_table(path)
    return path, table, table.to_pylist()


def metadata_of(model):
    """Return the file of the metadata of the trees, and its content."""
    (path,) = (
        path
        for path in model.rglob("metadata/part-*")
        if "numFeatures" in json.loads(path.read_text())
    )
    return path, json.loads(path.read_text())


def test_a_pipeline():
    forest = load_model_file(SAVED / "pipeline")
    assert forest.feature_names == ("dose", "age", "city", "noise")
    assert (forest.n_trees, forest.criterion, forest.row_dtype) == (2, "gini", "float64")
    assert forest.classes[0].tolist() == [0, 1, 2]
    np.testing.assert_allclose(forest.value.sum(axis=1), 1)
    X = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, np.nan, 0.0]])
    result = lm.local_mdi(forest, X)
    assert result.additivity_error() < 1e-12


def test_a_leaf_that_no_row_reached(tmp_path):
    model = shutil.copytree(SAVED / "pipeline", tmp_path / "pipeline")

    def empty(rows, nodes):
        leaf = next(node for node in nodes if node["leftChild"] < 0)
        leaf["impurityStats"] = [0.0] * 3

    spoil_nodes(empty)(model)
    forest = load_model_file(model)
    assert forest.value[forest.weight == 0].tolist() == [[0, 0, 0]]


def test_boosted_trees():
    forest = load_model_file(SAVED / "boosted")
    assert (forest.n_trees, forest.boosted, forest.aggregation) == (2, True, "sum")
    _, _, rows = nodes_of(SAVED / "boosted")
    roots = [row["nodeData"] for row in rows if row["nodeData"]["id"] == 0]
    # The first tree counts fully, the next ones by the step size.
    np.testing.assert_allclose(
        forest.value[forest.tree_offset[:-1], 0],
        [roots[0]["prediction"], 0.1 * roots[1]["prediction"]],
        atol=1e-15,  # the mean of residuals is 0 but for rounding
    )
    assert forest.weight[0] == roots[0]["impurityStats"][0]


@pytest.mark.parametrize("n_left", [1, 2, 3, 4])
def test_what_a_split_does_not_list_goes_to_the_larger_side(copy, n_left):
    if copy.name == "pipeline":
        return
    path, table, rows = nodes_of(copy)
    for row in rows:
        if row["nodeData"]["leftChild"] >= 0:
            split = {"featureIndex": 2, "numCategories": 5}
            split["leftCategoriesOrThreshold"] = [float(code) for code in range(n_left)]
            row["nodeData"]["split"] = split
    parquet.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    forest = load_model_file(copy)
    left = [row["nodeData"] for row in rows if row["treeID"] == 0]
    left, right = left[left[0]["leftChild"]], left[left[0]["rightChild"]]
    X = np.zeros((8, 4))
    X[:, 2] = [0, 1, 2, 3, 4, 5, 2.5, np.nan]
    single = forest.with_statistics(X, np.arange(8), criterion="variance")
    listed = np.arange(5) < n_left
    expected = [*listed, *[n_left > 2] * 3]
    children = forest.child[:2]
    (first,) = children[forest.weight[children] == left["impurityStats"][0]]
    assert single.weight[first] == sum(expected)
    assert right["id"] != left["id"]


def spoil_nodes(change):
    def spoil(model):
        path, table, rows = nodes_of(model)
        nodes = [row["nodeData"] for row in rows]
        change(rows, nodes)
        parquet.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)

    return spoil


def spoil_metadata(change):
    def spoil(model):
        path, content = metadata_of(model)
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def split_of(nodes):
    return next(node["split"] for node in nodes if node["leftChild"] >= 0)


SPOILED = {
    "no nodes": (spoil_nodes(lambda rows, nodes: rows.clear()), "there are none"),
    "a node twice": (spoil_nodes(lambda rows, nodes: rows.append(rows[0])), "without gaps"),
    "a tree too many": (
        spoil_nodes(lambda rows, nodes: rows[-1].update(treeID=7)),
        "numbered|trees 0",
    ),
    "a child outside": (
        spoil_nodes(lambda rows, nodes: nodes[0].update(leftChild=10**6)),
        "children",
    ),
    "a loop": (spoil_nodes(lambda rows, nodes: nodes[0].update(leftChild=0)), "parent|root"),
    "a feature outside": (
        spoil_nodes(lambda rows, nodes: split_of(nodes).update(featureIndex=99)),
        "feature",
    ),
    "no threshold": (
        spoil_nodes(
            lambda rows, nodes: split_of(nodes).update(
                leftCategoriesOrThreshold=[], numCategories=-1
            )
        ),
        "one threshold",
    ),
    "codes outside": (
        spoil_nodes(
            lambda rows, nodes: split_of(nodes).update(
                leftCategoriesOrThreshold=[2.0**40], numCategories=3
            )
        ),
        "distinct codes",
    ),
    "many codes": (
        spoil_nodes(
            lambda rows, nodes: split_of(nodes).update(
                leftCategoriesOrThreshold=[2.0**30], numCategories=2**31 - 1
            )
        ),
        "category codes",
    ),
    "few statistics": (
        spoil_nodes(lambda rows, nodes: nodes[1].update(impurityStats=[1.0])),
        "3 entries",
    ),
    "infinite": (
        spoil_nodes(lambda rows, nodes: nodes[1].update(impurityStats=[np.inf] * 3)),
        "finite",
    ),
    "too large": (
        spoil_nodes(
            lambda rows, nodes: nodes[1].update(impurityStats=[1e-300, 1e308, 1e308], impurity=-1.0)
        ),
        "finite",
    ),
    "no impurity": (spoil_nodes(lambda rows, nodes: nodes[1].update(impurity=np.nan)), "impurity"),
    "no feature": (spoil_metadata(lambda content: content.update(numFeatures=0)), "features"),
    "another number of trees": (
        spoil_metadata(lambda content: content.update(numTrees=3)),
        "3 trees",
    ),
    "another class": (
        spoil_metadata(lambda content: content.update({"class": "org.x.LinearRegressionModel"})),
        "got a LinearRegressionModel",
    ),
    "another criterion": (
        spoil_metadata(lambda content: content["paramMap"].update(impurity="mae")),
        "impurity",
    ),
    "no parameters": (
        spoil_metadata(lambda content: content.pop("paramMap")),
        "paramMap is missing",
    ),
    "no data": (lambda model: [path.unlink() for path in model.rglob("data/*.parquet")], "Parquet"),
    "no metadata": (lambda model: metadata_of(model)[0].unlink(), "one file of metadata"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_directories(copy, name):
    spoil, message = SPOILED[name]
    spoil(copy)
    with pytest.raises(CLEAR, match=message):
        load_model_file(copy)


def test_damaged_bytes(copy):
    files = [path for path in copy.rglob("part-*") if path.is_file()]
    rng = np.random.default_rng(0)
    for _ in range(150):
        path = files[rng.integers(len(files))]
        content = path.read_bytes()
        damaged = bytearray(content)
        for at in rng.integers(0, len(content), rng.integers(1, 6)):
            damaged[at] = rng.integers(0, 256)
        if rng.random() < 0.2:
            del damaged[rng.integers(0, len(content)) :]
        path.write_bytes(damaged)
        with suppress(*CLEAR):
            assert load_model_file(copy).n_trees > 0
        path.write_bytes(content)


def test_other_columns(copy):
    path, table, rows = nodes_of(copy)
    for column in (pa.array(["a"] * len(rows)), pa.nulls(len(rows)), pa.array([1.5] * len(rows))):
        parquet.write_table(table.set_column(0, "treeID", column), path)
        with pytest.raises(FileFormatError, match="treeID"):
            load_model_file(copy)
    parquet.write_table(table.drop_columns(["nodeData"]), path)
    with pytest.raises(FileFormatError, match="split"):
        load_model_file(copy)
