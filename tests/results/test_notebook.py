"""In a notebook: rows by label, a table with bars, pictures at hand, frames of one's own type."""

import dataclasses
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm
from localmdi.results import GlobalImportance, InteractionImportance


class Cells(HTMLParser):
    """Collects the text of the cells, and checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.styles = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)
        self.styles.append(dict(attrs).get("style", ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())


def parse(result):
    cells = Cells()
    cells.feed(result._repr_html_())
    assert not cells.open
    return cells


@pytest.mark.parametrize(
    "labels",
    [np.array(["a", "b", "c"]), pd.Index(["a", "b", "c"]), np.array(["a", "b", "c"], dtype=object)],
    ids=["array", "pandas", "objects"],
)
def test_rows_by_label(make_local, labels):
    result = make_local(row_labels=labels)
    assert result.loc["b"].shape == (1, 4)
    np.testing.assert_array_equal(result.loc["b"].values, result[1].values)
    np.testing.assert_array_equal(result.loc[["c", "a"]].values, result[[2, 0]].values)
    np.testing.assert_array_equal(result.loc["b":"c"].values, result[1:].values)
    np.testing.assert_array_equal(result.loc[:"b"].values, result[:2].values)
    np.testing.assert_array_equal(result.loc[:].values, result.values)
    mask = np.array([True, False, True])
    np.testing.assert_array_equal(result.loc[mask].values, result[mask].values)
    chosen = result.loc[["b"], ["dose", "age"]]
    assert chosen.feature_names == ("dose", "age")
    assert chosen.residual.tolist() == [0.625]
    assert result.loc["a":"b", "age"].shape == (2, 1)
    assert result.loc[[]].shape == (0, 4)
    with pytest.raises(KeyError, match="z"):
        result.loc["z"]


def test_labels_that_repeat_and_labels_that_are_positions(make_local):
    result = make_local(row_labels=np.array([7, 7, 3]))
    assert result.loc[7].shape == (2, 4)
    assert result.loc[[3, 7]].row_labels.tolist() == [3, 7, 7]
    np.testing.assert_array_equal(make_local().loc[2].values, make_local()[2].values)
    with pytest.raises(KeyError, match="no row is labelled 9"):
        make_local().loc[9]
    with pytest.raises(IndexError, match="length 3"):
        make_local().loc[np.array([True])]
    with pytest.raises(ValueError, match="no step"):
        make_local().loc[::2]


def test_labels_of_several_levels(make_local):
    index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)])
    result = make_local(row_labels=index)
    assert result.loc["x", 2].shape == (1, 4)
    assert result.loc["x"].shape == (2, 4)


def test_html_of_results(make_local):
    cells = parse(make_local())
    assert cells.text[0] == "LocalImportance: 3 rows, 4 features, 10 trees, in bits"
    assert cells.text[1:3] == ["feature", "mean over rows"]
    assert cells.text[3:5] == ["age", "0.5 bits"]
    assert "width:120px" in "".join(cells.styles)
    cells = parse(make_local().mean())
    assert cells.text[1:3] == ["feature", "importance"]


def test_html_escapes_and_cuts():
    names = ("<script>alert(1)</script>", 'a "name" & more', "x" * 100, "\x1b[2J\u202e")
    result = GlobalImportance(
        np.array([0.5, -0.5, 0.25, 0.0]), unit="gini", feature_names=names, n_trees=1, caveat="<b>"
    )
    html = result._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "\x1b" not in html
    cells = parse(result)
    assert names[0] in cells.text
    assert any(text.endswith("…") for text in cells.text)
    assert any("#e08214" in style for style in cells.styles)
    # Text has the page's own colour, so that it is read on a dark page too.
    colours = [style.partition(";color:")[2] for style in cells.styles if ";color:" in style]
    assert all(colour.startswith("inherit") for colour in colours)
    assert not any(style.startswith("color") for style in cells.styles)


def test_html_of_many_features_none_and_no_rows():
    many = GlobalImportance(
        np.arange(13.0), unit="bits", feature_names=tuple("abcdefghijklm"), n_trees=1
    )
    assert parse(many).text[-1] == "and 3 more features"
    # The least value has a bar that can be seen, and 0 has none.
    small = GlobalImportance(
        np.array([1.0, 1e-9]), unit="bits", feature_names=("a", "b"), n_trees=1
    )
    assert "width:1px" in small._repr_html_()
    zero = GlobalImportance(np.zeros(1), unit="bits", feature_names=("a",), n_trees=1)
    assert "width:0px" in zero._repr_html_()
    none = GlobalImportance(np.zeros(0), unit="bits", feature_names=(), n_trees=1)
    assert "<table" not in none._repr_html_()
    empty = lm.LocalImportance(np.zeros((0, 1)), unit="bits", feature_names=("a",), n_trees=1)
    assert "<table" not in empty._repr_html_()
    unknown = lm.LocalImportance(
        np.full((1, 1), np.nan), unit="bits", feature_names=("a",), n_trees=1
    )
    assert parse(unknown).text[-1] == "0 bits"


def small_forest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"<age>": rng.normal(size=60), "dose": rng.normal(size=60)})
    y = np.where(X["<age>"] > 0, "ill", "<b>well")
    return RandomForestClassifier(5, random_state=0).fit(X, y), X


def test_html_by_class():
    model, X = small_forest()
    result = lm.local_mdi_by_class(model, X)
    cells = parse(result)
    assert cells.text[0] == repr(result).split("\n")[0]
    assert cells.text[1:4] == ["feature", *model.classes_]
    name, value = result["ill"].mean().top(1)[0]
    assert cells.text[4] == name == "<age>"
    assert float(cells.text[6]) == pytest.approx(value, abs=1e-3)
    assert "<b>" not in result._repr_html_()
    none = lm.local_mdi_by_class(model, X[:0])
    assert "<table" not in none._repr_html_()


def test_html_of_pairs():
    model, X = small_forest()
    pairs = lm.local_interactions(model, X)
    cells = parse(pairs)
    assert cells.text[1:3] == ["pair", "mean over rows"]
    strongest = pairs.to_frame().iloc[0]
    assert cells.text[3] == f"{strongest['first']} and {strongest['second']}"
    assert float(cells.text[4]) == pytest.approx(strongest["value"], abs=1e-3)
    values = np.full((1, 5, 5), 0.5)
    names = tuple("abcde")
    for p in range(5):
        values[:, p, p] = np.nan
    values[:, 0, 1] = values[:, 1, 0] = -1.0
    result = InteractionImportance(values, names, unit="bits", index="SII", frame_type="polars")
    assert parse(result).text[1:5] == ["pair", "mean over rows", "a and b", "\N{MINUS SIGN}1 bit"]
    assert any("#e08214" in style for style in parse(result).styles)
    many = InteractionImportance(
        np.pad(values, ((0, 0), (0, 1), (0, 1)), constant_values=0.25),
        (*names, "f"),
        unit="bits",
        index="SII",
    )
    assert parse(many).text[-1] == "and 5 more pairs"
    alone = InteractionImportance(np.full((1, 1, 1), np.nan), ("a",), unit="bits", index="SII")
    assert "<table" not in alone._repr_html_()


def test_estimators_have_scikit_learns_html():
    html = lm.RandomizedForestClassifier(7)._repr_html_()
    assert "RandomizedForestClassifier" in html
    assert "7" in html
    assert "mean over rows" not in html


@pytest.mark.parametrize(
    "kind",
    [lm.RandomizedForestClassifier, lm.RandomizedForestRegressor],
    ids=["classes", "numbers"],
)
def test_fitted_estimators_show_bars_below_the_diagram(kind):
    X = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0], "<dose>": [1.0, 2.0, 1.0, 2.0]})
    estimator = kind(5, random_state=0).fit(X, [0, 0, 1, 1])
    bars = estimator.local_importances_._repr_html_()
    assert "&lt;dose&gt;" in bars
    assert estimator._repr_html_().endswith(bars)
    # What Jupyter asks for first.
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/html"].endswith(bars)
    assert "sk-container" in bundle["text/html"]
    assert bundle["text/plain"] == repr(estimator)
    with sklearn.config_context(display="text"):
        assert "text/html" not in estimator._repr_mimebundle_()
        assert not hasattr(estimator, "_repr_html_")


def test_pictures(make_local):
    result = make_local(data=np.ones((3, 4)))
    drawn = {
        "BarDisplay": result.plot.bar(max_features=2),
        "BeeswarmDisplay": result.plot.beeswarm(),
        "DependenceDisplay": result.plot.dependence("age"),
        "HeatmapDisplay": result.plot.heatmap(),
        "ImageDisplay": result.plot.image(row=1, shape=(2, 2)),
        "WaterfallDisplay": result.plot.waterfall(2),
    }
    for name, display in drawn.items():
        assert type(display) is getattr(lm.plots, name)
    assert len(result.plot.bar(by=["ill", "ill", "well"]).labels) == 2
    assert type(result.mean().plot.bar()) is lm.plots.BarDisplay
    with pytest.raises(TypeError, match="shows a LocalImportance"):
        result.mean().plot.beeswarm()
    plt.close("all")


@pytest.mark.parametrize(
    ("kind", "make"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.Table, pa.table)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_every_table_has_the_type_of_the_rows(kind, make):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=80) for name in "abc"}
    X = make(columns)
    y = (columns["a"] > 0).astype(int)
    model = RandomForestClassifier(10, max_depth=3, random_state=0)
    model.fit(np.column_stack(list(columns.values())), y)
    forest = dataclasses.replace(lm.as_forest(model), feature_names=tuple("abc"))
    result = lm.local_mdi(forest, X)
    classes = np.column_stack([columns["a"] > 0, columns["b"] > 0])
    tables = [
        result.to_frame(extra=True),
        result.top(2).to_frame(),
        result.mean().to_frame(),
        result.mean(by=y)[0].to_frame(),
        result.group({"ab": ["a", "b"]}).to_frame(),
        result.subgroups().to_frame(),
        result.most_uncertain().to_frame(),
        result.explain_uncertainty(0).to_frame(),
        result.explain_uncertainty(0).neighbours_to_frame(),
        lm.compare(result, result).to_frame(),
        lm.compare(result, result).rows(3),
        lm.local_mdi_by_class(forest, X).to_frame(),
        lm.local_interactions(forest, X).to_frame(),
        lm.infinite_mdi(make({"a": classes[:, 0], "b": classes[:, 1]}), y).to_frame(),
        lm.infinite_interactions(make({"a": classes[:, 0], "b": classes[:, 1]}), y).to_frame(),
        lm.honest_global_mdi(forest, X, y, held_out=True).to_frame(),
        lm.honest_mdi(forest, X, y, held_out=True).to_frame(),
        lm.Explainer(forest).top(X, 2).to_frame(),
        next(lm.Explainer(forest).iter_batches(X, batch_rows=7)).to_frame(),
        lm.local_mdi(forest, X, direction=True).to_frame(direction=True, extra=True),
        lm.RandomizedForestClassifier(3, random_state=0).fit(X, y).local_importances_.to_frame(),
        lm.RandomizedForestRegressor(3, random_state=0).fit(X, y).local_importances_.to_frame(),
    ]
    if kind is not pa.Table:  # scikit-learn's own forests take no pyarrow
        fitted = RandomForestClassifier(3, random_state=0).fit(X, y)
        tables += [lm.decompose_global(fitted, X, y).to_frame(), lm.local_mdi(fitted, X).to_frame()]
    assert {type(table) for table in tables} == {kind}


def test_a_wrong_type_of_frame():
    with pytest.raises(ValueError, match="frame_type must be one of"):
        GlobalImportance(
            np.ones(1), unit="bits", feature_names=("a",), n_trees=1, frame_type="excel"
        )
    values = np.full((1, 1, 1), np.nan)
    pair = InteractionImportance(values, ("a",), unit="bits", index="SII", frame_type="polars")
    assert isinstance(pair.to_frame(), pl.DataFrame)
