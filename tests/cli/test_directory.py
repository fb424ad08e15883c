"""A folder of Parquet files is one table."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import localmdi as lm

FRAME = pd.DataFrame(
    {
        "dose": np.arange(60) % 7 / 2,
        "sex": ["f", "m", "m"] * 20,
        "sick": (np.arange(60) % 7 > 3).astype(int),
    }
)


@pytest.fixture
def folder(tmp_path):
    """Thirty-one, no and twenty-nine rows, and the notes that Spark leaves beside them."""
    path = tmp_path / "people.parquet"
    path.mkdir()
    for name, rows in (("part-0", slice(31)), ("part-1", slice(0)), ("part-2", slice(31, None))):
        FRAME[rows].to_parquet(path / f"{name}.snappy.parquet", index=False)
    for name in ("_SUCCESS", ".part-0.snappy.parquet.crc", "_metadata.parquet"):
        (path / name).write_bytes(b"")
    return path


@pytest.fixture
def model(tmp_path):
    fitted = lm.RandomizedForestClassifier(5, random_state=0)
    fitted.fit(FRAME[["dose", "sex"]], FRAME["sick"]).forest_.save(tmp_path / "f.lmdi")
    return tmp_path / "f.lmdi"


@pytest.mark.parametrize("options", [[], ["--rows", "3,29:40"], ["--target", "sick"]])
def test_a_folder_gives_what_one_file_gives(run, folder, model, tmp_path, options):
    FRAME.to_parquet(tmp_path / "one.parquet", index=False)
    common = ["--exclude", "sick"] if "--target" not in options else []
    for data, out in ((folder, "a.csv"), (tmp_path / "one.parquet", "b.csv")):
        outcome = run("explain", data, "--model", model, *common, *options, "-o", out)
        assert outcome.code == 0, outcome.err
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    rows = pd.read_csv(tmp_path / "a.csv")["_row"].tolist()
    assert rows == ([3, *range(29, 40)] if "--rows" in options else list(range(60)))


def test_a_folder_can_be_learned(run, folder):
    outcome = run("explain", folder, "--target", "sick", "--trees", "10")
    assert outcome.code == 0, outcome.err
    assert "60 rows" in outcome.out


@pytest.mark.parametrize("spoil", ["names", "kinds", "damaged", "nested", "empty", "output"])
def test_what_is_no_table_is_refused(run, folder, model, spoil):
    out, message = "out.csv", ""
    if spoil == "names":
        FRAME.rename(columns={"sex": "gender"}).to_parquet(folder / "part-9.parquet")
        message = "'part-9.parquet' differs from 'part-0.snappy.parquet' in 'gender', 'sex'"
    elif spoil == "kinds":
        parquet.write_table(
            pa.table({"dose": ["a"], "sex": ["f"], "sick": [1]}), folder / "part-9.parquet"
        )
        message = "in 'dose'"
    elif spoil == "damaged":
        (folder / "part-9.parquet").write_bytes(b"PAR1....")
        message = "'part-9.parquet' is not a readable Parquet file"
    elif spoil == "nested":
        (folder / "sex=f").mkdir()
        message = "no folders; it has 'sex=f'"
    elif spoil == "empty":
        for path in folder.glob("*.parquet"):
            path.unlink()
        message = "must hold Parquet files"
    else:
        out, message = folder / "out.csv", "lies in a folder that is read"
    outcome = run("explain", folder, "--model", model, "-o", out)
    assert outcome.code != 0
    assert message in outcome.err
