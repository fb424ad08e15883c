"""``localmdi explain --engine spark`` on a folder of Parquet files."""

import json

import numpy as np
import pytest

from localmdi import as_forest, local_mdi
from localmdi.cli import main

pytestmark = pytest.mark.xdist_group("spark")


def test_a_folder_becomes_a_folder(spark, table, features, model, tmp_path, capsys):
    import pyarrow.parquet as pq

    for part in range(3):
        rows = table.iloc[part * 100 : part * 100 + 100]
        (tmp_path / "rows").mkdir(exist_ok=True)
        rows.to_parquet(tmp_path / "rows" / f"part-{part}.parquet", index=False)
    as_forest(model).save(tmp_path / "model.lmdi")
    out = tmp_path / "importances"
    command = ["explain", str(tmp_path / "rows"), "--engine", "spark", "--exclude", "city"]
    command += ["--model", str(tmp_path / "model.lmdi"), "-o", str(out), "--json"]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == 300
    found = pq.read_table(out).to_pandas().sort_values("key")
    assert list(found.columns) == ["key", "ill", *features]
    expected = local_mdi(model, table[features])
    np.testing.assert_array_equal(found[features].to_numpy(), expected.values)
    mean = [document["mean"][name] for name in features]
    np.testing.assert_allclose(mean, expected.values.mean(axis=0), rtol=1e-12)
    assert (out / "_SUCCESS").exists()
    # A folder is not written over.
    assert main([argument for argument in command if argument != "--json"]) == 1
    assert "already exists" in capsys.readouterr().err
