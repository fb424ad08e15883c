"""Results of measures whose credits do not add up: no baseline, no residual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localmdi.results import GlobalImportance, LocalImportance


@pytest.fixture
def gain(make_local):
    return make_local(baseline=None, residual=None, measure="gain", honest=True)


def test_the_usual_measure(make_local):
    for result in (make_local(), make_local().mean()):
        assert (result.measure, result.honest) == ("drop", False)


@pytest.mark.parametrize(
    ("absent", "given_field"), [("baseline", "residual"), ("residual", "baseline")]
)
def test_baseline_and_residual_come_together(make_local, absent, given_field):
    with pytest.raises(ValueError, match=f"{absent} must be given together with {given_field}"):
        make_local(**{absent: None})


def test_neither_need_be_named(gain):
    bare = LocalImportance(
        gain.values, unit="bits", feature_names=gain.feature_names, n_trees=10, measure="gain"
    )
    assert bare.baseline is None
    assert bare.residual is None


def test_choosing_rows_and_features(gain):
    for part in (gain[1:], gain[0], gain[[2, 0], ["dose", "age"]], gain[:, "age"]):
        assert (part.baseline, part.residual) == (None, None)
        assert (part.measure, part.honest) == ("gain", True)


def test_grouping(gain):
    grouped = gain.group({"sex": ["sex_f", "sex_m"]})
    assert grouped.values.tolist() == [[0.5, 0.0, 0.25], [0.0, 0.5, -0.125], [1.0, 0.0, 0.0]]
    assert (grouped.baseline, grouped.measure, grouped.honest) == (None, "gain", True)
    total = gain.mean().group({"sex": ["sex_f", "sex_m"]})
    assert (total.measure, total.honest) == ("gain", True)


@given(st.lists(st.sampled_from("ab"), min_size=3, max_size=3), st.booleans())
def test_means(labels, weighted):
    values = np.arange(6.0).reshape(3, 2)
    result = LocalImportance(
        values, unit="bits", feature_names=("a", "b"), n_trees=2, measure="gain",
        row_weight=np.array([1.0, 2.0, 3.0]) if weighted else None,
    )  # fmt: skip
    weight = np.ones(3) if result.row_weight is None else result.row_weight
    means = result.mean(by=labels)
    for mean in (result.mean(), *means.values()):
        assert (mean.baseline, mean.measure, mean.honest) == (None, "gain", False)
    merged = GlobalImportance.merge(means.values())
    np.testing.assert_allclose(merged.values, weight @ values / weight.sum())
    assert merged.baseline is None


def test_joining(gain):
    joined = LocalImportance.concat([gain[:1], gain[1:]])
    assert (joined.baseline, joined.residual) == (None, None)
    assert (joined.measure, joined.honest) == ("gain", True)
    np.testing.assert_array_equal(joined.values, gain.values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "drop"}, "same measure; got 'gain' and 'drop'"),
        ({"honest": False}, "same honest; got True and False"),
        ({"baseline": 1.0, "residual": np.zeros(3)}, "baseline .*None and float"),
        ({"baseline": np.ones(3), "residual": np.zeros(3)}, "baseline .*None and ndarray"),
    ],
)
def test_joining_refuses_parts_that_differ(gain, make_local, change, message):
    usual = {"baseline": None, "residual": None, "measure": "gain", "honest": True}
    with pytest.raises(ValueError, match=message):
        LocalImportance.concat([gain, make_local(**usual | change)])


def test_shap_starts_at_zero(gain):
    explanation = gain.to_shap()
    assert explanation.base_values.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(explanation.values, gain.values)


def test_top_and_frames_need_no_baseline(gain, make_local):
    assert gain.top(1).names.tolist() == make_local().top(1).names.tolist()
    assert gain.to_frame().equals(make_local().to_frame())


def test_nothing_to_add_up_to(gain):
    with pytest.raises(ValueError, match="measure 'gain'"):
        gain.additivity_error()


def test_repr(gain, make_local):
    head, *rest = repr(gain).splitlines()
    assert head == "LocalImportance (gain, honest): 3 rows, 4 features, 10 trees, in bits"
    assert rest[0] == "  largest by mean value:"
    assert repr(gain.mean()).startswith("GlobalImportance (gain, honest): 4 features, 10 trees")
    assert repr(make_local(honest=True)).startswith("LocalImportance (honest): ")


def test_repr_leaves_out_what_does_not_apply(make_local):
    limit = make_local(n_trees=0)[0, "age"]
    assert repr(limit).splitlines()[0] == "LocalImportance: 1 row, 1 feature, in bits"
    assert repr(limit.mean()).splitlines()[0] == "GlobalImportance: 1 feature, in bits"
