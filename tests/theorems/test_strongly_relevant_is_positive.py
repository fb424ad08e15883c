"""Section 3.2: a strongly relevant variable has Imp^K > 0 whatever K."""

from hypothesis import given, settings
from hypothesis import strategies as st

from localmdi.theory import is_strongly_relevant, is_weakly_relevant, population_mdi
from theorems.laws import laws


@settings(max_examples=150, deadline=None)
@given(
    laws(max_features=4, whole=True),
    st.sampled_from(["theory", "sklearn"]),
    st.sampled_from(["entropy", "gini"]),
)
def test_for_every_k(law, draw, criterion):
    strong = [m for m in range(law.n_features) if is_strongly_relevant(law, m)]
    for k in range(1, law.n_features + 1):
        importance = population_mdi(law, k, draw=draw, criterion=criterion)
        assert all(importance[m] > 1e-9 for m in strong)


@settings(max_examples=100, deadline=None)
@given(laws(max_features=3, whole=True))
def test_no_feature_is_strong_and_weak(law):
    for m in range(law.n_features):
        assert not (is_strongly_relevant(law, m) and is_weakly_relevant(law, m))
