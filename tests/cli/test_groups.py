"""Rows that belong together, and rows in time, are held out together."""

import json

import numpy as np
import pandas as pd
import pytest

TREES = ("--trees", "100", "--json")


@pytest.fixture
def patients(tmp_path):
    """60 patients with 15 rows; what they answer belongs to the patient, not to the columns."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(60), 15))
    X = rng.normal(size=(60, 8))[patient] + 0.2 * rng.normal(size=(900, 8))
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    frame["patient"] = [f"P{number}" for number in patient]
    frame["sick"] = np.where(rng.integers(0, 2, 60)[patient], "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def walk(tmp_path):
    """Four random walks that know nothing of each other."""
    steps = np.random.default_rng(0).normal(size=(400, 4)).cumsum(axis=0)
    frame = pd.DataFrame(steps, columns=["a", "b", "c", "y"])
    frame["day"] = pd.date_range("2020-01-01", periods=400).strftime("%d.%m.%Y")
    path = tmp_path / "walk.csv"
    frame.to_csv(path, index=False)
    return path


def explained(run, *arguments):
    outcome = run("explain", *arguments, *TREES)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_whole_patients_are_held_out(run, patients):
    apart = explained(run, patients, "--target", "sick", "--exclude", "patient")
    assert apart["quality"]["accuracy"] > 0.95
    assert sum(one["significant"] for one in apart["features"]) >= 3
    together = explained(run, patients, "--target", "sick", "--groups", "patient")
    assert together["held_out"] == "groups"
    assert together["quality"]["accuracy"] < 0.6
    assert not any(one["significant"] for one in together["features"])
    assert "patient" not in together["columns"]
    assert together["mean_residual"] > together["baseline"]


def test_groups_of_numbers_are_labels(run, patients):
    frame = pd.read_csv(patients)
    frame["patient"] = frame["patient"].str[1:]
    frame.to_csv(patients, index=False)
    again = explained(run, patients, "--target", "sick", "--groups", "patient")
    assert again["quality"]["accuracy"] < 0.6


def test_blocks_of_time_are_held_out(run, walk):
    apart = explained(run, walk, "--target", "y")
    blocks = explained(run, walk, "--target", "y", "--time", "day")
    assert apart["quality"]["r2"] > 0.9
    assert blocks["quality"]["r2"] < 0.5
    assert blocks["held_out"] == "time"
    assert blocks["rows"] == 400


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--groups", "who"), "--groups: no column 'who'"),
        (("--time", "when"), "--time: no column 'when'"),
        (("--groups", "patient", "--plain"), "leave out --plain"),
        (("--groups", "patient", "--time", "x1"), "either --groups or --time"),
    ],
)
def test_wrong_use(run, patients, options, said):
    outcome = run("explain", patients, "--target", "sick", *options)
    assert outcome.code == 2
    assert said in outcome.complaint


def test_commands_that_hold_nothing_out(run, patients):
    outcome = run("infinite", patients, "--target", "sick", "--groups", "patient")
    assert outcome.code == 2
    assert "--groups" in outcome.complaint


def test_global_ranks_by_groups(run, patients):
    outcome = run("global", patients, "--target", "sick", "--groups", "patient", *TREES)
    assert not any(one["significant"] for one in json.loads(outcome.out)["features"])


def test_a_group_must_be_known(run, patients):
    frame = pd.read_csv(patients)
    frame.loc[3, "patient"] = None
    frame.to_csv(patients, index=False)
    outcome = run("explain", patients, "--target", "sick", "--groups", "patient")
    assert outcome.code == 1
    assert "groups must not contain missing" in outcome.complaint
