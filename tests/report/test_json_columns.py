"""What the page's script unpacks is what was packed, within the precision that is promised."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from localmdi._text import clean
from localmdi.report.json_columns import encode_column, encode_errors, encode_values, read_column
from localmdi.report.row_data import list_items, sample_rows
from report.samples import unpack, unpack_column

SMALL = settings(max_examples=60, deadline=None)


@SMALL
@given(arrays(np.float64, (7, 3), elements=st.floats(-1e6, 1e6) | st.just(np.nan)))
def test_values_keep_four_digits_of_the_largest(values):
    encoded = encode_values(values)
    steps = unpack(encoded["steps"]).reshape(3, 7).T
    decoded = np.where(steps == -32768, np.nan, steps * np.array(encoded["scale"]))
    largest = np.nan_to_num(np.abs(values)).max(axis=0)
    gap = np.abs(decoded - values)
    assert (np.isnan(decoded) == np.isnan(values)).all()
    assert (np.nan_to_num(gap) <= largest / 60_000 + 1e-300).all()


@SMALL
@given(arrays(np.float64, (5, 2), elements=st.floats(1e-9, 1e3) | st.sampled_from([0, np.nan])))
def test_errors_keep_their_size(errors):
    encoded = encode_errors(errors)
    if np.isnan(errors).all():
        assert encoded is None
        return
    steps = unpack(encoded["steps"]).reshape(2, 5).T.astype(float)
    decoded = np.exp(encoded["low"] + (steps - 2) * encoded["width"])
    decoded = np.select([steps == 0, steps == 1], [np.nan, 0.0], decoded)
    np.testing.assert_allclose(decoded, errors, rtol=0.06)


@SMALL
@given(
    st.lists(
        st.none()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False, width=32),
        max_size=20,
    )
)
def test_columns_of_numbers_come_back(values):
    column = encode_column(read_column(values))
    assert column["kind"] == "number"
    for number, value in zip(unpack_column(column), values, strict=True):
        assert (number is None or np.isnan(number)) == (value is None)
        if isinstance(value, int):
            assert number == value
        elif value is not None:
            assert number == pytest.approx(value, rel=1e-6, abs=1e-44)


def test_many_distinct_numbers():
    whole = list(range(2**30, 2**30 + 3000, 3))
    assert unpack_column(encode_column(read_column(whole))) == whole
    real = np.random.default_rng(0).normal(size=1000).tolist()
    assert encode_column(read_column(real))["array"]["type"] == "f4"
    assert encode_column(read_column([*real, 1e300]))["array"]["type"] == "f8"
    with_gap = encode_column(read_column([*real, None, np.inf]))
    assert np.isnan(unpack_column(with_gap)[-2])
    assert unpack_column(with_gap)[-1] == np.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (2**60, str(2**60)),
        (datetime.date(2026, 11, 16), "2026-11-16"),
        (pd.Timestamp("2026-11-16 12:30"), "2026-11-16 12:30:00"),
        (pd.Timestamp("2026-11-16"), "2026-11-16"),
        (["nested", 1], "['nested', 1]"),
        ("\ud800\x00", "\ufffd\ufffd"),
        ("x" * 100, "x" * 79 + "…"),
    ],
)
def test_other_values_are_texts(value, text):
    column = encode_column(read_column([value, None]))
    assert column["kind"] == "text"
    assert unpack_column(column) == [text, None]


def test_a_decimal_is_a_number():
    assert unpack_column(encode_column(read_column([Decimal("1.5"), None]))) == [1.5, None]


@pytest.mark.parametrize("n_levels", [254, 255, 256, 65535, 65536])
def test_codes_are_wide_enough(n_levels):
    texts = [str(i) for i in range(n_levels)]
    assert unpack_column(encode_column(read_column([*texts, None]))) == [*texts, None]


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT, np.float32("nan")])
def test_missing(value):
    assert read_column([value, "a"]) == [None, "a"]


@pytest.mark.parametrize("value", [0, "", False, np.zeros(3), [None], "nan"])
def test_not_missing(value):
    assert None not in read_column([value, "a"])


def test_items_of_dates_in_an_array():
    dates = np.array(["2026-11-16T12:00", "NaT"], dtype="datetime64[m]")
    assert list_items(dates) == ["2026-11-16 12:00", None]


@SMALL
@given(st.text(st.characters(), max_size=20))
def test_clean_texts_can_be_written(text):
    written = clean(text)
    written.encode("utf-8")
    assert len(written) == len(text)
    assert not any(ord(character) < 32 for character in written)


@SMALL
@given(st.integers(1, 300), st.integers(1, 50), st.sets(st.integers(0, 299), max_size=20))
def test_sampled_rows(n_rows, max_rows, keep):
    kept = np.array(sorted(row for row in keep if row < n_rows), dtype=np.int64)
    rows = sample_rows(n_rows, max_rows, keep=kept)
    assert len(rows) == min(n_rows, max_rows)
    assert (np.diff(rows) > 0).all()
    assert set(kept[:max_rows]) <= set(rows)
