"""``localmdi explain --engine spark``: what is refused before Spark starts; the rest is in
``tests/distributed``, where Spark runs."""

import pytest


@pytest.fixture
def forest(tmp_path):
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    from localmdi import as_forest

    X, y = load_iris(return_X_y=True, as_frame=True)
    path = tmp_path / "model.lmdi"
    as_forest(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)).save(path)
    return path


def test_what_spark_needs(run, forest, tmp_path):
    arguments = ["explain", tmp_path, "--engine", "spark"]
    assert "--engine spark needs --model." in run(*arguments, "-o", "out").complaint
    assert "--engine spark needs -o." in run(*arguments, "--model", forest).complaint


def test_what_needs_one_machine(run, forest, tmp_path):
    outcome = run(
        *["explain", tmp_path, "--engine", "spark", "--model", forest, "-o", "out"],
        *["--target", "y", "--rows", "5"],
    )
    assert outcome.code == 2
    assert "cannot be used with '--target', '--rows': it explains all rows" in outcome.complaint


def test_addresses_need_spark(run, people):
    outcome = run("explain", "hdfs://warehouse/people", "--model", people)
    assert outcome.code == 2
    assert "Use --engine spark to let Spark read and write it" in outcome.complaint
