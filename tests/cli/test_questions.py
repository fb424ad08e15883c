"""Which features matter for which class, which way they pushed, and how sure a prediction is."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import localmdi as lm

QUICK = ("--trees", "20", "--jobs", "1")
FEATURES = ["age", "dose"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 90
    frame = pd.DataFrame({"age": rng.integers(20, 80, n), "dose": rng.normal(size=n).round(2)})
    frame["sick"] = np.where(frame.age + rng.normal(0, 10, n) > 50, "yes", "no")
    frame["cost"] = frame.age + 10 * frame.dose
    return frame


@pytest.fixture
def table(tmp_path, frame):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_means_by_class(run, table, frame, pages):
    options = ("--target", "sick", "--exclude", "cost", *QUICK)
    told = run("explain", table, *options, "--by-class", "-o", "v.csv", "--report", "a.html")
    assert told.code == 0, told.err
    values = pd.read_csv("v.csv")[FEATURES].groupby(frame.sick).mean()
    for label in ("yes", "no"):
        (line,) = [line for line in told.out.splitlines() if line.startswith(f"  {label} (")]
        assert f"({(frame.sick == label).sum()} rows)" in line
        for name in FEATURES:
            text = f"{values.loc[label, name]:.4f}".replace("-", "\N{MINUS SIGN}")
            assert f"{name} {text}" in line
        n, mean = pages[0]["whole"].by_class[label]
        assert n == (frame.sick == label).sum()
        np.testing.assert_allclose(mean, values.loc[label, FEATURES])
    assert "rows of each class" not in run("explain", table, *options).out
    document = json.loads(run("explain", table, *options, "--json").out)
    assert document["by_class"]["yes"]["mean"]["age"] == pytest.approx(values.loc["yes", "age"])


@pytest.mark.parametrize("options", [("--target", "cost"), ("--model", "m.skops")])
def test_no_classes_to_compare(run, table, frame, tmp_path, options):
    model = RandomForestRegressor(3, random_state=0).fit(frame[FEATURES], frame.cost)
    skops.io.dump(model, tmp_path / "m.skops")
    told = run("explain", table, "--exclude", "sick", *options, "--by-class", *QUICK[2:])
    assert told.code == 0
    assert "--by-class: there are no 2 to 20 classes" in told.err


@pytest.mark.parametrize("target", ["sick", "cost"])
def test_direction_of_a_model(run, table, frame, tmp_path, pages, target):
    make = RandomForestClassifier if target == "sick" else RandomForestRegressor
    model = make(20, random_state=0).fit(frame[FEATURES], frame[target])
    skops.io.dump(model, tmp_path / "m.skops")
    told = run("explain", table, "--model", "m.skops", "--show-rows", "90", "--report", "a.html")
    result = lm.local_mdi(model, frame[FEATURES], direction=True)
    found = pages[0]["result"]
    np.testing.assert_allclose(found.direction, result.direction[found.row_labels], atol=1e-12)
    words = "towards the predicted class" if target == "sick" else "raised the prediction"
    assert told.out.count(f"↑ {words}") == 90
    ages = [line for line in told.out.splitlines() if " age = " in line]
    assert ["↑" in line for line in ages] == (result.direction[:, 0] > 0).tolist()


def test_direction_of_unseen_rows(run, table, frame, pages):
    options = ("--target", "cost", "--exclude", "sick", *QUICK, "--json", "--report", "a.html")
    document = json.loads(run("explain", table, *options).out)
    found = pages[0]["result"]
    # What moved the prediction from the mean of the other half of the rows adds up to it.
    start = np.asarray(found.prediction) - found.direction.sum(axis=1)
    assert len(np.unique(start.round(6))) == 2
    assert start.mean() == pytest.approx(frame.cost.mean(), rel=0.01)
    first = document["first_rows"][0]["direction"]
    np.testing.assert_allclose(list(first.values()), found.direction[found.row_labels == 0][0])


def test_direction_out_of_bag_is_towards_what_is_shown(run, table, frame, tmp_path, pages):
    model = RandomForestClassifier(60, random_state=0).fit(frame[FEATURES], frame.sick)
    skops.io.dump(model, tmp_path / "m.skops")
    told = run(
        "explain",
        table,
        "--model",
        "m.skops",
        "--target",
        "sick",
        "--report",
        "a.html",
        "--show-rows",
        "1",
    )
    assert told.code == 0, told.err
    page = pages[0]
    codes = model.classes_.searchsorted(page["prediction"])
    every = lm.saabas(model, frame[FEATURES])[page["result"].row_labels]
    expected = np.take_along_axis(every, codes[:, None, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(page["result"].direction, expected, atol=1e-12)
    assert np.all((page["sure"] >= 0.5) & (page["sure"] <= 1))
    assert f"({page['sure'][page['result'].row_labels == 0][0]:.0%} sure)" in told.out
    assert page["quality"].unseen
    assert len(page["quality"].bins) >= 2


def arrowed_models():
    scaled = make_pipeline(StandardScaler(), RandomForestRegressor(5, bootstrap=False))
    yield "cost", GradientBoostingRegressor(n_estimators=5)
    yield "cost", scaled
    yield "sick", GradientBoostingClassifier(n_estimators=5)
    yield "sick", make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5))
    yield "city", GradientBoostingClassifier(n_estimators=5)


@pytest.mark.parametrize(("target", "model"), list(arrowed_models()))
def test_arrows_of_boosted_trees_and_pipelines(run, table, frame, tmp_path, pages, target, model):
    """Arrows are those of Python, also where the values come from the table."""
    frame = frame.assign(city=np.resize(["Bern", "Oslo", "Rom"], len(frame)))
    model.fit(frame[FEATURES], frame[target])
    skops.io.dump(model, tmp_path / "m.skops")
    frame.to_csv(table, index=False)
    options = ("--model", "m.skops", "--target", target, "--report", "a.html", "--show-rows", "90")
    told = run("explain", table, *options)
    assert told.code == 0, told.err
    page = pages[0]
    result = lm.local_mdi(model, frame[FEATURES], direction=True)
    assert (np.asarray(page["prediction"]) == model.predict(frame[FEATURES])).all()
    order = page["result"].row_labels
    np.testing.assert_allclose(page["result"].direction, result.direction[order], atol=1e-9)
    words = "raised the prediction" if target == "cost" else "towards the predicted class"
    assert told.out.count(f"↑ {words}") == 90
    if target != "cost":
        share = model.predict_proba(frame[FEATURES]).max(axis=1)
        np.testing.assert_allclose(page["sure"], share[order])
        assert page["quality"].figures["brier"] > 0
    assert len(page["quality"].bins) >= 2


@pytest.mark.parametrize(
    ("model", "n_targets", "reason"),
    [
        (AdaBoostClassifier(n_estimators=3, random_state=0), 1, "trees vote"),
        (RandomForestClassifier(3, random_state=0), 2, "several targets"),
        (RandomForestRegressor(3, random_state=0), 2, "several numbers"),
    ],
    ids=["votes", "classes", "numbers"],
)
def test_models_without_arrows_say_why(run, table, frame, tmp_path, model, n_targets, reason):
    target = frame.sick if n_targets == 1 else np.stack([frame.age > 50, frame.dose > 0], axis=1)
    skops.io.dump(model.fit(frame[FEATURES], target), tmp_path / "m.skops")
    told = run("explain", table, "--model", "m.skops")
    assert told.code == 0, told.err
    assert "↑" not in told.out
    assert "note: no arrows: " in told.err
    assert reason in told.err


def test_columns_of_a_pipeline_are_summed(run, table, frame, tmp_path, pages):
    frame = frame.assign(city=np.resize(["Bern", "Oslo", "Rom"], len(frame)))
    frame.to_csv(table, index=False)
    steps = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), FEATURES))
    model = make_pipeline(steps, RandomForestClassifier(10, random_state=0))
    model.fit(frame[["city", *FEATURES]], frame.sick)
    skops.io.dump(model, tmp_path / "m.skops")
    told = run("explain", table, "--model", "m.skops", "--report", "a.html").out
    sums = lm.local_mdi(model, frame).group("auto").mean()
    _, heading, after = told.partition("By column of the table")
    assert heading
    for name, value in zip(sums.feature_names, sums.values, strict=True):
        assert re.search(rf"^  {name} +{value:.4f}", after, re.MULTILINE)
    # The rows are described by the columns of the table.
    assert set(pages[0]["result"].data.column_names) == {"city", *FEATURES}


def test_the_report_knows_its_command(run, table, pages):
    arguments = [
        "explain",
        table,
        "--target",
        "sick",
        "--seed",
        "7",
        "--report",
        "a b.html",
        *QUICK,
    ]
    assert run(*arguments).code == 0
    origin = pages[0]["origin"]
    assert shlex.split(origin["command"]) == ["localmdi", *map(str, arguments)]
    assert origin["seed"] == "7"


def test_the_documented_table_gives_the_documented_lines(run):
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    code, told = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    command, _, expected = told.partition("\n")
    found = run(*shlex.split(command.removeprefix("$ localmdi")), "--jobs", "1")
    assert found.out == expected
