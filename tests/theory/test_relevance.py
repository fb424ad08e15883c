"""Relevance: exact on counts, up to a stated tolerance on floats, with witnesses."""

import numpy as np
import pytest

from localmdi.theory import (
    Distribution,
    is_locally_relevant,
    is_relevant,
    is_strongly_relevant,
    is_weakly_relevant,
    local_witnesses,
    relevant_contexts,
)

XOR = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]


def test_xor_is_relevant_only_together():
    law = Distribution.from_counts(XOR)
    assert relevant_contexts(law, 0) == ((1,),)
    assert is_strongly_relevant(law, 0)
    assert not is_weakly_relevant(law, 0)


def test_contexts_are_listed_smallest_first():
    counts = np.zeros((2, 2, 2, 2), dtype=int)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                counts[a, b, c, a & b] = 1
    law = Distribution.from_counts(counts)
    assert relevant_contexts(law, 0) == ((), (1,), (2,), (1, 2))
    assert relevant_contexts(law, 2) == ()


@pytest.mark.parametrize("n", [10**3, 10**8, 10**12])
def test_one_row_more_makes_a_feature_relevant(n):
    """Whole numbers are compared exactly, however large."""
    even = Distribution.from_counts([[n, 2 * n], [n, 2 * n]])
    odd = Distribution.from_counts([[n, 2 * n], [n, 2 * n + 1]])
    assert not is_relevant(even, 0)
    assert not is_strongly_relevant(even, 0)
    assert is_relevant(odd, 0)
    assert is_strongly_relevant(odd, 0)
    assert is_locally_relevant(odd, 0, [1])


def test_floats_are_compared_up_to_the_tolerance():
    def law(shift):
        return Distribution.from_conditional([[0.3, 0.7], [0.3 + shift, 0.7 - shift]])

    assert not is_relevant(law(1e-12), 0)
    assert is_relevant(law(1e-8), 0)
    assert is_relevant(law(1e-12), 0, tolerance=1e-14)
    assert not is_locally_relevant(law(1e-8), 0, [1], tolerance=1e-6)


def test_rounding_of_a_product_law_is_no_relevance():
    rng = np.random.default_rng(0)
    for _ in range(20):
        parts = [rng.dirichlet(np.ones(size)) for size in (2, 3, 2, 3)]
        law = Distribution(np.einsum("i,j,k,y->ijky", *parts))
        assert not any(is_relevant(law, m) for m in range(3))


def test_values_without_mass_are_no_context():
    law = Distribution.from_counts([[1, 1], [0, 0], [2, 2]])
    assert not is_relevant(law, 0)


def test_witnesses_can_be_verified():
    rng = np.random.default_rng(1)
    law = Distribution.from_counts(rng.integers(0, 4, (2, 3, 2, 2)))
    for x, _ in law.instances():
        for m in range(3):
            for witness in local_witnesses(law, m, x=x):
                before = law.conditional("y", witness.context)
                after = law.conditional("y", {**witness.context, m: x[m]})
                assert witness.before == pytest.approx(tuple(before))
                assert witness.after == pytest.approx(tuple(after))
                assert witness.before != pytest.approx(tuple(after), abs=1e-9)


def test_witnesses_name_the_values_of_the_sample():
    law = Distribution.from_samples([["a", 5], ["a", 7], ["b", 5], ["b", 7]], [0, 1, 1, 0])
    (witness,) = local_witnesses(law, 0, x=["b", "5"])
    assert witness.context == {1: "5"}
    (witness,) = local_witnesses(law, 0, x=["b", "5"], criterion="entropy")
    assert (witness.before, witness.after) == ((1.0,), (0.0,))


def test_errors():
    law = Distribution.from_counts(XOR)
    with pytest.raises(ValueError, match="index from 0 to 1"):
        is_relevant(law, 2)
    with pytest.raises(ValueError, match="x must have 2 values"):
        is_locally_relevant(law, 0, [1])
