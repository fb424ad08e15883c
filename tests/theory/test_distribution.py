"""Construction, validation, marginals and conditionals of a joint law."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from localmdi.theory import MAX_ENTRIES, Distribution, population_local_mdi


def test_table_is_kept_read_only_and_apart_from_the_input():
    source = np.full((2, 2), 0.25)
    law = Distribution(source)
    source[0, 0] = 9
    assert law.table[0, 0] == 0.25
    with pytest.raises(ValueError, match="read-only"):
        law.table[0, 0] = 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, -0.1], [0.3, 0.3]], r"non-negative, but entry \(0, 1\) is -0.1"),
        ([[0.5, np.nan], [0.3, 0.2]], r"finite, but entry \(0, 1\) is nan"),
        ([[0.5, 0.1], [0.3, 0.3]], "must sum to one, but sums to 1.2"),
        ([0.5, 0.5], r"one axis per feature.*but has shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        Distribution(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_values": [1.0]}, "y_values must be 2 finite numbers"),
        ({"y_values": [1.0, np.inf]}, "y_values must be 2 finite numbers"),
        ({"categories": [["a", "a"]]}, "distinct values per feature"),
        ({"categories": [["a", "b"], ["c", "d"]]}, "distinct values per feature"),
        ({"classes": ["yes"]}, "classes must be 2 distinct labels"),
    ],
)
def test_bad_names_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Distribution([[0.25, 0.25], [0.25, 0.25]], **options)


def test_counts():
    law = Distribution.from_counts([[3, 1], [0, 4]])
    assert law.counts.tolist() == [[3, 1], [0, 4]]
    assert_allclose(law.table, [[0.375, 0.125], [0, 0.5]])
    with pytest.raises(ValueError, match="whole numbers"):
        Distribution.from_counts([[0.5, 0.5]])
    with pytest.raises(ValueError, match="not all be zero"):
        Distribution.from_counts([[0, 0]])


def test_huge_counts_do_not_overflow():
    law = Distribution.from_counts([[2**40, 2**41], [2**42, 2**43]])
    assert law.counts.dtype == object


def test_samples_with_weights():
    X = [["a"], ["b"], ["b"], ["b"]]
    y = ["no", "no", "yes", "yes"]
    plain = Distribution.from_samples(X, y)
    assert plain.counts.tolist() == [[1, 0], [1, 2]]
    assert plain.categories == (("a", "b"),)
    assert plain.classes == ("no", "yes")
    assert plain.y_values is None
    weighted = Distribution.from_samples(X, y, [2, 1, 0, 1])
    assert weighted.counts.tolist() == [[2, 0], [1, 1]]
    fractional = Distribution.from_samples(X, y, [0.5, 0.25, 0.0, 0.25])
    assert fractional.counts is None
    assert_allclose(fractional.table, [[0.5, 0], [0.25, 0.25]])


def test_samples_of_a_frame_keep_their_values():
    frame = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1, 5, 5]})
    law = Distribution.from_samples(frame, [0.5, 2.0, 2.0])
    assert law.categories == (("blue", "red"), (1, 5))
    assert law.y_values.tolist() == [0.5, 2.0]
    assert population_local_mdi(law, ["red", 1], criterion="variance").shape == (2,)
    assert law.encode(frame.iloc[1]) == (0, 1)


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([1, 2], [0, 1], None, r"X must be \(n_rows, p\)"),
        ([[1], [2]], [0], None, r"shapes \(2, 1\) and \(1,\)"),
        ([[1.0], [np.nan]], [0, 1], None, "no missing values"),
        ([[1], [2]], [0.0, np.nan], None, "no missing values"),
        ([[1], [2]], [0, 1], [1.0], "sample_weight must be 2 finite"),
        ([[1], [2]], [0, 1], [1.0, -1.0], "non-negative"),
        ([[1], [2]], [0, 1], [0.0, 0.0], "positive sum"),
    ],
)
def test_bad_samples_are_refused(X, y, weight, message):
    with pytest.raises(ValueError, match=message):
        Distribution.from_samples(X, y, weight)


def test_too_many_cells_are_refused_before_they_are_allocated():
    X = np.vstack([np.zeros(40, dtype=int), np.ones(40, dtype=int)])
    with pytest.raises(ValueError, match=r"2\^41 = 2,199,023,255,552 entries") as error:
        Distribution.from_samples(X, [0, 1])
    assert f"{MAX_ENTRIES:,}" in str(error.value)


def test_conditional_tables():
    law = Distribution.from_conditional([[0.7, 0.3], [0.1, 0.9]], [1 / 3, 2 / 3])
    assert_allclose(law.marginal("y"), [0.3, 0.7])
    assert_allclose(law.conditional("y", {0: 1}), [0.1, 0.9])
    # Where the input has no mass, the row need not be a law.
    Distribution.from_conditional([[0.7, 0.3], [0.0, 0.0]], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"sums to 0.9 at x = \(1,\)"):
        Distribution.from_conditional([[0.7, 0.3], [0.1, 0.8]])
    with pytest.raises(ValueError, match="inputs must have the shape"):
        Distribution.from_conditional([[0.7, 0.3], [0.1, 0.9]], [1.0])


def test_marginals_and_conditionals_of_sets():
    rng = np.random.default_rng(0)
    table = rng.random((2, 3, 2, 4))
    law = Distribution(table / table.sum())
    assert_allclose(law.marginal((2, 0)), law.table.sum(axis=(1, 3)))
    assert_allclose(law.marginal({1, "y"}), law.table.sum(axis=(0, 2)))
    assert law.marginal(()) == pytest.approx(1.0)
    slab = law.table[:, 2, 1, :]
    assert_allclose(law.conditional((0, "y"), {1: 2, 2: 1}), slab / slab.sum())


def test_instances_are_the_support():
    law = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [1, 2]]])
    assert list(law.instances()) == [((0, 0), 0.25), ((1, 1), 0.75)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda law: law.encode([0]), "x must have 2 values, but has 1"),
        (lambda law: law.encode([0, 7]), r"feature 1 must be one of \(0, 1\), but 7"),
        (lambda law: law.encode([0, 1]), r"P\(V = \(0, 1\)\) = 0"),
        (lambda law: law.conditional("y", {0: 0, 1: 1}), "positive probability"),
        (lambda law: law.marginal("z"), 'the output is written "y"'),
        (lambda law: law.marginal(2), "index from 0 to 1, but 2"),
        (lambda law: law.marginal(-1), "index from 0 to 1, but -1"),
    ],
)
def test_bad_questions_are_refused(call, message):
    law = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [1, 2]]])
    with pytest.raises(ValueError, match=message):
        call(law)


def test_a_law_survives_pickling():
    law = Distribution.from_samples([["a"], ["b"]], [1, 2])
    twin = pickle.loads(pickle.dumps(law))
    assert repr(twin) == repr(law) == "Distribution(arities=(2,), n_classes=2)"
    assert_allclose(twin.table, law.table)
