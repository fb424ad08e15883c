"""Theorem 3: X_m is irrelevant iff it is locally irrelevant at every x with P(V = x) > 0."""

from hypothesis import given, settings

from localmdi.theory import is_locally_relevant, is_relevant
from theorems.laws import laws, laws_with_irrelevant, laws_with_locally_irrelevant


def relevant_somewhere(law, m):
    return any(is_locally_relevant(law, m, x) for x, _ in law.instances())


@settings(max_examples=150, deadline=None)
@given(laws(max_features=3))
def test_relevant_iff_locally_relevant_somewhere(law):
    for m in range(law.n_features):
        assert is_relevant(law, m) == relevant_somewhere(law, m)


@settings(max_examples=60, deadline=None)
@given(laws_with_irrelevant())
def test_an_irrelevant_feature_is_locally_irrelevant_everywhere(law):
    last = law.n_features - 1
    assert not is_relevant(law, last)
    assert not relevant_somewhere(law, last)


@settings(max_examples=60, deadline=None)
@given(laws_with_locally_irrelevant())
def test_local_irrelevance_at_some_x_does_not_decide_relevance(law):
    here = [x for x, _ in law.instances() if x[0] == 0]
    assert not any(is_locally_relevant(law, 0, x) for x in here)
    assert is_relevant(law, 0) == relevant_somewhere(law, 0)
