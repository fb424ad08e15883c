"""The container: what is written comes back; every damaged or hostile file is an error."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from localmdi import _container
from localmdi._container import read_container, write_container
from localmdi.exceptions import FileFormatError

MAGIC = b"\x89LMDI\r\n\x1a"
DTYPES = ["bool", "float32", "float64"]
DTYPES += [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
BRIEFLY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def craft(content, data=b"", *, layout=1, length=None, magic=MAGIC):
    """Build a file byte by byte from the specification, with a valid checksum."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    body = struct.pack("<8sII", magic, layout, len(text) if length is None else length) + text
    body += bytes(-len(body) % 64) + data
    return body + struct.pack("<I", zlib.crc32(body))


def table_row(name="x", dtype="float64", shape=(2,), offset=0):
    return {"name": name, "dtype": dtype, "shape": list(shape), "offset": offset}


def content(*rows, kind="demo", version=1, header=None):
    return {"kind": kind, "version": version, "header": header or {}, "arrays": list(rows)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.lmdi"


def read(path, data=None):
    if data is not None:
        path.write_bytes(data)
    return read_container(path, kind="demo", max_version=3)


@pytest.fixture
def valid(path):
    arrays = {"x": np.arange(6.0).reshape(2, 3), "flag": np.array([True, False]), "n": np.int32(7)}
    write_container(path, kind="demo", version=2, header={"names": ["a", "é"]}, arrays=arrays)
    return path.read_bytes()


def test_bytes_follow_the_specification(path):
    data = np.array([1.5, -2.0]).astype("<f8").tobytes()
    version, header, arrays = read(path, craft(content(table_row(), header={"a": [1]}), data))
    assert (version, header) == (1, {"a": [1]})
    np.testing.assert_array_equal(arrays["x"], [1.5, -2.0])


def test_written_bytes_are_the_specified_ones(path):
    x, y = np.array([1.5, -2.0]), np.array([3], dtype=np.uint8)
    write_container(path, kind="demo", version=1, header={}, arrays={"x": x, "y": y})
    raw = path.read_bytes()
    magic, layout, length = struct.unpack_from("<8sII", raw)
    start = -(-(16 + length) // 64) * 64
    assert (magic, layout) == (MAGIC, 1)
    assert json.loads(raw[16 : 16 + length]) == content(
        table_row("x"), table_row("y", "uint8", (1,), 64)
    )
    assert raw[start : start + 16] == x.astype("<f8").tobytes()
    assert raw[start + 64 : -4] == b"\x03"
    assert struct.unpack("<I", raw[-4:])[0] == zlib.crc32(raw[:-4])


ARRAYS = st.dictionaries(
    st.text(max_size=8),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=4, min_side=0))
    ),
    max_size=4,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(ARRAYS, st.dictionaries(st.text(), JSON, max_size=3))
@BRIEFLY
def test_round_trip(path, arrays, header):
    write_container(path, kind="demo", version=3, header=header, arrays=arrays)
    version, header_read, arrays_read = read(path)
    assert version == 3
    assert header_read == header
    assert list(arrays_read) == list(arrays)
    for name, array in arrays.items():
        got = arrays_read[name]
        assert (got.dtype, got.shape) == (array.dtype, array.shape)
        assert got.tobytes() == array.tobytes()
        assert got.dtype.isnative
        assert not got.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12)[::-2],
        np.arange(3, dtype=">i4"),
        np.broadcast_to(np.float32(2), (2, 2)),
    ],
    ids=["fortran", "strided", "big-endian", "broadcast"],
)
def test_any_memory_layout(path, array):
    write_container(path, kind="demo", version=1, header={}, arrays={"x": array})
    np.testing.assert_array_equal(read(path)[2]["x"], array)


@given(st.data())
@BRIEFLY
def test_changed_bytes_are_an_error(path, valid, data):
    raw = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.integers(0, 255).filter(lambda b, old=raw[place]: b != old))
    if bytes(raw) != valid:
        with pytest.raises(FileFormatError):
            read(path, bytes(raw))


@given(st.data())
@BRIEFLY
def test_inserted_bytes_are_an_error(path, valid, data):
    place = data.draw(st.integers(0, len(valid)))
    extra = data.draw(st.binary(min_size=1, max_size=70))
    with pytest.raises(FileFormatError):
        read(path, valid[:place] + extra + valid[place:])


def test_every_truncation_is_an_error(path, valid):
    for length in range(len(valid)):
        with pytest.raises(FileFormatError):
            read(path, valid[:length])


def test_flipped_array_byte_is_named_a_checksum_error(path, valid):
    raw = bytearray(valid)
    raw[-6] ^= 1
    with pytest.raises(FileFormatError, match="checksum"):
        read(path, bytes(raw))


TWO = bytes(16)
HOSTILE = {
    "empty": (b"", "at least 20 bytes"),
    "another format": (b"PK\x03\x04" + bytes(100), "begins with"),
    "text mode": (craft(content(), magic=b"\x89LMDI\n\x1a\x00"), "begins with"),
    "layout": (craft(content(), layout=2), "layout"),
    "header length": (craft(content(), length=2**32 - 1), "header must lie inside"),
    "kind": (craft(content(kind="forest")), "kind must be 'demo'"),
    "kind of another type": (craft(content(kind=[["x"] * 10**5])), "kind must be 'demo'"),
    "newer": (craft(content(version=4)), "upgrade"),
    "version zero": (craft(content(version=0)), "positive integer"),
    "version true": (craft(content(version=True)), "positive integer"),
    "cut off": (craft(content(table_row()), TWO[:-1]), "cut off"),
    "trailing": (craft(content(table_row()), TWO + b"\0"), "bytes follow"),
    "no json": (craft(b"{"), "valid JSON"),
    "not utf-8": (craft(b"\xff\xfe{\x00}\x00"), "valid JSON"),
    "deep json": (craft(b"[" * 10**6), "valid JSON"),
    "NaN": (craft(b'{"kind": NaN}'), "NaN"),
    "infinity": (craft(b'{"kind": -Infinity}'), "Infinity"),
    "overflowing float": (craft(b'{"kind": 1e999}'), "beyond float64"),
    "long integer": (craft(b'{"kind": ' + b"9" * 5000 + b"}"), "valid JSON"),
    "key twice": (craft(b'{"kind": 1, "kind": 2}'), "twice"),
    "not an object": (craft([1]), "must have kind"),
    "unknown key": (craft(content() | {"more": 1}), "must have kind"),
    "header not an object": (craft(content() | {"header": []}), "must have kind"),
    "table not a list": (craft(content() | {"arrays": {}}), "table must be a list"),
    "row not an object": (craft(content([])), "name, dtype, shape and offset"),
    "row without offset": (craft(content({"name": "x"})), "name, dtype, shape and offset"),
    "name not a string": (
        craft(content(table_row(name=3)), TWO),
        "name of an array must be a string",
    ),
    "offset a float": (craft(content(table_row(offset=0.0)), TWO), "its offset an integer"),
    "object dtype": (craft(content(table_row(dtype="object")), TWO), "one of the types"),
    "dtype a list": (craft(content(table_row(dtype=["f8"])), TWO), "one of the types"),
    "duplicate": (craft(content(table_row(), table_row(offset=64)), bytes(80)), "unique"),
    "overlap": (craft(content(table_row(), table_row("y")), bytes(80)), "begin at byte 64"),
    "misaligned": (craft(content(table_row(), table_row("y", offset=16)), TWO * 2), "byte 64"),
    "gap": (craft(content(table_row(), table_row("y", offset=128)), bytes(144)), "byte 64"),
    "negative offset": (craft(content(table_row(offset=-64)), TWO), "begin at byte 0"),
    "negative shape": (craft(content(table_row(shape=(-2,))), TWO), "possible shape"),
    "two negatives": (craft(content(table_row(shape=(-1, -2))), TWO), "possible shape"),
    "shape of bools": (craft(content(table_row(shape=(True, 2))), TWO), "possible shape"),
    "shape of floats": (craft(content(table_row(shape=(2.0,))), TWO), "possible shape"),
    "shape a number": (craft(content(table_row() | {"shape": 2}), TWO), "possible shape"),
    "nine dimensions": (craft(content(table_row(shape=(1,) * 9)), TWO), "possible shape"),
    "wrapping shape": (craft(content(table_row(shape=(2**32, 2**32))), TWO), "possible shape"),
    "absurd shape": (craft(content(table_row(shape=(2**50,))), TWO), "cut off"),
    "absurd empty shape": (craft(content(table_row(shape=(0, 2**62, 2**62)))), "possible shape"),
    "bool of 2": (craft(content(table_row(dtype="bool")), b"\x01\x02"), "0 or 1"),
}


@pytest.mark.parametrize(("raw", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_file(path, raw, message):
    path.write_bytes(raw)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=message) as caught:
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(raw) + 10**6
    assert path.name in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_empty_arrays_and_no_arrays(path):
    empty = {"x": np.empty((0, 10**6)), "y": np.empty(0, dtype=bool)}
    write_container(path, kind="demo", version=1, header={}, arrays=empty)
    assert [array.shape for array in read(path)[2].values()] == [(0, 10**6), (0,)]
    write_container(path, kind="demo", version=1, header={}, arrays={})
    assert read(path) == (1, {}, {})


def test_arrays_longer_than_a_chunk(path, monkeypatch):
    monkeypatch.setattr(_container, "_CHUNK", 100)
    x = np.arange(1000.0)
    write_container(path, kind="demo", version=1, header={}, arrays={"x": x})
    np.testing.assert_array_equal(read(path)[2]["x"], x)


def test_file_that_shrinks_while_it_is_read(path, valid, monkeypatch):
    size = os.stat(path).st_size
    path.write_bytes(valid[:-20])
    monkeypatch.setattr(
        _container.os, "fstat", lambda _: os.stat_result((0,) * 6 + (size,) + (0,) * 3)
    )
    with pytest.raises(FileFormatError, match="ended while"):
        read(path)


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(1, dtype=complex)])
def test_refused_types(path, array):
    with pytest.raises(ValueError, match="Convert it first"):
        write_container(path, kind="demo", version=1, header={}, arrays={"x": array})
    assert list(path.parent.iterdir()) == []


def test_refused_headers(path, monkeypatch):
    with pytest.raises(ValueError, match="JSON compliant"):
        write_container(path, kind="demo", version=1, header={"a": float("nan")}, arrays={})
    monkeypatch.setattr(_container, "_MAX_HEADER", 50)
    with pytest.raises(ValueError, match="at most 50 bytes"):
        write_container(path, kind="demo", version=1, header={"a": "b" * 50}, arrays={})
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["write", "replace"])
def test_failure_leaves_the_old_file_alone(path, valid, monkeypatch, error, where):
    def fail(*_):
        raise error

    if where == "write":
        monkeypatch.setattr(_container.zlib, "crc32", fail)
    else:
        monkeypatch.setattr(_container.os, "replace", fail)
    with pytest.raises(error):
        write_container(path, kind="demo", version=1, header={}, arrays={"x": np.ones(3)})
    assert path.read_bytes() == valid
    assert list(path.parent.iterdir()) == [path]


def test_a_link_stays_a_link(path, valid, tmp_path):
    link = tmp_path / "link.lmdi"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("no symbolic links here")
    write_container(link, kind="demo", version=1, header={}, arrays={})
    assert link.is_symlink()
    assert read(path) == (1, {}, {})


def test_paths_pass_through(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        write_container(Path(tmp_path, "no", "x"), kind="demo", version=1, header={}, arrays={})
    with pytest.raises(ValueError, match="regular file"):
        write_container(tmp_path, kind="demo", version=1, header={}, arrays={})
    write_container(str(tmp_path / "text"), kind="demo", version=1, header={}, arrays={})
    assert read(str(tmp_path / "text")) == (1, {}, {})


def test_halves_of_characters(path):
    # JSON can spell a lone surrogate, which pandas, Arrow and terminals refuse much later.
    for text in ("\\ud800", "\\uDFFF", "a\\udc80b"):
        raw = (
            b'{"kind":"demo","version":1,"header":{"names":["' + text.encode() + b'"]},"arrays":[]}'
        )
        with pytest.raises(FileFormatError, match="its strings must be valid Unicode"):
            read(path, craft(raw))
    with pytest.raises(ValueError, match="must be valid Unicode to be saved"):
        write_container(path, kind="demo", version=1, header={"a": "\ud800"}, arrays={})
    for name in ("\N{GRINNING FACE}", r"\ud800", "é"):
        write_container(path, kind="demo", version=1, header={"a": name}, arrays={})
        assert read(path)[1] == {"a": name}
