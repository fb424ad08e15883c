"""The led problem and its samples."""

import numpy as np
import pytest

from localmdi.datasets import make_led, make_led_sample
from localmdi.theory import Distribution, is_relevant

TABLE = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def test_led_is_the_table_of_the_paper():
    X, y = make_led()
    assert " ".join("".join(map(str, row)) for row in X) == TABLE
    assert y.tolist() == list(range(10))
    assert X.dtype == y.dtype == np.int64


def test_irrelevant_features_are_exactly_irrelevant():
    X, y = make_led(irrelevant=3)
    assert X.shape == (80, 10)
    assert len(np.unique(np.column_stack([X, y]), axis=0)) == 80
    law = Distribution.from_samples(X, y)
    assert [is_relevant(law, m) for m in range(10)] == [True] * 7 + [False] * 3


def test_samples_are_rows_of_the_table():
    X, y = make_led_sample(500, random_state=1)
    assert np.array_equal(X, make_led()[0][y])
    assert set(y) == set(range(10))
    again = make_led_sample(500, random_state=1)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert not np.array_equal(y, make_led_sample(500, random_state=2)[1])
    assert make_led_sample()[0].shape == (200, 7)


def test_noise_flips_segments_and_coins_are_fair():
    X, y = make_led_sample(20_000, irrelevant=2, noise=0.1, random_state=np.random.RandomState(0))
    assert X.shape == (20_000, 9)
    assert np.mean(X[:, :7] != make_led()[0][y]) == pytest.approx(0.1, abs=0.005)
    assert X[:, 7:].mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_led(-1), "from 0 to 20; got -1"),
        (lambda: make_led(30), "from 0 to 20; got 30"),
        (lambda: make_led_sample(0), "at least 1; got 0"),
        (lambda: make_led_sample(noise=2.0), "from 0 to 1; got 2.0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
