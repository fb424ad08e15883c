"""The explainer as a step of scikit-learn: pipelines, names of columns, `set_output`, copies."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import localmdi as lm
from importance.models import X_CLASS, Y_CLASS

NAMES = [f"f{j}" for j in range(X_CLASS.shape[1])]
FRAME = pd.DataFrame(X_CLASS, columns=NAMES, index=range(500, 500 + len(X_CLASS)))
MODEL = RandomForestClassifier(12, random_state=0).fit(FRAME, Y_CLASS)
EXPECTED = lm.local_mdi(MODEL, FRAME)


def test_without_a_choice_it_gives_arrays():
    values = lm.Explainer(MODEL).fit(FRAME, Y_CLASS).transform(FRAME)
    assert type(values) is np.ndarray
    assert np.array_equal(values, EXPECTED.values)


def test_pandas_keeps_the_index():
    frame = lm.Explainer(MODEL).set_output(transform="pandas").transform(FRAME)
    pd.testing.assert_frame_equal(frame, EXPECTED.to_frame())
    from_polars = (
        lm.Explainer(MODEL).set_output(transform="pandas").transform(pl.from_pandas(FRAME))
    )
    assert type(from_polars) is pd.DataFrame
    assert from_polars.index.tolist() == list(range(len(FRAME)))


def test_polars():
    explainer = lm.Explainer(MODEL).set_output(transform="polars")
    frame = explainer.transform(FRAME)
    assert type(frame) is pl.DataFrame
    assert frame.columns == NAMES == explainer.get_feature_names_out().tolist()
    assert np.array_equal(frame.to_numpy(), EXPECTED.values)
    # None leaves the choice as it is, copies have it too.
    assert type(explainer.set_output().transform(FRAME)) is pl.DataFrame
    assert type(pickle.loads(pickle.dumps(explainer)).transform(FRAME)) is pl.DataFrame
    assert type(explainer.set_output(transform="default").transform(FRAME)) is np.ndarray


def test_the_setting_of_scikit_learn_counts():
    explainer = lm.Explainer(MODEL)
    with sklearn.config_context(transform_output="polars"):
        assert type(explainer.transform(FRAME)) is pl.DataFrame
        chosen = lm.Explainer(MODEL).set_output(transform="default")
        assert type(chosen.transform(FRAME)) is np.ndarray


def test_an_unknown_container():
    with pytest.raises(ValueError, match="'default', 'pandas', 'polars' or None; got 'excel'"):
        lm.Explainer(MODEL).set_output(transform="excel")


def test_names_of_a_model_without():
    bare = RandomForestClassifier(3, random_state=0).fit(X_CLASS, Y_CLASS)
    assert lm.Explainer(bare).get_feature_names_out().tolist() == [f"x{j}" for j in range(6)]


def test_in_pipelines():
    groups = make_pipeline(lm.Explainer(MODEL), KMeans(3, random_state=0)).fit(FRAME)
    assert groups.predict(FRAME).shape == (len(FRAME),)
    pipeline = make_pipeline(MinMaxScaler(), lm.Explainer(MODEL))
    frame = pipeline.set_output(transform="polars").fit_transform(FRAME)
    assert type(frame) is pl.DataFrame
    assert "Explainer" in pipeline._repr_html_()
    # Cross-validation copies every step.
    steps = make_pipeline(lm.Explainer(MODEL), LogisticRegression(max_iter=1000))
    assert cross_val_score(steps, FRAME, Y_CLASS, cv=3).shape == (3,)
    assert np.array_equal(clone(steps)[0].transform(FRAME), EXPECTED.values)


def test_beside_other_columns():
    both = make_column_transformer(
        (lm.Explainer(MODEL), NAMES), ("passthrough", ["f0"]), verbose_feature_names_out=True
    ).set_output(transform="pandas")
    frame = both.fit_transform(FRAME)
    assert frame.columns.tolist()[0] == "explainer__f0"
    assert frame.shape == (len(FRAME), 7)
