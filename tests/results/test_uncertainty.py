"""Uncertain rows: the list of them, what raised one's uncertainty, and its confident neighbours."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
from localmdi.results import LocalImportance

VALUES = np.array([[0.5, 0.4, 0.0], [0.3, -0.2, 0.0], [0.4, 0.4, 0.0], [0.5, 0.5, 0.0]])
FRAME = pd.DataFrame(
    {
        "age": [40.0, 41.0, 80.0, 40.0],
        "smoker": ["no", "yes", "yes", None],
        "idle": [1, 2, 3, 4],
    },
    index=["anna", "bert", "carl", "dora"],
)


@pytest.fixture
def result():
    return LocalImportance(
        VALUES,
        1.0,
        residual=1.0 - VALUES.sum(axis=1),
        unit="bits",
        feature_names=tuple(FRAME.columns),
        n_trees=10,
        data=FRAME,
        row_labels=FRAME.index,
        frame_type="pandas",
    )


def test_list(result):
    found = result.most_uncertain(2)
    assert found.positions.tolist() == [1, 2]
    assert found.to_frame().to_dict("list") == {
        "row": ["bert", "carl"],
        "residual": pytest.approx([0.9, 0.2]),
        "baseline": [1.0, 1.0],
        "feature": ["smoker", "idle"],
        "value": [-0.2, 0.0],
    }
    assert "row bert: 0.9 of 1 bit left; lowest value: smoker \N{MINUS SIGN}0.2" in repr(found)
    assert len(result.most_uncertain(99)) == 4
    assert "..." not in repr(result.most_uncertain())


def test_prediction_and_other_frames(result):
    result = dataclasses.replace(
        result, prediction=np.array(["a", "b", "a", "b"]), frame_type="polars"
    )
    frame = result.most_uncertain(1).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["prediction"].to_list() == ["b"]
    assert isinstance(result.explain_uncertainty(1).to_frame(), pl.DataFrame)
    assert isinstance(result.explain_uncertainty(1).neighbours_to_frame(), pl.DataFrame)


def test_why(result):
    why = result.explain_uncertainty(1)
    assert (why.label, why.rank) == ("bert", 0.75)
    assert why.held == ("41", "yes", "2")
    lines = repr(why).splitlines()
    assert lines[0] == "Row bert: 0.9 of 1 bit left, more than in 75 % of the rows"
    assert lines[1] == "  smoker = yes raised it by 0.2 bits"
    assert lines[2] == "  age = 41 removed 0.3 bits instead of 0.425"
    # The idle column differs in all rows, and does not count.
    assert [(n.label, n.differs) for n in why.neighbours] == [
        ("anna", {"smoker": ("no", "yes")}),
        ("dora", {"smoker": ("missing", "yes")}),
        ("carl", {"age": ("80", "41")}),
    ]
    assert why.neighbours_to_frame()["row"].tolist() == ["anna", "dora", "carl"]


def test_why_names_three_of_each_kind(result):
    signs = np.r_[-np.ones(5), np.zeros(5)]
    many = dataclasses.replace(
        result,
        values=np.stack([signs, np.abs(signs), np.ones(10), np.ones(10)]),
        feature_names=tuple("abcdefghij"),
        data=np.zeros((4, 10)),
    )
    lines = repr(many.explain_uncertainty(0)).splitlines()
    assert sum(" raised it by " in line for line in lines) == 3
    assert sum(" removed " in line for line in lines) == 3


def test_why_of_sparse_values(result):
    sparse = dataclasses.replace(result, values=csr_array(result.values))
    assert repr(sparse.explain_uncertainty(1)) == repr(result.explain_uncertainty(1))
    assert repr(sparse.most_uncertain()) == repr(result.most_uncertain())


def test_how_many_and_how_confident(result):
    assert result.explain_uncertainty(1, n_neighbours=0).neighbours == ()
    sure = result.explain_uncertainty(1, confident=0.1).neighbours
    assert [neighbour.label for neighbour in sure] == ["dora"]
    nobody = result[[1, 2]].explain_uncertainty(1)
    assert nobody.neighbours == ()
    assert "no row is much more certain" in repr(nobody)
    assert len(nobody.neighbours_to_frame()) == 0


def test_columns_before_a_pipeline(result):
    # The features are not columns of the data: neighbours are told apart by the data's own.
    other = dataclasses.replace(result, feature_names=("pc1", "pc2", "pc3"))
    why = other.explain_uncertainty(1)
    assert why.held is None
    assert "pc2 raised it by 0.2 bits" in repr(why)
    assert set(why.neighbours[0].differs) <= set(FRAME.columns)


def test_rows_that_every_tree_has_seen_are_not_listed(result):
    residual = np.array(result.residual)
    residual[1] = np.nan
    values = np.array(result.values)
    values[1] = np.nan
    result = dataclasses.replace(result, residual=residual, values=values)
    assert 1 not in result.most_uncertain().positions
    assert np.isfinite(result.explain_uncertainty(2).usual).all()
    with pytest.raises(ValueError, match="every tree has seen the row"):
        result.explain_uncertainty(1)


def test_results_without_a_residual(result):
    gain = dataclasses.replace(result, baseline=None, residual=None, measure="gain")
    for ask in (gain.most_uncertain, lambda: gain.explain_uncertainty(0)):
        with pytest.raises(ValueError, match=r"residual.*Use measure='loss'"):
            ask()


def test_nothing_is_left_and_the_advice_helps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    certain = dataclasses.replace(lm.local_mdi(model, X), residual=np.zeros(60))
    with pytest.raises(ValueError, match="no row is uncertain") as caught:
        certain.most_uncertain()
    advice = str(caught.value).partition("use ")[2].rstrip(".")
    honest = eval(advice, {"lm": lm, "model": model, "X": X, "y": y})
    why = honest.explain_uncertainty(int(honest.most_uncertain(1).positions[0]))
    assert len(why.neighbours) >= 1


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((9,), IndexError, "positions must lie in"),
        (("bert",), TypeError, "position of a row"),
        ((True,), TypeError, "position of a row"),
    ],
)
def test_wrong_rows(result, arguments, error, match):
    with pytest.raises(error, match=match):
        result.explain_uncertainty(*arguments)


def test_wrong_numbers(result):
    with pytest.raises(ValueError, match="k must be at least 1"):
        result.most_uncertain(0)
    with pytest.raises(ValueError, match="confident must be above 0"):
        result.explain_uncertainty(1, confident=0)
    with pytest.raises(ValueError, match=r"result\.attach_data\(X\)"):
        dataclasses.replace(result, data=None).explain_uncertainty(1)
    with pytest.raises(ValueError, match="at least one feature and one row"):
        result[:0].most_uncertain()
