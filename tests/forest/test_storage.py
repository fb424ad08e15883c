"""save and load_forest: every bit comes back; a damaged or hostile file is an error, no more."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forest.tables import STUMP, damaged, fields_of_forests, is_forest
from localmdi._container import read_container, write_container
from localmdi.exceptions import FileFormatError, InvalidForestError
from localmdi.forest import build_forest, load_forest
from localmdi.forest.rules import FLOATS, STRUCTURE

BRIEFLY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FULL = STUMP | {
    "weight": np.array([10.0, 4.0, 6.0]),
    "impurity": np.array([1.0, 0.0, 0.5]),
    "value": np.array([[0.5, 0.5], [1.0, 0.0], [0.1, 0.9]]),
    "criterion": "entropy",
    "classes": (np.array(["no", "yes"]),),
    "categories": (None, np.array([1, 5, 9])),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "forest.lmdi"


@pytest.fixture
def rewrite(path):
    """Save a forest, change header and arrays behind its back, and load the consistent new file."""

    def change(header=None, arrays=None, fields=FULL):
        build_forest(**fields).save(path)
        _, old_header, old_arrays = read_container(path, kind="forest", max_version=2)
        new_header = {k: v for k, v in (old_header | (header or {})).items() if v != "absent"}
        new_arrays = {k: v for k, v in (old_arrays | (arrays or {})).items() if v is not None}
        write_container(path, kind="forest", version=2, header=new_header, arrays=new_arrays)
        return load_forest(path)

    return change


def assert_sound(forest):
    """What the kernels rely on."""
    assert is_forest(forest.table)
    for field in FLOATS:
        array = getattr(forest, field)
        assert array is None or np.isfinite(array).all()
    assert len(forest.tree_weight) == forest.n_trees
    for array in (forest.weight, forest.impurity, forest.value):
        assert array is None or len(array) == forest.n_nodes


@given(fields_of_forests())
@BRIEFLY
def test_round_trip(path, fields):
    forest = build_forest(**fields)
    forest.save(path)
    loaded = load_forest(str(path))
    assert loaded == forest
    for field in (*STRUCTURE, *FLOATS):
        one, other = getattr(loaded, field), getattr(forest, field)
        assert (one is None) == (other is None)
        assert one is None or (one.tobytes() == other.tobytes() and not one.flags.writeable)


def test_the_file_is_the_specified_one(path):
    build_forest(**FULL).save(path)
    version, header, arrays = read_container(path, kind="forest", max_version=2)
    assert version == 2
    assert header == {
        "n_features": 2,
        "feature_names": None,
        "criterion": "entropy",
        "aggregation": "mean",
        "row_dtype": "float64",
        "boosted": False,
        "classes": [{"dtype": "U3", "values": ["no", "yes"]}],
        "categories": [None, {"dtype": "int64", "values": [1, 5, 9]}],
    }
    assert {field: array.dtype for field, array in arrays.items()} == {
        **STRUCTURE,
        **dict.fromkeys(FLOATS, np.dtype(np.float64)),
    }


@pytest.mark.parametrize(("written", "names"), [(["x0", "x1"], None), (["x1", "x0"], ("x1", "x0"))])
def test_files_of_version_1(path, written, names):
    # They had no n_features, and wrote default names for features without any.
    build_forest(**FULL).save(path)
    _, header, arrays = read_container(path, kind="forest", max_version=2)
    del header["n_features"]
    header["feature_names"] = written
    write_container(path, kind="forest", version=1, header=header, arrays=arrays)
    assert load_forest(path) == build_forest(**FULL, feature_names=names)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["2026-01-01"], dtype="datetime64[D]"),
        np.array([b"a", b"b"]),
        np.array([1 + 2j]),
        np.array(["a", 1], dtype=object),
        np.array([(1, 2), None], dtype=object),
        np.array([np.inf, 0.0]),
    ],
    ids=str,
)
def test_labels_that_cannot_be_saved(path, labels):
    forest = build_forest(**STUMP, classes=(labels,))
    with pytest.raises(
        TypeError, match=r"numbers, booleans or strings to be saved.*replace\(forest"
    ):
        forest.save(path)
    assert not path.exists()


def test_rewriting_alone_changes_nothing(rewrite):
    assert rewrite() == build_forest(**FULL)


def test_files_of_other_kinds_and_versions(path):
    write_container(path, kind="importance", version=1, header={}, arrays={})
    with pytest.raises(FileFormatError, match="kind must be 'forest'"):
        load_forest(path)
    write_container(path, kind="forest", version=3, header={}, arrays={})
    with pytest.raises(FileFormatError, match="upgrade localmdi"):
        load_forest(path)
    with pytest.raises(FileNotFoundError):
        load_forest(path.with_name("absent"))


def test_every_byte_counts(path):
    build_forest(**FULL).save(path)
    raw = path.read_bytes()
    for place in range(0, len(raw), 7):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0x55]) + raw[place + 1 :])
        with pytest.raises(FileFormatError):
            load_forest(path)
        path.write_bytes(raw[:place])
        with pytest.raises(FileFormatError):
            load_forest(path)


@given(
    fields_of_forests(),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=3),
)
@BRIEFLY
def test_changed_bytes_with_a_right_checksum(path, fields, changes):
    build_forest(**fields).save(path)
    body = bytearray(path.read_bytes()[:-4])
    for place, byte in changes:
        body[place % len(body)] = byte
    path.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
    with suppress(FileFormatError):
        assert_sound(load_forest(path))


@given(
    fields_of_forests(),
    st.sampled_from([*STRUCTURE, "weight", "impurity", "value"]),
    st.binary(min_size=1, max_size=8),
    st.integers(0, 10**6),
)
@BRIEFLY
def test_changed_bytes_of_arrays(path, fields, field, new, place):
    build_forest(**fields).save(path)
    version, header, arrays = read_container(path, kind="forest", max_version=2)
    raw = bytearray(arrays[field].tobytes() if field in arrays else b"")
    start = place % (len(raw) + 1)
    raw[start : start + len(new)] = new[: len(raw) - start]
    if field in arrays:
        array = np.frombuffer(bytes(raw), arrays[field].dtype).reshape(arrays[field].shape)
        arrays[field] = array
    write_container(path, kind="forest", version=version, header=header, arrays=arrays)
    with suppress(FileFormatError):
        assert_sound(load_forest(path))


@given(damaged())
@settings(BRIEFLY, max_examples=200)
def test_damaged_tables(path, table):
    good = is_forest(table)
    header = {
        "feature_names": [f"x{i}" for i in range(table["n_features"])],
        "criterion": None, "aggregation": "mean", "row_dtype": "float32", "boosted": False,
        "classes": None, "categories": None,
    }  # fmt: skip
    n_trees = max(len(table["tree_offset"]) - 1, 0)
    arrays = {field: table[field] for field in STRUCTURE} | {"tree_weight": np.ones(n_trees)}
    write_container(path, kind="forest", version=1, header=header, arrays=arrays)
    if good:
        assert_sound(load_forest(path))
    else:
        with pytest.raises(FileFormatError, match="its fields do not form a forest") as caught:
            load_forest(path)
        assert isinstance(caught.value.__cause__, InvalidForestError)


BIG = 2**62


@pytest.mark.parametrize(
    "arrays",
    [
        *({field: None} for field in (*STRUCTURE, "tree_weight")),
        *({field: np.zeros(3, dtype=np.float32)} for field in (*STRUCTURE, *FLOATS)),
        *({field: np.zeros((3, 1, 1), dtype)} for field, dtype in STRUCTURE.items()),
        *({field: np.zeros((), dtype)} for field, dtype in STRUCTURE.items()),
        *({field: np.zeros(0)} for field in FLOATS),
        {"child": np.array([1, 3])}, {"child": np.array([1, BIG])}, {"child": np.array([1, -1])},
        {"child": np.array([0, 2])}, {"child": np.array([1, 1])}, {"child": np.array([2, 0])},
        {"child_offset": np.array([0, 2, 2, BIG])}, {"tree_offset": np.array([0, BIG])},
        {"tree_offset": np.array([0, 1, 3])}, {"feature": np.array([2, -1, -1], dtype=np.int32)},
        {"weight": np.array([1.0, np.nan, 0.0])}, {"weight": np.array([1.0, -1.0, 2.0])},
        {"impurity": np.array([1.0, np.inf, 0.0])}, {"impurity": np.zeros(4)},
        {"value": np.full((3, 2), np.nan)}, {"value": np.zeros((3, 3))}, {"value": np.zeros(3)},
        {"tree_weight": np.array([np.nan])}, {"tree_weight": np.zeros(1)},
        {"more": np.zeros(3)}, {"n_features": np.array(2)}, {"classes": np.zeros(2)},
    ],
    ids=str,
)  # fmt: skip
def test_hostile_arrays(rewrite, arrays):
    with pytest.raises(FileFormatError, match="cannot read") as caught:
        rewrite(arrays=arrays)
    assert len(str(caught.value)) < 1000


def labels(dtype, values):
    return {"classes": [{"dtype": dtype, "values": values}]}


@pytest.mark.parametrize(
    "header",
    [
        *({field: "absent"} for field in ("feature_names", "criterion", "classes", "boosted")),
        {"n_features": "absent"}, {"n_features": 3}, {"n_features": "2"}, {"n_features": 0},
        {"n_features": None}, {"n_features": 2.0}, {"n_features": 2**31}, {"more": 1},
        {"feature_names": ["a"]}, {"feature_names": ["a", "a"]},
        {"feature_names": 2}, {"feature_names": ["a", 2]}, {"feature_names": {"a": 1, "b": 2}},
        {"feature_names": []}, {"feature_names": [[]] * 10**4}, {"criterion": "mae"},
        {"criterion": []}, {"aggregation": None}, {"row_dtype": "int8"}, {"boosted": "no"},
        {"classes": {}}, {"classes": []}, {"classes": [None]}, {"classes": [["no", "yes"]]},
        {"classes": [{}]}, {"classes": "yes"}, {"classes": [{"dtype": "U3"}]},
        labels("U3", "no"), labels("U3", ["no", 1]), labels("U3", ["no", "never"]),
        labels("U", ["no", "yes"]), labels("U-3", ["no", "yes"]), labels("U³", ["no", "yes"]),
        labels("U99999999", ["no", "yes"]), labels("U9999999999999", ["no", "yes"]),
        labels("object", ["no", 1]), labels("object", ["no", []]), labels("O", ["no", "yes"]),
        labels("int8", [0, 128]), labels("int8", [0, 1.5]), labels("int8", [0, True]),
        labels("bool", [0, 1]), labels("float32", [0.0, 1e300]), labels("float64", [0.0, "nan"]),
        labels("float64", [10**400, 0.0]), labels("V8", [0, 1]), labels("complex128", [0.0, 1.0]),
        labels("datetime64[D]", [0, 1]), labels("i8,i8", [0, 1]), labels(8, [0, 1]),
        labels("int64", [0]), labels("int64", [0, 0]), labels("int64", [[0], [1]]),
        labels("int64" * 10**4, [0, 1]), labels("int64", [0, 1, *["x"] * 10**4]),
        {"categories": [None]}, {"categories": 3}, {"categories": [None, 3]},
        {"categories": [None, {"dtype": "U123456789", "values": []}]},
    ],
    ids=lambda header: str(header)[:60],
)  # fmt: skip
def test_hostile_headers(rewrite, header):
    with pytest.raises(FileFormatError, match="cannot read") as caught:
        rewrite(header)
    assert len(str(caught.value)) < 1000


def test_small_files_cannot_ask_for_much_memory(rewrite, path):
    wide = {"dtype": "U1000000", "values": ["a"]}
    names = [f"x{i}" for i in range(1000)]
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="strings of fixed width take at most"):
        rewrite({"n_features": 1000, "feature_names": names, "categories": [wide] * 1000})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < 10**5
    assert peak < 3 * 10**8


def test_the_array_table_cannot_promise_more_than_the_file_has(path):
    build_forest(**FULL).save(path)
    raw = path.read_bytes()
    _, _, length = struct.unpack_from("<8sII", raw)
    content = json.loads(raw[16 : 16 + length])
    content["arrays"][1]["shape"] = [2**50]
    text = json.dumps(content, separators=(",", ":")).encode()
    body = struct.pack("<8sII", raw[:8], 1, len(text)) + text
    body += bytes(-len(body) % 64) + raw[-(-(16 + length) // 64) * 64 : -4]
    path.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
    with pytest.raises(FileFormatError):
        load_forest(path)


def test_features_without_names_are_bounded(rewrite, path):
    # Importances have an entry and a default name for each of them.
    assert rewrite({"n_features": 2**24, "categories": None}).n_features == 2**24
    said = r"more than 16,777,216 features must have names; got none\. Save the forest again\."
    with pytest.raises(FileFormatError, match=said):
        rewrite({"n_features": 2**24 + 1, "categories": None})
    forest = build_forest(**STUMP | {"n_features": 2**24 + 1})
    with pytest.raises(ValueError, match="needs feature names to be saved"):
        forest.save(path)
