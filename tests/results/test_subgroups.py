"""Subgroups: a planted difference is found and named, and every rule holds for its rows only."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from localmdi.results import LocalImportance

N = 200
RNG = np.random.default_rng(0)
AGE = RNG.integers(20, 80, N)
SEX = np.where(RNG.random(N) < 0.5, "male", "female")
REGION = RNG.choice(["north", "south", "east"], N)
BMI = RNG.normal(25, 4, N).round(1)


def make(values, data, names=("age", "bmi"), **changes):
    fields = {"unit": "bits", "feature_names": names, "n_trees": 10, "data": data, **changes}
    return LocalImportance(np.asarray(values, dtype=float), **fields)


def planted(mask):
    """Two features: the first tells more, the second less, where the mask holds."""
    noise = RNG.normal(scale=0.01, size=(N, 2))
    return noise + np.where(np.asarray(mask)[:, None], [0.75, 0.0], [0.25, 0.25])


def rows_of(subgroups):
    return {group.rule: group.rows.tolist() for group in subgroups}


def test_a_number():
    frame = pd.DataFrame({"age": AGE, "bmi": BMI})
    found = make(planted(AGE > 50), frame).subgroups()
    assert rows_of(found) == {
        "age > 50": np.flatnonzero(AGE > 50).tolist(),
        "age ≤ 50": np.flatnonzero(AGE <= 50).tolist(),
    }
    assert found.explained > 0.95
    assert f"age > 50 ({(AGE > 50).sum()} rows)" in repr(found)


def test_words_say_what_differs():
    values = np.where((AGE > 50)[:, None], [0.75, 0.0], [0.25, 0.0])
    found = make(values, pd.DataFrame({"age": AGE, "bmi": BMI})).subgroups()
    older = next(group for group in found if group.rule == "age > 50")
    overall = f"{values[:, 0].mean():.3g}"
    assert repr(older) == (
        f"age > 50 ({(AGE > 50).sum()} rows): age 0.75 bits instead of {overall}"
    )


def test_two_conditions_and_a_range():
    frame = pd.DataFrame({"age": AGE, "sex": SEX})
    both = (AGE > 50) & (SEX == "male")
    found = rows_of(make(planted(both), frame, ("age", "sex")).subgroups())
    rule = next(rule for rule in found if "age > 50" in rule and "sex is male" in rule)
    assert found[rule] == np.flatnonzero(both).tolist()
    middle = (AGE > 40) & (AGE <= 60)
    found = rows_of(make(planted(middle), frame, ("age", "sex")).subgroups())
    assert found["40 < age ≤ 60"] == np.flatnonzero(middle).tolist()


def test_one_category_against_the_rest():
    frame = pd.DataFrame({"age": AGE, "region": REGION})
    found = rows_of(make(planted(REGION == "south"), frame, ("age", "region")).subgroups())
    assert found["region is south"] == np.flatnonzero(REGION == "south").tolist()
    assert found["region is not south"] == np.flatnonzero(REGION != "south").tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_values(library):
    region = np.where(np.arange(N) % 5 == 0, None, REGION)
    bmi = np.where(np.arange(N) % 4 == 0, np.nan, BMI)
    frame = pd.DataFrame({"bmi": bmi, "region": region})
    frame = pl.from_pandas(frame) if library == "polars" else frame
    names = ("bmi", "region")
    found = rows_of(make(planted(np.arange(N) % 5 == 0), frame, names).subgroups())
    assert found["region is missing"] == list(range(0, N, 5))
    assert "region is known" in found
    found = rows_of(make(planted(np.arange(N) % 4 == 0), frame, names).subgroups())
    assert found["bmi is missing"] == list(range(0, N, 4))
    assert "bmi is known" in found
    high = (bmi > 25) | np.isnan(bmi)
    found = rows_of(make(planted(high), frame, names).subgroups())
    assert found["bmi > 25 or missing"] == np.flatnonzero(high).tolist()
    assert found["bmi ≤ 25"] == np.flatnonzero(~high).tolist()


def test_dates_and_booleans():
    day = pd.date_range("2024-01-01", periods=N).to_numpy()
    smoker = np.arange(N) % 2 == 0
    frame = pd.DataFrame({"day": day, "smoker": smoker})
    values = planted(day > np.datetime64("2024-03-31"))
    found = rows_of(make(values, frame, ("day", "smoker")).subgroups())
    assert set(found) == {"day > 2024-03-31", "day ≤ 2024-03-31"}
    found = rows_of(make(planted(smoker), frame, ("day", "smoker")).subgroups())
    assert set(found) == {"smoker is True", "smoker is False"}


def test_rules_are_true_at_any_scale():
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    for scale in (1e-30, 1e30, -1e-3, 541.37, 5e9):
        column = (AGE + 0.5) * scale
        found = make(planted(AGE > 50), np.column_stack([column, BMI]), ("x", "bmi")).subgroups()
        for group in found:
            assert "e+" not in group.rule
            rule = group.rule.replace("≤", "<=").replace("\N{MINUS SIGN}", "-").replace(",", "")
            rule = rule.replace(" \N{MULTIPLICATION SIGN} 10", "e").translate(digits)
            holds = eval(rule, {"x": column})
            np.testing.assert_array_equal(np.flatnonzero(holds), group.rows)


def test_other_columns_than_the_features():
    result = make(planted(SEX == "male"), np.column_stack([AGE, BMI]))
    found = rows_of(result.subgroups(pd.DataFrame({"sex": SEX})))
    assert set(found) == {"sex is male", "sex is female"}


def test_every_row_is_in_one_subgroup_of_enough_rows():
    values = RNG.normal(size=(N, 2)) + AGE[:, None] / 10
    found = make(values, np.column_stack([AGE, BMI])).subgroups(max_groups=4, min_rows=30)
    assert 2 <= len(found) <= 4
    assert min(map(len, found)) >= 30
    assert sorted(np.concatenate([group.rows for group in found])) == list(range(N))
    assert found.labels[found[0].rows[0]] == found[0].rule


def test_the_same_every_time():
    values = RNG.normal(size=(N, 2)) + AGE[:, None] / 10
    result = make(values, np.column_stack([AGE, BMI]))
    assert repr(result.subgroups()) == repr(result.subgroups())


def test_nothing_stands_out():
    found = make(np.ones((N, 2)), np.column_stack([AGE, BMI])).subgroups()
    assert len(found) == 1
    assert found[0].rule == "all rows"
    assert "no subgroup stands out" in repr(found)
    few = make(planted(AGE > 50), np.column_stack([AGE, BMI]))[:15]
    assert len(few.subgroups()) == 1


def test_sparse_values_and_data():
    values = planted(AGE > 50)
    result = make(values, csr_array(np.column_stack([AGE, BMI])))
    result = dataclasses.replace(result, values=csr_array(values))
    assert set(rows_of(result.subgroups())) == {"age > 50", "age ≤ 50"}


def test_rows_without_weight_make_no_subgroup():
    order, weight = np.arange(N), np.r_[np.zeros(20), np.ones(N - 20)]
    result = make(planted(order < 35), np.column_stack([order, BMI]), row_weight=weight)
    found = result.subgroups(min_rows=20)
    assert len(found) > 1
    assert all((weight[group.rows] > 0).sum() >= 20 for group in found)
    with pytest.raises(ValueError, match="no row's are"):
        result[:20].subgroups()


def test_rules_have_three_conditions_unless_told():
    columns = RNG.integers(0, 2, (N, 4))
    values = np.stack([columns.sum(axis=1), np.zeros(N)], axis=1)
    frame = pd.DataFrame(columns, columns=["a", "b", "c", "d"])
    found, deeper = (
        make(values, None).subgroups(frame, max_groups=16, min_rows=2, **more)
        for more in ({}, {"max_depth": 4})
    )
    assert (len(found), len(deeper)) == (8, 16)


def test_values_that_do_not_vary_are_not_explained():
    found = make(np.ones((N, 2)), np.column_stack([AGE, BMI])).subgroups()
    assert found.explained == 0


def test_rows_without_values_have_no_say():
    values = planted(AGE > 50)
    values[:20] = np.nan
    weight = np.r_[np.zeros(20), np.ones(N - 20)]
    result = make(values, np.column_stack([AGE, BMI]), row_weight=weight)
    found = result.subgroups()
    assert rows_of(found)["age > 50"] == np.flatnonzero(AGE > 50).tolist()
    assert np.isfinite(found.explained)
    assert all(np.isfinite(group.importance.values).all() for group in found)
    with pytest.raises(ValueError, match="no row's are"):
        result[:20].subgroups()


def test_frame():
    frame = pl.DataFrame({"age": AGE, "bmi": BMI})
    table = make(planted(AGE > 50), frame, frame_type="polars").subgroups().to_frame()
    assert isinstance(table, pl.DataFrame)
    assert table.columns == ["_rule", "_rows", "age", "bmi"]
    assert table["_rows"].sum() == N


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_groups": 1}, "max_groups must be at least 2"),
        ({"max_depth": 0}, "max_depth must be at least 1"),
        ({"min_rows": 0}, "min_rows must be at least 1"),
        ({"X": np.ones((3, 2))}, r"a table of 200 rows.*got shape \(3, 2\)"),
    ],
    ids=["groups", "depth", "rows", "table"],
)
def test_wrong_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        make(planted(AGE > 50), np.column_stack([AGE, BMI])).subgroups(**options)


def test_without_data():
    result = make(planted(AGE > 50), None)
    with pytest.raises(ValueError, match=r"result\.attach_data\(X\)"):
        result.subgroups()
    assert len(result.attach_data(np.column_stack([AGE, BMI])).subgroups()) == 2
    with pytest.raises(ValueError, match="at least one row"):
        result[:0].subgroups()
