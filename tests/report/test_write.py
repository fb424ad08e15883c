"""What is written: arguments, sampling, size, the numbers and the checked statements."""

import dataclasses
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import localmdi as lm
from localmdi._text import number_text
from localmdi.report import write, write_report
from localmdi.results import PairImportance
from report.samples import HOSTILE, make_result, unpack, unpack_column, unpack_values, written_data

LIMIT = 2_000_000


@pytest.fixture
def write_page(tmp_path):
    def write_and_read(result, **arguments):
        path = write_report(result, tmp_path / "report.html", **arguments)
        return path.read_text(encoding="utf-8")

    return write_and_read


def additivity(page):
    found = re.findall(r'<li class="(holds|differs)">.*?</span><span>(.*?)</span>', page)
    return [(state == "holds", text) for state, text in found]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"result": np.eye(2)}, TypeError, "must be a LocalImportance; got ndarray"),
        ({"result": make_result()[:0]}, ValueError, r"at least one row .* got shape \(0, 6\)"),
        ({"target": [1, 2]}, ValueError, "target must have one entry per row; got 2 for 40 rows"),
        ({"prediction": np.zeros((40, 2))}, ValueError, r"one-dimensional.* shape \(40, 2\)"),
        ({"prediction": "a" * 40}, ValueError, "prediction must be one-dimensional.* got str"),
        ({"max_shape": (0, 9)}, ValueError, r"two positive integers.*; got \(0, 9\)"),
        ({"max_shape": (9, 2.5)}, ValueError, r"two positive integers.*; got \(9, 2.5\)"),
        ({"max_shape": (True, 9)}, ValueError, r"two positive integers.*; got \(True, 9\)"),
        ({"max_shape": 1000}, ValueError, "two positive integers.*; got 1000"),
        ({"title": 7}, TypeError, "title must be text; got 7"),
        ({"notes": ["a", 7]}, TypeError, "notes must be text; got 7"),
        ({"notes": 7}, TypeError, "notes must be text; got 7"),
        ({"global_importance": [1.0]}, TypeError, "must be a GlobalImportance or None; got list"),
        ({"global_importance": make_result(9, 5).mean()}, ValueError, "must have the features of"),
        ({"global_importance": make_result().mean().normalized()}, ValueError, "got 'share'"),
        ({"path": "no/such/folder/a.html"}, FileNotFoundError, "folder of the report must exist"),
        ({"path": "."}, ValueError, "must name a regular file"),
    ],
)
def test_wrong_arguments(tmp_path, monkeypatch, arguments, error, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        write_report(**({"result": make_result(), "path": "report.html"} | arguments))
    assert list(tmp_path.iterdir()) == []


def test_missing_libraries(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "find_spec", lambda name: None if name == "altair" else name)
    expected = r'^a report needs altair: pip install "localmdi\[app\]"$'
    with pytest.raises(ImportError, match=expected):
        write_report(make_result(), tmp_path / "report.html")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*names):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_report(make_result(), path)
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "old"


def test_the_path_comes_back_and_the_page_repeats(tmp_path):
    result = make_result(50, 4)
    first = write_report(result, tmp_path / "a.html", max_shape=(20, 100))
    second = write_report(result, str(tmp_path / "b.html"), max_shape=(20, 100))
    assert isinstance(second, Path)
    assert first.read_bytes() == second.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", "b.html"}


def test_the_numbers_are_the_result_s(write_page):
    error = np.abs(make_result(seed=1).values)
    result = make_result(standard_error=error, row_labels=np.arange(100, 140))
    page = write_page(result, target=np.arange(40) % 3, prediction=np.arange(40) / 7)
    rows = written_data(page)["rows"]
    order = [result.feature_names.index(name) for name in rows["names"]]
    assert np.all(np.diff(result.mean().values[order]) <= 0)
    np.testing.assert_allclose(unpack_values(rows), result.values[:, order], rtol=0, atol=1e-5)
    for feature, column in zip(order, rows["cells"], strict=True):
        np.testing.assert_allclose(unpack_column(column), result.data[:, feature], rtol=1e-6)
    np.testing.assert_allclose(unpack(rows["residual"]), result.residual, rtol=1e-6)
    np.testing.assert_allclose(unpack(rows["baseline"]), result.baseline, rtol=1e-6)
    assert unpack_column(rows["label"]) == list(range(100, 140))
    assert unpack_column(rows["target"]) == [i % 3 for i in range(40)]
    np.testing.assert_allclose(unpack_column(rows["prediction"]), np.arange(40) / 7, rtol=1e-6)
    steps = unpack(rows["errors"]["steps"]).reshape(6, 40).T
    errors = np.exp(rows["errors"]["low"] + (steps - 2.0) * rows["errors"]["width"])
    np.testing.assert_allclose(errors, error[:, order], rtol=0.05)


def test_csr_values_give_the_same_rows(write_page):
    result = make_result()
    sparse = dataclasses.replace(result, values=csr_array(result.values))
    assert written_data(write_page(sparse)) == written_data(write_page(result))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table, csr_array, np.asarray])
def test_every_kind_of_data(write_page, library):
    table = {"feature 0": [1.0, 0.0, 2.5], "feature 1": [0.0, 4.0, 0.0]}
    given = library(table) if library not in (csr_array, np.asarray) else None
    if given is None:
        given = library(np.array([*table.values()]).T)
    rows = written_data(write_page(make_result(3, 2, data=given)))["rows"]
    cells = dict(zip(rows["names"], map(unpack_column, rows["cells"]), strict=True))
    assert cells == table


def test_sampled_rows_are_said_and_the_listed_ones_are_there(write_page):
    result = make_result(500, 4)
    page = write_page(result, max_shape=(60, 100))
    assert "a sample of 60 of 500 rows" in page
    assert "<dd>500</dd>" in page  # what was explained, not what is shown
    position = unpack(written_data(page)["rows"]["position"])
    linked = [int(row) for row in re.findall(r'href="#row-(\d+)"', page)]
    lowest = np.argsort(result.values.min(axis=1))[:12]
    uncertain = np.argsort(-result.residual)[:12]
    assert sorted(linked) == sorted([*lowest, *uncertain])
    assert set(linked) <= set(position)
    # Spread: no stretch of rows is empty.
    assert np.diff(position, prepend=0, append=500).max() < 3 * 500 / 48
    assert "a sample of" not in write_page(result, max_shape=(500, 100))


def test_hidden_features_are_said_and_summed(write_page):
    result = make_result(30, 20)
    page = write_page(result, max_shape=(1000, 5))
    assert "the 5 most important of 20 features" in page
    rows = written_data(page)["rows"]
    hidden = result.values.sum(axis=1) - unpack_values(rows).sum(axis=1)
    assert rows["n_hidden"] == 15
    np.testing.assert_allclose(unpack(rows["hidden"]), hidden, atol=1e-4)


def test_data_of_other_columns_are_not_shown_as_the_features(write_page):
    page = write_page(make_result(5, 3, data=np.zeros((5, 7))))
    assert written_data(page)["rows"]["cells"] is None
    assert "own values are not shown" in page


def big_result(data):
    return make_result(1000, 100, data=data, standard_error=np.abs(make_result(1000, 100).values))


def test_size_of_numbers(write_page):
    rng = np.random.default_rng(0)
    result = big_result(rng.normal(size=(1000, 100)))
    label = [f"patient {i}" for i in range(1000)]
    page = write_page(result, prediction=rng.normal(size=1000), target=label)
    assert 1_400_000 < len(page.encode()) <= LIMIT
    assert None not in written_data(page)["rows"]["cells"]


def test_size_of_everything_at_once(write_page):
    rng = np.random.default_rng(0)
    result = big_result(rng.normal(size=(1000, 100)))
    result = dataclasses.replace(result, direction=rng.normal(size=(1000, 100)))
    pairs = PairImportance(
        rng.normal(size=(1000, 20)),
        [[i, 50 + i] for i in range(20)],
        result.feature_names,
        unit="bits",
        index="SII",
        n_trees=9,
    )
    chances = rng.dirichlet(np.ones(10), 1000)
    page = write_page([result, pairs], prediction=chances, target=np.arange(1000) % 10)
    assert len(page.encode()) <= LIMIT


@pytest.mark.parametrize("text", ["<&>" * 50, "\U0001f389" * 150, "word " * 30])
def test_size_of_long_texts(write_page, text):
    data = np.array([[f"{i}-{j} {text}" for j in range(100)] for i in range(1000)], dtype=object)
    page = write_page(big_result(data), prediction=data[:, 0], target=data[:, 1])
    assert len(page.encode()) <= LIMIT
    assert "Long text is cut to 10 characters" in page
    assert "least important features are not shown" in page


def iris(model):
    X, y = load_iris(return_X_y=True)
    return model.fit(X, y), X, y


def test_additivity_of_a_forest_without_bootstrap(write_page):
    model, X, y = iris(ExtraTreesClassifier(20, criterion="entropy", random_state=0))
    result = lm.local_mdi(model, X)
    (adds_up, rows), (same, mean) = additivity(
        write_page(result, global_importance=lm.global_mdi(model), target=y)
    )
    assert adds_up
    assert same
    assert f"over 150 rows: {number_text(result.additivity_error(), 2)} bits" in rows
    assert "over 4 features" in mean


def test_additivity_of_bootstrap_samples(write_page):
    model, X, y = iris(RandomForestClassifier(20, random_state=0))
    overall = lm.global_mdi(model)
    (adds_up, _), (same, text) = additivity(
        write_page(lm.local_mdi(model, X), global_importance=overall)
    )
    assert adds_up
    assert not same
    assert "bootstrap" in text
    shares = lm.decompose_global(model, X, y)
    assert [holds for holds, _ in additivity(write_page(shares, global_importance=overall))] == [
        True,
        True,
    ]


def test_additivity_without_some_features(write_page):
    result = make_result()[:, ["feature 1", "feature 2"]]
    ((holds, text),) = additivity(write_page(result))
    assert not holds
    assert f"{result.additivity_error():.2g} bits" in text


def test_additivity_of_values_that_are_not_numbers(write_page):
    result = make_result()
    holed = np.where(np.arange(6) == 2, np.nan, result.values)
    ((holds, text),) = additivity(write_page(dataclasses.replace(result, values=holed)))
    assert not holds
    assert "cannot be checked" in text


def test_hostile_texts_are_escaped(write_page):
    n = len(HOSTILE)
    result = make_result(n, n, feature_names=HOSTILE, row_labels=np.array(HOSTILE, dtype=object))
    page = write_page(result, title=HOSTILE[0], notes=HOSTILE, prediction=HOSTILE, target=HOSTILE)
    outside = page.partition('<script type="application/json"')[0]
    assert "window.hacked" in outside
    assert not re.search(r"<script|<img|<!--|\x00|\{\{", outside.replace("{{ 7 * 7 }}", ""))
    assert page.count("</script") == 3
    assert "\u2028" not in page.partition('id="report-data">')[2].partition("</script>")[0]


def test_regression_speaks_of_variance(write_page):
    page = write_page(make_result(unit="variance"))
    assert "as variance: how widely the target is spread" in page
    assert "H(Y)" not in page
    assert "bits" not in page.partition('<script type="application/json"')[0]


def test_singular_where_it_is_one(write_page):
    result = make_result(
        1, 1, residual=np.array([1.0]), feature_names=("age",), n_trees=1, data=None
    )
    result = dataclasses.replace(result, values=np.array([[-1.0]]), baseline=0.0)
    text = write_page(result).partition('<script type="application/json"')[0]
    body = re.sub(r"<[^>]+>", " ", text.partition("<body>")[2])
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text)
    assert facts[:3] == [("row explained", "1"), ("feature", "1"), ("tree", "1")]
    assert facts[4] == ("left at the end, on average", "1 bit")
    assert "1 row has a negative value" in body
    assert "over 1 row: 0 bits" in body
    assert not re.findall(r"\b1\s+(?:rows|features|trees|bits)\b", body)


def test_the_infinite_forest_has_no_number_of_trees(write_page):
    assert "<dt>trees</dt><dd>∞</dd>" in write_page(make_result(n_trees=0))


def test_gini_is_named_and_has_no_symbol(write_page):
    page = write_page(make_result(unit="gini"))
    text, _, data = page.partition('<script type="application/json"')
    assert "Gini impurity at the start" in text
    assert "as Gini impurity: the chance that two rows drawn at random" in text
    assert "global importance (Gini impurity)" in data
    assert " gini" not in text


def test_errors_are_shown_where_there_are_some(write_page):
    result = make_result()
    assert "standard error" not in write_page(result)
    errors = np.array([0.01, np.nan, 0.03, 0.04, 0.05, 0.06])
    page = write_page(make_result(mean_standard_error=errors))
    assert page.count("two standard errors") == 1
    assert '<td class="number">0.03</td>' in page
