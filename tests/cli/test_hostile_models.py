"""Models in skops files that do not fit together: refused before any object is built."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

from localmdi.cli import models
from localmdi.cli.models import load_model
from localmdi.cli.skops_files import check_archive

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))


@pytest.fixture
def change(tmp_path):
    """Save a tree, change the arrays and numbers of its file, and return the path."""
    path = tmp_path / "m.skops"

    def change_file(arrays=(), numbers=(), schema=None):
        content = skops.io.dumps(DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, X[:, 0]))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        document = json.loads(members["schema.json"])
        tree = document["content"]["content"]["tree_"]
        for name, function in dict(arrays).items():
            part = tree["content"]["content"][name]
            array = np.load(io.BytesIO(members[part["file"]]))
            stream = io.BytesIO()
            np.save(stream, function(array.copy()))
            members[part["file"]] = stream.getvalue()
        for name, value in dict(numbers).items():
            tree["content"]["content"][name] |= {"content": json.dumps(value), "__id__": 1}
        if schema is not None:
            schema(tree, document)
        members["schema.json"] = json.dumps(document).encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return path

    return change_file


def point(field, node, value):
    def function(nodes):
        nodes[field][node] = value
        return nodes

    return function


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arrays": {"nodes": point("left_child", 0, 10**6)}}, "child or a feature"),
        ({"arrays": {"nodes": point("left_child", 2, 0)}}, "child or a feature"),
        ({"arrays": {"nodes": point("right_child", 0, -1)}}, "child or a feature"),
        ({"arrays": {"nodes": point("feature", 0, 3)}}, "child or a feature"),
        ({"arrays": {"nodes": lambda nodes: nodes[:-1]}}, "nodes must hold as many"),
        ({"arrays": {"nodes": lambda nodes: nodes["feature"]}}, "nodes must hold as many"),
        ({"arrays": {"values": lambda values: values[:-1]}}, "a value per output"),
        ({"arrays": {"values": lambda values: values.astype("f4")}}, "a value per output"),
        ({"numbers": {"node_count": 10**9}}, "more nodes than levels|as many"),
        ({"numbers": {"node_count": -1}}, "more nodes than levels"),
        ({"numbers": {"max_depth": 2**40}}, "more nodes than levels"),
        ({"numbers": {"max_depth": 1.5}}, "sizes of a tree must be integers"),
    ],
)
def test_trees_that_do_not_fit(change, changes, said):
    path = change(**changes)
    with pytest.raises(ValueError, match=said):
        check_archive(path)
    with pytest.raises(ValueError, match="is not a model that skops can load") as caught:
        load_model(path, allow_pickle=False)
    assert len(str(caught.value)) < 1000


def test_the_number_of_another_object(change):
    # skops builds what has a number once; a sound tree must not lend its place to another array.
    def borrow(tree, document):
        state = tree["content"]["content"]
        state["values"]["__id__"] = state["nodes"]["__id__"]

    with pytest.raises(ValueError, match="two different objects have the same number"):
        check_archive(change(schema=borrow))


def test_a_tree_stored_as_something_else(change):
    def disguise(tree, document):
        tree["__loader__"] = "ObjectNode"

    with pytest.raises(ValueError, match="must be stored as skops stores one"):
        check_archive(change(schema=disguise))


def test_an_archive_that_promises_too_much(tmp_path, monkeypatch):
    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(10**6))
    monkeypatch.setattr("localmdi.cli.skops_files.memory_allowance", lambda path: 10**5)
    with pytest.raises(ValueError, match="too much for its size"):
        check_archive(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("schema.json", b"{}")
    with pytest.raises(ValueError, match="different names"):
        check_archive(path)


def test_deep_schemas(tmp_path):
    path = tmp_path / "deep.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b'{"content":' * 100_000)
    with pytest.raises(ValueError, match="is not a model that skops can load"):
        load_model(path, allow_pickle=False)


def test_weights_that_do_not_add_up(change):
    path = change(arrays={"nodes": point("weighted_n_node_samples", 1, 1e6)})
    with pytest.raises(ValueError, match="children must add up"):
        load_model(path, allow_pickle=False)


def test_sound_models_are_loaded(change, tmp_path):
    assert load_model(change(), allow_pickle=False).predict(X[:2]).shape == (2,)
    forest = RandomForestClassifier(3, random_state=0, class_weight={0: 0.0, 1: 1e-3})
    skops.io.dump(forest.fit(X, (X[:, 0] > 0).astype(int)), tmp_path / "f.skops")
    assert load_model(tmp_path / "f.skops", allow_pickle=False).n_estimators == 3


@pytest.mark.parametrize("code", [0xD800, 0xDFFF, 0x110000, 2**32 - 1])
def test_numbers_that_are_no_characters(code):
    strings = np.array([code, ord("a")], dtype=np.uint32).view("U2")
    with pytest.raises(ValueError, match="valid Unicode"):
        models._check_characters(strings)
    models._check_characters(np.array(["é\N{GRINNING FACE}", ""]))
    models._check_characters(np.array(["a"]).astype(">U1"))


def test_importances_that_do_not_add_up(run, change, write):
    table = write("t.csv", "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in X[:9]))
    path = change(arrays={"nodes": point("impurity", 1, 1e300)})
    outcome = run("explain", table, "--model", path, "-o", "out.csv")
    assert outcome.code == 1
    assert "importances of a row must add up" in outcome.complaint
    assert not table.with_name("out.csv").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_no_model(run, people, tmp_path):
    os.mkfifo(tmp_path / "m.skops")
    outcome = run("explain", people, "--model", "m.skops")
    assert "must be a regular file" in outcome.complaint
    os.mkfifo(tmp_path / "t.csv")
    outcome = run("explain", "t.csv", "--target", "y")
    assert "must be a regular file" in outcome.complaint
