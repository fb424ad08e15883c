"""save and load_importance: every bit comes back; a damaged or hostile file is an error."""

from __future__ import annotations

import builtins
import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array, issparse

from localmdi._container import read_container, write_container
from localmdi.exceptions import FileFormatError
from localmdi.results import GlobalImportance, LocalImportance, load_importance

BRIEFLY = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "result.lmdi"


def assert_same(one, two):
    assert type(one) is type(two)
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if issparse(a):
            assert issparse(b)
            assert a.shape == b.shape
            for part in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
        elif isinstance(a, np.ndarray):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
        elif isinstance(a, pd.Index):
            pd.testing.assert_index_equal(a, b)
        else:
            assert a == b, field.name
            assert type(a) is type(b)


FLOATS = st.floats(width=64)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def local_results(draw):
    n, p = draw(st.integers(0, 4)), draw(st.integers(0, 4))

    def array(*shape, elements=FLOATS):
        return draw(npst.arrays(np.float64, shape, elements=elements))

    def maybe(strategy):
        return draw(st.none() | strategy)

    values, telescopes = array(n, p), draw(st.booleans())
    start = draw(st.floats(allow_nan=False)) if draw(st.booleans()) else array(n)
    matrix = npst.arrays(np.float64, (n, p), elements=FLOATS)
    return LocalImportance(
        csr_array(values) if draw(st.booleans()) else values,
        start if telescopes else None,
        residual=array(n) if telescopes else None,
        unit=draw(st.sampled_from(["bits", "gini"])),
        feature_names=tuple(draw(st.lists(NAMES, min_size=p, max_size=p))),
        n_trees=draw(st.integers(0, 10**9)),
        row_weight=maybe(npst.arrays(np.float64, n, elements=st.floats(0, 1e9))),
        standard_error=maybe(matrix | matrix.map(csr_array)),
        mean_standard_error=maybe(npst.arrays(np.float64, p, elements=FLOATS)),
        row_labels=maybe(npst.arrays(st.sampled_from([np.int64, np.uint8]), n)),
        frame_type=maybe(st.sampled_from(["pandas", "polars", "pyarrow"])),
        method=maybe(NAMES),
        measure=draw(st.sampled_from(["drop", "gain", "loss"])),
        honest=draw(st.booleans()),
    )


@given(local_results())
@BRIEFLY
def test_local_round_trip(path, result):
    result.save(path)
    assert_same(load_importance(path), result)


@given(st.integers(0, 4), st.data())
@BRIEFLY
def test_global_round_trip(path, p, data):
    vector = npst.arrays(np.float64, p, elements=FLOATS)
    result = GlobalImportance(
        data.draw(vector),
        unit="variance",
        feature_names=data.draw(st.lists(NAMES, min_size=p, max_size=p)),
        n_trees=3,
        standard_error=data.draw(st.none() | vector),
        weight=data.draw(st.floats(0, 1e300)),
        baseline=data.draw(st.none() | st.floats(allow_nan=False)),
        measure=data.draw(st.sampled_from(["drop", "gain", "loss"])),
        honest=data.draw(st.booleans()),
    )
    result.save(str(path))
    assert_same(load_importance(str(path)), result)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2], dtype=np.int32),
        np.array(["a", "", "é😀"], dtype=object),
        pd.Index(["a", "", "é\x00"], name="patient"),
        pd.Index([5, 6, 7]),
    ],
)
def test_row_labels(make_local, path, labels):
    result = make_local(row_labels=labels, frame_type="pandas")
    result.save(path)
    assert_same(load_importance(path), result)


@pytest.mark.parametrize(
    "labels",
    [
        pd.RangeIndex(3),
        pd.Index([3, 4, 5], dtype="Int64"),
        pd.Index(["a", "b", "c"], dtype="string"),
        pd.CategoricalIndex(["a", "b", "c"]),
        np.array(["a", "b", "c"]),
    ],
)
def test_row_labels_of_other_types_keep_their_values(make_local, path, labels):
    make_local(row_labels=labels).save(path)
    loaded = load_importance(path).row_labels
    assert list(loaded) == list(labels)
    assert isinstance(loaded, pd.Index) == isinstance(labels, pd.Index)


@pytest.mark.parametrize(
    "labels",
    [
        pd.date_range("2026-01-01", periods=3),
        pd.Index([0.5, 1.0, 2.0]),
        pd.Index(["a", None, "b"]),
        pd.Index(["a", 1, "b"]),
        pd.MultiIndex.from_product([["a"], [1, 2, 3]]),
        np.array([True, False, True]),
    ],
)
def test_other_row_labels_are_refused_with_a_way_out(make_local, path, labels):
    with pytest.raises(TypeError, match=r"astype\(str\)"):
        make_local(row_labels=labels).save(path)
    assert not path.exists()
    make_local(row_labels=None).save(path)
    assert load_importance(path).row_labels is None


def test_row_labels_without_pandas(make_local, path, monkeypatch):
    make_local(row_labels=pd.Index(["a", "b", "c"])).save(path)
    find = builtins.__import__

    def without_pandas(name, *rest, **more):
        if name == "pandas":
            raise ImportError(name)
        return find(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    loaded = load_importance(path)
    assert isinstance(loaded.row_labels, np.ndarray)
    assert loaded.row_labels.tolist() == ["a", "b", "c"]


def test_data_is_not_saved(make_local, path):
    make_local(data=np.zeros((3, 4))).save(path)
    assert load_importance(path).data is None


@pytest.mark.parametrize("kind", ["local", "global"])
def test_a_file_holds_every_field_that_the_user_does_not_have(make_local, path, kind):
    rows = np.arange(3.0)
    result = make_local(
        data=np.zeros((3, 4)), prediction=rows, scores={"brier": rows, "prior": rows},
        row_weight=rows, method="exact", caveat="careful", groups={"sex": ("sex_f", "sex_m")},
        direction=np.ones((3, 4)), standard_error=np.ones((3, 4)), frame_type="polars",
        mean_standard_error=np.ones(4), row_labels=np.array([2, 1, 0]),
    )  # fmt: skip
    result = result if kind == "local" else result.mean()
    result.save(path)
    version, header, arrays = read_container(path, kind="importance", max_version=1)
    assert version == 1
    held = {name.partition(".")[0] for name in [*header, *arrays]} - {"result"}
    fields = {field.name for field in dataclasses.fields(result)} - {"data", "prediction"}
    assert held == fields
    loaded = load_importance(path)
    for name in fields - {"scores"}:
        np.testing.assert_equal(getattr(loaded, name), getattr(result, name))
    if kind == "local":
        assert loaded.scores.keys() == result.scores.keys()
        np.testing.assert_array_equal(loaded.scores["prior"], rows)
        assert (loaded.data, loaded.prediction) == (None, None)


def test_files_of_a_newer_version(path):
    write_container(path, kind="importance", version=2, header={}, arrays={})
    with pytest.raises(FileFormatError, match="upgrade localmdi"):
        load_importance(path)


def test_damaged_bytes(make_local, path):
    make_local(sparse=True, row_labels=np.array(["a", "b", "c"])).save(path)
    raw = path.read_bytes()
    for place in range(0, len(raw), 3):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0x55]) + raw[place + 1 :])
        with pytest.raises(FileFormatError):
            load_importance(path)
        path.write_bytes(raw[:place])
        with pytest.raises(FileFormatError):
            load_importance(path)


def test_other_kinds_and_missing_files(path):
    write_container(path, kind="forest", version=1, header={}, arrays={})
    with pytest.raises(FileFormatError, match="kind must be 'importance'"):
        load_importance(path)
    with pytest.raises(FileNotFoundError):
        load_importance(path.with_name("absent"))


@pytest.fixture
def rewrite(make_local, path):
    """Save the sparse example, change its header and arrays, and load the consistent new file."""

    def change(header=None, arrays=None):
        make_local(sparse=True, row_labels=np.array(["a", "b", "c"])).save(path)
        _, old_header, old_arrays = read_container(path, kind="importance", max_version=1)
        new_header = {k: v for k, v in (old_header | (header or {})).items() if v != "absent"}
        new_arrays = old_arrays | {k: np.asarray(v) for k, v in (arrays or {}).items()}
        new_arrays = {k: v for k, v in new_arrays.items() if v.size or v.dtype != object}
        write_container(path, kind="importance", version=1, header=new_header, arrays=new_arrays)
        return load_importance(path)

    return change


def test_rewriting_alone_changes_nothing(rewrite, make_local):
    np.testing.assert_array_equal(rewrite().values.toarray(), make_local().values)


ABSENT = np.empty(0, dtype=object)


@pytest.mark.parametrize(
    "header",
    [
        {"result": "absent"}, {"result": "interaction"}, {"result": ["local"]},
        {"result": "global"}, {"unit": 3}, {"unit": "absent"}, {"unit": None},
        {"feature_names": "absent"}, {"feature_names": 4}, {"feature_names": ["a"] * 2},
        {"feature_names": [1, 2, 3, 4]}, {"feature_names": {"a": 1}}, {"n_trees": -1},
        {"feature_names": [0] * 10**5}, {"n_trees": "x" * 10**5}, {"method": [0] * 10**5},
        {"n_trees": 1.5}, {"n_trees": True}, {"method": 3}, {"frame_type": "dask"},
        {"frame_type": []}, {"data": [1, 2, 3]}, {"more": 1}, {"row_labels": "absent"},
        {"row_labels": {}}, {"row_labels": {"index": 1, "name": 2, "x": 3}},
        {"measure": "entropy"}, {"measure": 1}, {"measure": None}, {"honest": 1}, {"honest": "no"},
        {"standard_error": [[0.0]]}, {"__class__": "x"}, {"self": 1},
    ],
    ids=lambda header: str(header)[:50],
)  # fmt: skip
def test_hostile_headers(rewrite, header):
    with pytest.raises(FileFormatError, match="cannot read") as caught:
        rewrite(header)
    assert len(str(caught.value)) < 1000


HUGE = 2**62


@pytest.mark.parametrize(
    "arrays",
    [
        {"values.indices": np.array([0, 2, 1, 2, 4])},
        {"values.indices": np.array([0, 2, 1, 2, -1])},
        {"values.indices": np.array([0, 2, 1, 2, HUGE])},
        {"values.indices": np.array([0, 2, 1, 2])},
        {"values.indices": np.array([0, 2, 1, 2, 0], dtype=np.uint8)},
        {"values.indices": np.zeros(5)},
        {"values.indices": np.zeros((5, 1), dtype=np.int64)},
        {"values.indptr": np.array([0, 4, 2, 5])},
        {"values.indptr": np.array([0, HUGE, HUGE, 5])},
        {"values.indptr": np.array([0, -HUGE, HUGE, 5])},
        {"values.indptr": np.array([1, 2, 4, 5])},
        {"values.indptr": np.array([0, 2, 4, 6])},
        {"values.indptr": np.array([0, 2, 4, -1])},
        {"values.indptr": np.array([0, 2, 5])},
        {"values.indptr": np.zeros(0, dtype=np.int64)},
        {"values.indptr": np.array([0, 5, 0, 0]), "values.data": np.zeros(0),
         "values.indices": np.zeros(0, dtype=np.int64)},
        {"values.data": np.zeros(4)},
        {"values.data": np.zeros(5, dtype=np.float32)},
        {"values.data": ABSENT},
        {"values.more": np.zeros(5)},
        {"values": np.float64(0.0)},
        {"values": np.zeros((4, 3)), "values.data": ABSENT, "values.indices": ABSENT,
         "values.indptr": ABSENT},
        {"residual": np.zeros(4)}, {"residual": ABSENT},
        {"baseline": ABSENT}, {"baseline": np.zeros((3, 1))},
        {"row_weight": np.array([1.0, -1.0, 0.0])}, {"standard_error.data": np.zeros(1)},
        {"mean_standard_error": np.zeros(3)}, {"unknown": np.zeros(3)}, {"unit": np.zeros(3)},
        {"row_labels.end": np.array([1, 3, 2])}, {"row_labels.end": np.array([1, 2, 4])},
        {"row_labels.end": np.array([-HUGE, HUGE, 3])}, {"row_labels.end": np.array([1, 2, 2])},
        {"row_labels.end": np.array([1, 3])}, {"row_labels.end": np.array([[1, 2, 3]])},
        {"row_labels.end": np.array([1.0, 2.0, 3.0])}, {"row_labels.end": ABSENT},
        {"row_labels.text": np.array([255, 254, 253], dtype=np.uint8)},
        {"row_labels.text": np.array([97, 98, 99])}, {"row_labels.integer": np.arange(3)},
        {"row_labels": np.arange(4)},
    ],
    ids=str,
)  # fmt: skip
def test_hostile_arrays(rewrite, arrays):
    with pytest.raises(FileFormatError, match="cannot read"):
        rewrite(arrays=arrays)
