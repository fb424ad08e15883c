"""Files of other libraries: recognised by content; damaged ones are errors, no more."""

import json
from contextlib import suppress

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
import ydf

from adapters.libraries import numbers
from localmdi import as_forest
from localmdi.adapters import catboost as catboost_adapter
from localmdi.adapters import fields, load_model_file
from localmdi.adapters.fields import Fields, category_labels
from localmdi.adapters.ubjson import decode_ubjson
from localmdi.exceptions import FileFormatError, InvalidForestError, UnsupportedModelError

N_FUZZ = 300


@pytest.fixture(scope="module")
def models():
    X, y = numbers()
    lightgbm = lgb.train(
        {"verbose": -1, "num_leaves": 7, "num_threads": 1},
        lgb.Dataset(X, y, categorical_feature=[3]),
        3,
    )
    types = ["q", "q", "q", "c", "q"]
    matrix = xgb.DMatrix(X, y, feature_types=types, enable_categorical=True)
    xgboost = xgb.train({"max_depth": 3, "nthread": 1}, matrix, 3)
    quiet = {"iterations": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    symmetric = cb.CatBoost(quiet | {"depth": 3}).fit(X, y)
    nested = cb.CatBoost(quiet | {"depth": 3, "grow_policy": "Depthwise"}).fit(X, y)
    return {"lightgbm": lightgbm, "xgboost": xgboost, "symmetric": symmetric, "nested": nested}


FILES = {
    "lightgbm.txt": "lightgbm",
    "xgboost.json": "xgboost",
    "xgboost.ubj": "xgboost",
    "symmetric.json": "symmetric",
    "nested.json": "nested",
}


def write(models, name, folder):
    path = folder / name
    settings = {"format": "json"} if FILES[name] in ("symmetric", "nested") else {}
    models[FILES[name]].save_model(str(path), **settings)
    return path


@pytest.mark.parametrize("name", FILES)
def test_files_are_recognised(models, name, tmp_path):
    path = write(models, name, tmp_path).rename(tmp_path / "model")
    forest, live = load_model_file(path), as_forest(models[FILES[name]])
    for field in ("feature", "threshold", "child", "value", "category_bits"):
        np.testing.assert_array_equal(getattr(forest, field), getattr(live, field))


@pytest.mark.parametrize("name", FILES)
def test_damaged_bytes(models, name, tmp_path):
    path = write(models, name, tmp_path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(N_FUZZ):
        changed = bytearray(damaged(content, rng))
        if rng.random() < 0.2:
            start = rng.integers(0, len(content))
            del changed[start : start + rng.integers(1, 200)]
        expect_forest_or_clear_error(path, bytes(changed))


def expect_forest_or_clear_error(path, content):
    path.write_bytes(content)
    # Anything else that is raised fails the test.
    with suppress(FileFormatError, InvalidForestError, UnsupportedModelError):
        assert load_model_file(path).n_trees > 0


STRANGE = (
    None,
    -1,
    0,
    3,
    10**6,
    2**31,
    10**30,
    1.5,
    1e308,
    "",
    "x",
    "12",
    [],
    [1],
    [[1], 2],
    {},
    True,
)


def places(part, path=()):
    """Yield the path of every entry of a JSON document."""
    items = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.mark.parametrize("name", ["xgboost.json", "symmetric.json", "nested.json"])
def test_damaged_fields(models, name, tmp_path):
    path = write(models, name, tmp_path)
    content = path.read_text()
    every = list(places(json.loads(content)))
    rng = np.random.default_rng(1)
    for _ in range(N_FUZZ):
        document = json.loads(content)
        *way, last = every[rng.integers(len(every))]
        part = document
        for key in way:
            part = part[key]
        if rng.random() < 0.2 and isinstance(part, dict):
            del part[last]
        else:
            part[last] = STRANGE[rng.integers(len(STRANGE))]
        expect_forest_or_clear_error(path, json.dumps(document).encode())


def damaged(content, rng):
    """Return bytes of which some are others, or the last are missing."""
    changed = bytearray(content)
    for at in rng.integers(0, len(content), rng.integers(1, 6)):
        changed[at] = rng.integers(0, 256)
    if rng.random() < 0.2:
        del changed[rng.integers(0, len(content)) :]
    return bytes(changed)


def check_damaged_ydf(folder, n_times):
    """Damage one file of a directory after the other."""
    X, y = numbers(category=False)
    table = pd.DataFrame(X, columns=list("abcde"))
    table = table.assign(y=y, g=np.array(list("pqr"))[np.arange(len(X)) % 3])
    rng = np.random.default_rng(3)
    for kind in (ydf.RandomForestLearner, ydf.GradientBoostedTreesLearner):
        learner = kind(label="y", task=ydf.Task.REGRESSION, num_trees=2, max_depth=4)
        place = folder / kind.__name__
        learner.train(table, verbose=0).save(str(place))
        files = sorted(path for path in place.iterdir() if path.stat().st_size)
        for _ in range(n_times):
            path = files[rng.integers(len(files))]
            content = path.read_bytes()
            path.write_bytes(damaged(content, rng))
            with suppress(FileFormatError, InvalidForestError, UnsupportedModelError):
                assert load_model_file(place).n_trees > 0
            path.write_bytes(content)


def check_damaged_cbm(folder, n_times):
    X, y = numbers(category=False)
    quiet = {"iterations": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    path = folder / "model.cbm"
    cb.CatBoost(quiet | {"depth": 3}).fit(X, y).save_model(str(path))
    content = path.read_bytes()
    rng = np.random.default_rng(4)
    for _ in range(n_times):
        expect_forest_or_clear_error(path, content[:4] + damaged(content[4:], rng))


def test_damaged_ydf(tmp_path):
    check_damaged_ydf(tmp_path, 1)


def test_damaged_cbm(tmp_path):
    check_damaged_cbm(tmp_path, 2)


@pytest.mark.slow
def test_many_damaged_models(tmp_path):
    check_damaged_ydf(tmp_path, 100)
    check_damaged_cbm(tmp_path, 100)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("import os; os.abort()", "it crashes"),
        ("import time; time.sleep(60)", "it takes more than 1 s"),
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
    ],
)
def test_catboost_that_fails(script, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(catboost_adapter, "_CBM_TO_JSON", script)
    monkeypatch.setattr(fields, "_SECONDS_APART", 1 if "sleep" in script else 600)
    path = tmp_path / "model.cbm"
    path.write_bytes(b"CBM1")
    with pytest.raises(FileFormatError, match=f"CatBoost cannot read.*{problem}"):
        load_model_file(path)


def test_damaged_numbers_of_lightgbm(models, tmp_path):
    path = write(models, "lightgbm.txt", tmp_path)
    lines = path.read_text().split("\n")
    rng = np.random.default_rng(2)
    entries = [i for i, line in enumerate(lines[: lines.index("end of trees")]) if "=" in line]
    for _ in range(N_FUZZ):
        changed = list(lines)
        at = entries[rng.integers(len(entries))]
        key, _, value = changed[at].partition("=")
        parts = value.split(" ")
        parts[rng.integers(len(parts))] = str(STRANGE[rng.integers(len(STRANGE))])
        changed[at] = f"{key}={' '.join(parts)}"
        expect_forest_or_clear_error(path, "\n".join(changed).encode())


@pytest.mark.parametrize("claimed", [4, 10**8])
def test_scores_without_trees(models, tmp_path, claimed):
    # Every node has a number for each score: what is only claimed must not be allocated.
    path = write(models, "lightgbm.txt", tmp_path)
    key = "num_tree_per_iteration"
    path.write_text(path.read_text().replace(f"{key}=1\n", f"{key}={claimed}\n"))
    said = f"a tree for every score; it claims {claimed} scores and has 3 trees"
    with pytest.raises(FileFormatError, match=said):
        load_model_file(path)
    path = write(models, "xgboost.json", tmp_path)
    document = json.loads(path.read_text())
    document["learner"]["learner_model_param"]["num_class"] = str(claimed)
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=said):
        load_model_file(path)


@pytest.mark.parametrize("content", [b"", b"x", b"{", b"{}", b"[]", b"{{", b"PK\x03\x04", b"{L"])
def test_other_files(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(FileFormatError):
        load_model_file(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[" * 100, "nested deeper"),
        (b"[#L\x7f\xff\xff\xff\xff\xff\xff\xff", "does not fit the file"),
        (b"[$d#l\x00\xff\xff\xff", "does not fit the file"),
        (b"[$T#U\x05", "take no room"),
        (b"[$U\x01", "must be counted"),
        (b"{U\x01aTU\x01aF}", "twice"),
        (b"SU\x02\xff\xff", "not UTF-8"),
        (b"Q", "not known"),
        (b"TT", "left after the end"),
        (b"Sd\x00\x00\x00\x00", "cannot have the type"),
    ],
)
def test_damaged_ubjson(content, problem):
    with pytest.raises(FileFormatError, match=problem):
        decode_ubjson(content)


def test_a_signalling_nan_is_not_a_number():
    content = decode_ubjson(b"{i\x01x[$d#i\x01\x7f\x80\x00\x01}")
    assert np.isnan(Fields(content, library="XGBoost").floats("x")).all()


def test_ubjson():
    content = b"[Ci" + b"ZTF" + b"{}" + b"[#U\x02i\x01I\x00\x02" + b"D" + b"\x00" * 8 + b"]"
    assert decode_ubjson(content) == ["i", None, True, False, {}, [1, 2], 0.0]


def test_categories_of_several_kinds_stay_what_they_are():
    labels = category_labels([1, "a", None])
    assert (labels.dtype, labels.tolist()) == (object, [1, "a", None])
