"""Rows of every kind come out in one type, batch by batch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from localmdi._validation import RowSource, frame_type, read_frame, read_rows

TABLE = np.arange(24, dtype=float).reshape(8, 3)
KINDS = {
    "array": TABLE,
    "fortran": np.asfortranarray(TABLE),
    "strided": np.repeat(TABLE, 2, axis=0)[::2],
    "backwards": TABLE[::-1, ::-1][::-1, ::-1],
    "integers": TABLE.astype("u1"),
    "big-endian": TABLE.astype(">f4"),
    "list": TABLE.tolist(),
    "csr": sp.csr_array(TABLE),
    "csc": sp.csc_matrix(TABLE),
    "pandas": pd.DataFrame(TABLE, columns=list("abc")),
    "polars": pl.DataFrame(TABLE, schema=list("abc")),
    "pyarrow": pa.table(dict(zip("abc", TABLE.T, strict=True))),
}


def as_array(batch):
    return batch.toarray() if sp.issparse(batch) else batch


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_ready_for_a_kernel(kind, dtype):
    rows = read_rows(KINDS[kind], dtype)
    assert rows.shape == (8, 3)
    for start, stop in ((0, 8), (2, 3), (5, 8), (4, 4)):
        batch = rows.batch(start, stop)
        assert batch.dtype == np.dtype(dtype)
        assert np.array_equal(as_array(batch), TABLE[start:stop])
        part = rows.part(start, stop)
        assert np.array_equal(as_array(part.batch(0, stop - start)), TABLE[start:stop])
        assert part.data.shape[0] == stop - start
        if not sp.issparse(batch):
            assert batch.flags.c_contiguous
            assert batch.flags.aligned


def test_what_fits_is_not_copied():
    rows = read_rows(TABLE, "float64")
    assert rows.ready
    assert rows.batch_rows == 8
    assert np.shares_memory(rows.batch(0, 8), TABLE)
    compressed = sp.csr_array(TABLE)
    assert np.shares_memory(read_rows(compressed, "float64").batch(0, 8).data, compressed.data)
    assert not read_rows(TABLE, "float32").ready
    assert not read_rows(np.asfortranarray(TABLE), "float64").ready


def test_unaligned_rows_are_copied():
    raw = np.frombuffer(b"\0" + TABLE.tobytes(), dtype="u1")[1:].view("f8").reshape(TABLE.shape)
    assert not raw.flags.aligned
    rows = read_rows(raw, "float64")
    assert not rows.ready
    assert rows.batch(0, 8).flags.aligned
    assert np.array_equal(rows.batch(0, 8), TABLE)


def test_converted_batches_stay_small():
    wide = read_rows(np.lib.stride_tricks.as_strided(TABLE, (10**6, 1000), (0, 0)), "float32")
    assert 1000 <= wide.batch_rows <= 20_000
    assert wide.batch(0, 2).shape == (2, 1000)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_parts_of_a_frame_are_frames(kind):
    rows = read_rows(KINDS[kind], "float64")
    assert rows.frame_type == kind == frame_type(read_frame(rows.part(1, 3).data))
    assert rows.names == ("a", "b", "c")
    encoded = RowSource(KINDS[kind], TABLE, np.dtype("f8"), frame_type=kind)
    part = encoded.part(2, 4)
    assert type(part.data) is type(KINDS[kind])
    assert part.data.shape == (2, 3)
    assert np.array_equal(part.batch(0, 2), TABLE[2:4])


def test_labels_go_with_their_rows():
    index = pd.Index(list("stuvwxyz"), name="key")
    rows = read_rows(pd.DataFrame(TABLE, index=index), "float64")
    assert rows.part(2, 4).row_labels.tolist() == ["u", "v"]
    assert rows.part(2, 4).part(1, 2).row_labels.tolist() == ["v"]
    assert rows.part(0, 0).row_labels.tolist() == []


def test_what_is_no_frame():
    for other in ([[1.0]], np.ones((1, 1)), pd.Series([1.0]), pl.LazyFrame({"a": [1]}), None, "a"):
        assert read_frame(other) is None


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
def test_compressed_rows(kind):
    small = np.zeros((6, 4))
    small[[0, 2, 2], [1, 0, 3]] = [1, -2, 3]
    for container in (sp.csr_array, sp.csr_matrix):
        rows = read_rows(container(small).asformat(kind), np.float32).matrix
        assert rows.format == "csr"
        assert np.array_equal(rows.toarray(), small)
    assert read_rows(sp.csr_array((0, 3)), np.float32).shape == (0, 3)


def test_damaged_blocks_are_refused():
    blocks = sp.bsr_array(np.ones((4, 6)), blocksize=(2, 3))
    blocks.indices = np.array([0, 1, 0, 2])
    with pytest.raises(ValueError, match="must lie within its 2 columns; got 0 to 2"):
        read_rows(blocks, np.float32)
    blocks.indptr = np.array([0, 5, 4])
    with pytest.raises(ValueError, match="indptr"):
        read_rows(blocks, np.float32)
