"""The readers under test: what a sound file is, how it is damaged, and what reading it means.

To add a reader, write a `Target` and list it in `targets`.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from fuzz.mutations import (
    damage_archive,
    damage_bytes,
    damage_container,
    damage_json_file,
    damage_text,
    damage_workbook,
)
from localmdi.exceptions import LocalMDIError

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = Path(__file__).with_name("seeds")
N_FEATURES = 3


@dataclass(frozen=True)
class Target:
    """A reader and the files it is given.

    Parameters
    ----------
    name : str
        What the table of results calls it.
    samples : callable
        Returns sound files: name → content.
    damage : callable or dict
        Damages a content; a dict has one way per ending.
    read : callable
        Reads a path and uses what it holds.
    refusals : tuple of types
        What reading may raise: these types themselves, and errors of ours.
    """

    name: str
    samples: Callable[[], dict[str, bytes]]
    damage: object
    read: Callable[[Path], object]
    refusals: tuple = (LocalMDIError,)
    ours: type = LocalMDIError

    def draw(self, random):
        """Return the name of a sound file, and its content damaged."""
        samples = self.samples()
        name = sorted(samples)[random.integers(len(samples))]
        return name, self.damaged(random, name, samples[name])

    def damaged(self, random, name, content):
        """Return a content damaged in the way of its ending."""
        damage = self.damage
        if isinstance(damage, dict):
            damage = damage[name.rpartition(".")[2]]
        return damage(random, content)


def rows():
    """Rows to explain, and classes and numbers to learn."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40, N_FEATURES))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "up", "down"), X[:, 0] - X[:, 2]


def saved(save):
    """Return the bytes that a function writes to a path."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        save(path)
        return path.read_bytes()


@cache
def forest_files():
    X, y, z = rows()
    cities = np.array(["Rom", "Bern", "Wien"])[(X[:, 2] > 0).astype(int) + (X[:, 1] > 0)]
    mixed = np.column_stack([X.astype(object), cities])
    forests = {
        "classes": lm.RandomizedForestClassifier(3, max_depth=4, random_state=0).fit(X, y),
        "numbers": lm.RandomizedForestRegressor(2, max_depth=3, random_state=0).fit(X, z),
        "categories": lm.RandomizedForestClassifier(
            2, max_depth=3, categorical_features=[3], random_state=0
        ).fit(mixed, y),
    }
    return {f"{name}.lmdi": saved(model.forest_.save) for name, model in forests.items()}


def use_forest(path):
    use(lm.load_forest(path))


def use(forest):
    """Do with a loaded forest what users do."""
    repr(forest)
    if forest.n_features > 100:
        return
    X = np.random.default_rng(1).normal(size=(5, forest.n_features))
    if forest.categories is not None and any(part is not None for part in forest.categories):
        labels = [None if part is None else part.tolist() for part in forest.categories]
        X = X.astype(object)
        for j, part in enumerate(labels):
            if part:
                X[:, j] = part[0]
    result = lm.local_mdi(forest, X)
    result.to_frame()
    if forest.weight is not None:
        lm.global_mdi(forest).to_frame()
    if forest.value is not None and not forest.boosted:
        lm.Explainer(forest).predict(X)


@cache
def result_files():
    X, y, _ = rows()
    model = lm.RandomizedForestClassifier(3, max_depth=4, random_state=0).fit(X, y)
    local = lm.local_mdi(model, X[:6])
    return {
        "local.lmdi": saved(local.save),
        "error.lmdi": saved(lm.local_mdi(model, X[:4], standard_error=True).save),
        "global.lmdi": saved(lm.global_mdi(model).save),
    }


def use_result(path):
    result = lm.load_importance(path)
    repr(result)
    result.to_frame()


@cache
def skops_files():
    import skops.io
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    X, y, z = rows()
    models = {
        "forest": RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, y),
        "boosted": GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X, z),
        "tree": make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)).fit(X, y),
        "ours": lm.RandomizedForestClassifier(2, max_depth=3, random_state=0).fit(X, y),
    }
    return {f"{name}.skops": skops.io.dumps(model) for name, model in models.items()}


def use_skops(path):
    from localmdi.cli.models import load_model

    model = load_model(path, allow_pickle=False)
    use(lm.as_forest(model))


@cache
def table_files():
    import gzip

    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    X, y, _ = rows()
    table = pa.table(
        {
            "a": X[:, 0],
            "b": pa.array(np.arange(40) % 7, pa.int32()),
            "c": pa.array(["Rom", "Bern", None, "Wien"] * 10),
            "d": pa.array(["x", "y"] * 20).dictionary_encode(),
            "y": y,
        }
    )
    text = saved(lambda path: csv.write_csv(table, path))
    return {
        "t.csv": text,
        "t.tsv": text.replace(b",", b"\t"),
        "t.csv.gz": gzip.compress(text),
        "t.parquet": saved(lambda path: parquet.write_table(table, path)),
        "plain.parquet": saved(
            lambda path: parquet.write_table(
                table, path, compression="none", use_dictionary=False, row_group_size=13
            )
        ),
        "t.xlsx": saved(lambda path: table.to_pandas().to_excel(path, index=False)),
        "t.jsonl": saved(
            lambda path: table.to_pandas().to_json(path, orient="records", lines=True)
        ),
        "t.feather": saved(lambda path: feather.write_feather(table, path)),
        "plain.arrow": saved(
            lambda path: feather.write_feather(table, path, compression="uncompressed")
        ),
    }


def use_table(path):
    from localmdi.tables.cells import Kind
    from localmdi.tables.columns import as_kind, has_missing, understand
    from localmdi.tables.open import columns_of, open_table

    table = understand(open_table(path))
    names, _ = columns_of(table)
    for batch in table.batches(names, 1 << 16):
        for name in names:
            has_missing(batch[name])
            if table.kinds[name] in (Kind.NUMBER, Kind.CATEGORY):
                as_kind(batch[name], table.kinds[name], name=name).to_pylist()


@cache
def model_files():
    return {path.name: path.read_bytes() for path in sorted(SEEDS.iterdir())}


def use_model_file(path):
    from localmdi.adapters import load_model_file

    forest = load_model_file(path)
    repr(forest)
    if forest.n_features <= 100 and forest.categories is None:
        lm.saabas(forest, np.random.default_rng(1).normal(size=(5, forest.n_features)))


@cache
def command_files():
    return table_files() | {
        name: content for name, content in skops_files().items() if name != "ours.skops"
    }


def run_command(path):
    """Run the command line on a damaged table, or on a sound table with a damaged model."""
    from localmdi.cli import main

    arguments = ["explain", str(path), "--target", "y", "--trees", "2", "--plain"]
    if path.suffix == ".skops":
        table = path.with_name("sound.csv")
        X, _, _ = rows()
        lines = [",".join(map(str, row)) for row in X[:5]]
        table.write_text("\n".join(["a,b,c", *lines]), encoding="utf-8")
        arguments = ["explain", str(table), "--model", str(path)]
    usual, sys.stderr = sys.stderr, io.StringIO()
    try:
        code = main(arguments)
        said = [line for line in sys.stderr.getvalue().splitlines() if "note: " not in line]
    finally:
        sys.stderr = usual
    # The program's own word for an error that it does not know; codecs use it too, further on.
    unknown = any(line.startswith("localmdi: unexpected ") for line in said)
    if code not in (0, 1, 2) or len(said) != bool(code) or unknown:
        raise AssertionError(f"exit code {code}: {said}")
    if code:
        raise LocalMDIError(said[0])


TABLES = dict.fromkeys(["csv", "tsv", "gz", "parquet", "feather", "arrow"], damage_bytes) | {
    "xlsx": damage_workbook,
    "jsonl": damage_text,
}


def targets():
    """Return all readers under test."""
    plain = (LocalMDIError, ValueError)
    return [
        Target("Forest files", forest_files, damage_container, use_forest),
        Target("result files", result_files, damage_container, use_result),
        Target("skops files", skops_files, damage_archive, use_skops, plain),
        Target("tables", table_files, TABLES, use_table, plain),
        Target(
            "model files of other libraries",
            model_files,
            {"txt": damage_text, "json": damage_json_file, "ubj": damage_bytes},
            use_model_file,
        ),
        Target(
            "commands",
            command_files,
            TABLES | {"skops": damage_archive},
            run_command,
        ),
    ]
