"""The table of fields: every field is in it, and every verb treats all fields of a result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from localmdi.infinite.mdi import InfiniteImportance
from localmdi.results import (
    ClassImportance,
    GlobalImportance,
    InteractionImportance,
    LocalImportance,
    PairImportance,
)
from localmdi.results.fields import FIELDS

KINDS = [
    LocalImportance, GlobalImportance, ClassImportance, InteractionImportance, PairImportance,
]  # fmt: skip
N, P = 5, 3


@pytest.fixture
def full():
    """Return a result in which no field is None; all numbers differ."""
    rng = np.random.default_rng(0)
    return LocalImportance(
        rng.normal(size=(N, P)),
        rng.random(N),
        residual=rng.random(N),
        unit="bits",
        feature_names=("age", "sex_f", "sex_m"),
        n_trees=10,
        data=rng.normal(size=(N, P)),
        row_weight=rng.random(N),
        standard_error=rng.random((N, P)),
        mean_standard_error=rng.random(P),
        row_labels=np.array([*"vwxyz"]),
        frame_type="polars",
        method="exact",
        measure="loss",
        honest=True,
        error_kind="labels",
        caveat="careful",
        direction=rng.normal(size=(N, P)),
        prediction=rng.random(N),
        groups={"sex": ("sex_f", "sex_m")},
        scores={"brier": rng.random(N), "prior": rng.random(N)},
    )


def values_of(result):
    return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_line(kind):
    assert {field.name for field in dataclasses.fields(kind)} <= FIELDS.keys()


def test_every_line_is_a_field_of_some_result():
    assert FIELDS.keys() == {field.name for kind in KINDS for field in dataclasses.fields(kind)}


def test_the_example_leaves_nothing_out(full):
    assert all(value is not None for value in values_of(full).values())


@pytest.mark.parametrize("rows", [[3, 0], slice(1, 4), [], np.arange(N) % 2 == 0], ids=str)
def test_chosen_rows_have_all_that_belongs_to_them(full, rows):
    chosen = full[rows]
    wanted = np.arange(N)[rows]
    for name, value in values_of(full).items():
        if isinstance(value, dict) and name == "scores":
            expected = {key: part[wanted] for key, part in value.items()}
        elif name == "mean_standard_error":
            expected = None  # of all rows together
        elif isinstance(value, np.ndarray):
            expected = value[wanted]
        else:
            expected = value
        np.testing.assert_equal(getattr(chosen, name), expected)


@pytest.mark.parametrize("columns", [[2, 0], ["sex_m"], slice(None, None, -1)], ids=str)
def test_chosen_features_have_all_that_belongs_to_them(full, columns):
    chosen = full[:, columns]
    names = np.array(full.feature_names)
    wanted = np.flatnonzero(names == "sex_m") if columns == ["sex_m"] else np.arange(P)[columns]
    for name, value in values_of(full).items():
        if name in ("values", "standard_error", "direction", "data"):
            expected = value[:, wanted]
        elif name == "mean_standard_error":
            expected = value[wanted]
        elif name == "feature_names":
            expected = tuple(names[wanted])
        else:
            expected = value
        np.testing.assert_equal(getattr(chosen, name), expected)


def test_joining_undoes_choosing(full):
    joined = LocalImportance.concat([full[:2], full[2:2], full[2:]])
    for name, value in values_of(full).items():
        expected = None if name == "mean_standard_error" else value
        np.testing.assert_equal(getattr(joined, name), expected)


@pytest.mark.parametrize("name", ["data", "direction", "prediction", "scores", "standard_error"])
def test_what_one_part_lacks_the_whole_lacks(full, name):
    other = dataclasses.replace(full, **{name: None})
    joined = LocalImportance.concat([full, other])
    assert getattr(joined, name) is None
    assert joined.residual.tolist() == [*full.residual, *full.residual]


def test_scores_of_other_names_are_not_joined(full):
    other = dataclasses.replace(full, scores={"brier": np.zeros(N)})
    assert LocalImportance.concat([full, other]).scores is None


def test_groups_add_up_all_that_belongs_to_features(full):
    grouped = full.group()
    assert grouped.feature_names == ("age", "sex")
    for name, value in values_of(full).items():
        if name in ("values", "standard_error", "direction"):
            expected = np.column_stack([value[:, 0], value[:, 1] + value[:, 2]])
            np.testing.assert_allclose(getattr(grouped, name), expected, rtol=1e-15)
        elif name == "mean_standard_error":
            np.testing.assert_allclose(grouped.mean_standard_error, [value[0], value[1] + value[2]])
        elif name not in ("feature_names", "data", "groups"):
            np.testing.assert_equal(getattr(grouped, name), value)
    assert grouped.groups is None


def test_the_mean_keeps_what_holds_for_it_too(full):
    mean = full.mean()
    for name in ("unit", "feature_names", "n_trees", "measure", "honest", "caveat", "frame_type"):
        assert getattr(mean, name) == getattr(full, name)
    weight = full.row_weight / full.row_weight.sum()
    np.testing.assert_allclose(mean.values, weight @ full.values)
    assert mean.baseline == pytest.approx(weight @ full.baseline)
    assert mean.error_kind == "trees"
    np.testing.assert_array_equal(mean.standard_error, full.mean_standard_error)


def test_fields_of_a_subclass_are_not_the_table_s(full):
    own = InfiniteImportance(**values_of(full), support=np.ones(N))
    np.testing.assert_equal(own[1:3].support, np.ones(2))
    np.testing.assert_equal(values_of(own.plain()), values_of(full))


def test_rows_of_pairs_and_interactions():
    rows = [2, 0]
    error = np.arange(N * P, dtype=float).reshape(N, P)
    pairs = PairImportance(
        error + 1, [[0, 0], [0, 1], [1, 1]], ("a", "b"), unit="bits", index="conditional",
        n_trees=3, rest=np.arange(float(N)), standard_error=error, row_labels=np.arange(N),
        frame_type="polars",
    )  # fmt: skip
    table = np.arange(N * P * P, dtype=float).reshape(N, P, P)
    interactions = InteractionImportance(
        table, ("a", "b", "c"), unit="bits", index="SII", standard_error=table + 1,
        row_weight=np.arange(float(N)), row_labels=np.arange(N), method="exact",
    )  # fmt: skip
    for result, of_rows in (
        (pairs, {"values", "rest", "standard_error", "row_labels"}),
        (interactions, {"values", "standard_error", "row_weight", "row_labels"}),
    ):
        for name, value in values_of(result).items():
            expected = value[rows] if name in of_rows else value
            np.testing.assert_equal(getattr(result[rows], name), expected)
