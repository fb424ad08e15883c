"""Files are written wholly or not at all."""

import numpy as np
import pandas as pd
import pytest
from pyarrow import csv, parquet

FAST = ("--target", "sick", "--trees", "5")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "no/such/out.csv"], "-o: the folder 'no/such' does not exist"),
        (["--report", "no/r.html"], "--report: the folder 'no' does not exist"),
        (["-o", "out.xlsx"], "ends in .parquet, .csv"),
        (["-o", "people.csv"], "'people.csv' is already an input or another output"),
        (["-o", "a.csv", "--report", "a.csv"], "'a.csv' is already an input or another output"),
        (["-o", "."], "is a directory"),
    ],
)
def test_outputs_are_looked_at_first(run, people, arguments, said):
    before = people.read_bytes()
    outcome = run("explain", people, *FAST, *arguments)
    assert outcome.code == 2
    assert said in outcome.complaint
    assert people.read_bytes() == before
    assert names_in(people.parent) == ["people.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("old", [None, b"the old file"])
def test_a_full_disk_changes_nothing(run, people, monkeypatch, name, old):
    kind = csv.CSVWriter if name.endswith("csv") else parquet.ParquetWriter

    class Full(kind):
        def write_table(self, *arguments, **options):
            super().write_table(*arguments, **options)
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv if name.endswith("csv") else parquet, kind.__name__, Full)
    if old is not None:
        people.with_name(name).write_bytes(old)
    outcome = run("explain", people, *FAST, "-o", name)
    assert outcome.code == 1
    assert outcome.complaint == "No space left on device."
    assert names_in(people.parent) == sorted(["people.csv"] + [name] * (old is not None))
    if old is not None:
        assert people.with_name(name).read_bytes() == old


def test_an_old_file_is_replaced(run, people):
    out = people.with_name("out.csv")
    out.write_text("old")
    assert run("explain", people, *FAST, "-o", out).code == 0
    assert out.read_text().startswith('"_row"')
    assert names_in(people.parent) == ["out.csv", "people.csv"]


def test_a_late_error_leaves_the_old_file(run, people, write):
    run("explain", people, *FAST, "--save-model", "f.lmdi")
    lines = [*["f,31,Bern"] * 70_000, "f,old,Bern"]
    path = write("late.csv", "\n".join(["sex,age,city", *lines]))
    people.with_name("out.csv").write_text("old")
    outcome = run("explain", path, "--model", "f.lmdi", "-o", "out.csv")
    assert "column 'age' must hold numbers; got 'old'" in outcome.complaint
    assert people.with_name("out.csv").read_text() == "old"
    assert names_in(people.parent) == ["f.lmdi", "late.csv", "out.csv", "people.csv"]


def test_an_interrupt_in_the_process(run, people, monkeypatch):
    from localmdi.cli.commands import explain

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "UnseenCategories", interrupt)
    outcome = run("explain", people, *FAST, "--plain", "-o", "out.csv")
    assert outcome.code == 130
    assert outcome.err.count("\n") == 1
    assert outcome.complaint.startswith("interrupted")


def test_batches_change_nothing(run, people, monkeypatch):
    from localmdi.cli.commands import explain

    assert run("explain", people, *FAST, "-o", "one.parquet").code == 0
    monkeypatch.setattr(explain, "_BATCH_VALUES", 1)
    monkeypatch.setattr(explain, "_FEWEST_ROWS", 3)
    assert run("explain", people, *FAST, "-o", "two.parquet").code == 0
    one, two = parquet.ParquetFile("one.parquet"), parquet.ParquetFile("two.parquet")
    assert (one.num_row_groups, two.num_row_groups) == (1, 3)
    assert one.read().equals(two.read())


def test_report(run, people, pages):
    outcome = run("explain", people, *FAST, "--report", "r.html")
    assert outcome.code == 0
    assert "report: r.html" in outcome.out
    (page,) = pages
    assert page["title"] == "sick in people.csv"
    assert page["notes"][0].startswith("8 rows of people.csv explained with a forest fitted to it")
    assert page["prediction"] == page["target"] == pd.read_csv(people)["sick"].tolist()
    result = page["result"]
    assert result.data["city"].to_pylist()[:4] == ["Bern", "Wien", "Rom", None]
    # Without bootstrap the mean over the training rows is the global importance.
    np.testing.assert_allclose(result.values.mean(axis=0), page["global_importance"].values)


def test_the_report_of_many_rows_is_a_sample(run, write, pages, monkeypatch):
    from localmdi.cli.commands import explain

    monkeypatch.setattr(explain, "_BATCH_VALUES", 100 * 32)
    lines = [f"{i},{i % 7},{'ab'[i % 2]}" for i in range(3000)]
    path = write("a.csv", "\n".join(["x,z,y", *lines]))
    arguments = ("--target", "y", "--keep", "x", "--trees", "3", "--report", "r.html")
    outcome = run("explain", path, *arguments)
    assert outcome.code == 0, outcome.err
    assert "the report shows 1,000 rows drawn at random from 3,000" in outcome.err
    (page,) = pages
    assert any("1,000 rows drawn at random from 3,000" in note for note in page["notes"])
    result = page["result"]
    assert len(result) == len(page["target"]) == len(page["prediction"]) == 1000
    rows = np.array(result.data["x"].to_pylist(), dtype=int)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert page["target"] == ["ab"[row % 2] for row in rows]
    assert 1300 < rows.mean() < 1700
    assert result.additivity_error() < 1e-9
