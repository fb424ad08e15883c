"""Spark ML: trees, random forests and gradient boosted trees, from the directories they save.

Spark stores the impurity and the label statistics of every node. The directories hold JSON and
Parquet, which pyarrow reads without Java; a live model is saved to a temporary directory first.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import find_criterion
from localmdi.adapters.fields import Fields, feature_count, read_file, read_json
from localmdi.exceptions import FileFormatError, UnsupportedModelError
from localmdi.forest import Forest, ForestBuilder

if TYPE_CHECKING:
    import os

    from localmdi.typing import FloatArray, IntArray

_LIBRARY = "Spark ML"
_TREES = (
    "DecisionTreeClassificationModel",
    "DecisionTreeRegressionModel",
    "GBTClassificationModel",
    "GBTRegressionModel",
    "RandomForestClassificationModel",
    "RandomForestRegressionModel",
)
_CRITERIA = {"gini": "gini", "entropy": "entropy", "variance": "squared_error"}


def adapt_spark(model: Any) -> Forest:
    """Return a fitted tree, random forest or boosted trees of pyspark.ml as a forest."""
    with tempfile.TemporaryDirectory(prefix="localmdi-") as folder:
        place = Path(folder) / "model"
        try:
            model.write().overwrite().save(place.as_uri())
        except Exception as error:
            # Whatever Java reports comes as a class of py4j or of Spark Connect.
            raise UnsupportedModelError(
                f"Spark could not save the {type(model).__name__} to read its trees: {error} "
                "Save it with model.save(path), and read the directory with "
                "localmdi.adapters.load_model_file(path)."
            ) from error
        if not _part_files(place / "data", ".parquet"):
            raise UnsupportedModelError(
                "the trees of a live model are read from a temporary directory, but this cluster "
                "does not write to the disk of the driver. Save the model with model.save(path), "
                "copy the directory here, and use localmdi.adapters.load_model_file(path)."
            )
        return read_spark_directory(place)


def adapt_spark_best(model: Any) -> Forest:
    """Return the best model of a search."""
    best = model.bestModel
    return adapt_spark_pipeline(best) if hasattr(best, "stages") else adapt_spark(best)


def adapt_spark_pipeline(model: Any) -> Forest:
    """Return the trees at the end of a PipelineModel, with the names that its assembler gives."""
    if not model.stages or type(model.stages[-1]).__name__ not in _TREES:
        last = type(model.stages[-1]).__name__ if model.stages else "nothing"
        raise UnsupportedModelError(_no_trees(f"a PipelineModel that ends in {last}"))
    trees = model.stages[-1]
    assembled = {
        stage.getOutputCol(): stage.getInputCols()
        for stage in model.stages[:-1]
        if type(stage).__name__ == "VectorAssembler"
    }
    return _named(adapt_spark(trees), assembled.get(trees.getFeaturesCol()))


def read_spark_directory(path: str | os.PathLike[str]) -> Forest:
    """Read a directory of ``model.save``: a model of trees, or a pipeline that ends in one."""
    place = Path(path)
    if (place / "bestModel").is_dir():
        return read_spark_directory(place / "bestModel")
    metadata = _read_metadata(place)
    name = metadata.text("class").rpartition(".")[2]
    if name == "PipelineModel":
        return _read_pipeline(place, metadata)
    if name not in _TREES:
        raise UnsupportedModelError(_no_trees(f"a {name}"))
    boosted = name.startswith("GBT")
    header = _Header(metadata, classes=name.endswith("ClassificationModel") and not boosted)
    if name.startswith("DecisionTree"):
        tree_weight = np.ones(1)
    else:
        tree_weight = _read_tree_weight(place, metadata.integer("numTrees", least=1))
    # What overflows in a damaged file is refused as a statistic that is not finite.
    with np.errstate(all="ignore"):
        return _build(_Nodes(place, header), header, tree_weight=tree_weight, boosted=boosted)


class _Header:
    """What the metadata of a model say about its nodes."""

    def __init__(self, metadata: Fields, *, classes: bool) -> None:
        self.n_features = feature_count(metadata.integer("numFeatures"), library=_LIBRARY)
        self.n_classes = metadata.integer("numClasses", least=1) if classes else None
        # Of a number: how many, their sum, and that of the squares.
        self.n_statistics = self.n_classes or 3
        name = str(_parameter(metadata, "impurity"))
        if name not in _CRITERIA or (name == "variance") == classes:
            metadata.fail("impurity", f"must be a criterion of the model; got {name!r:.40}")
        self.criterion = _CRITERIA[name]


class _Nodes:
    """The nodes of all trees, by tree and then by number."""

    def __init__(self, place: Path, header: _Header) -> None:
        table = _read_table(place / "data")
        single = "nodeData" not in table.column_names
        if not single:
            struct = _column(table, "nodeData")
            tree = _numbers(table, "treeID", dtype=np.int64)
            table = _fields_of(struct, "nodeData")
        split = _fields_of(_column(table, "split"), "split")
        number = _numbers(table, "id", dtype=np.int64)
        if len(number) == 0:
            raise _damaged("there must be nodes; there are none")
        self.tree = np.zeros(len(number), dtype=np.int64) if single else tree
        order = np.lexsort([number, self.tree])
        self.tree = self.tree[order]
        first = np.searchsorted(self.tree, self.tree)
        if not np.array_equal(number[order], np.arange(len(order)) - first):
            raise _damaged("the nodes of a tree must be numbered from 0 without gaps")
        self.left = _numbers(table, "leftChild", dtype=np.int64)[order]
        self.right = _numbers(table, "rightChild", dtype=np.int64)[order]
        self.prediction = _numbers(table, "prediction", dtype=np.float64)[order]
        self.feature = _numbers(split, "featureIndex", dtype=np.int64)[order]
        self.n_categories = _numbers(split, "numCategories", dtype=np.int64)[order]
        lists = _lists(table, "impurityStats")
        if any(len(item) != header.n_statistics for item in lists):
            raise _damaged(f"impurityStats must have {header.n_statistics} entries at every node")
        self.statistics = np.array(lists, dtype=np.float64)[order]
        stored = _numbers(table, "impurity", dtype=np.float64)[order]
        # Where Spark looked for a split and found none, it forgets the impurity and writes -1.
        computed = find_criterion(header.criterion).impurity(self.statistics)
        self.impurity = np.where(stored < 0, computed, stored)
        cuts = _lists(split, "leftCategoriesOrThreshold")
        self.cuts = [cuts[i] for i in order]

    def tree_nodes(self, n_trees: int) -> list[slice]:
        """Return where the nodes of each tree are."""
        if self.tree[0] < 0 or self.tree[-1] >= n_trees:
            raise _damaged(f"nodes must belong to the trees 0 to {n_trees - 1}")
        bounds = np.searchsorted(self.tree, np.arange(n_trees + 1))
        return [slice(*pair) for pair in pairwise(bounds.tolist())]


@dataclass(frozen=True)
class _Splits:
    """The splits of one tree as `ForestBuilder.add_tree` takes them."""

    left: IntArray
    right: IntArray
    threshold: FloatArray
    categories: dict[int, list[int]]


def _build(nodes: _Nodes, header: _Header, *, tree_weight: FloatArray, boosted: bool) -> Forest:
    total = nodes.statistics.sum(axis=1)
    if header.n_classes is None:
        weight, value = nodes.statistics[:, 0], nodes.prediction[:, None]
    else:
        weight = total
        value = nodes.statistics / np.where(total > 0, total, 1.0)[:, None]
    builder = ForestBuilder(header.n_features, n_values=value.shape[1])
    for tree, part in enumerate(nodes.tree_nodes(len(tree_weight))):
        splits = _splits(nodes, part)
        builder.add_tree(
            splits.left,
            splits.right,
            feature=nodes.feature[part],
            threshold=splits.threshold,
            missing_left=np.zeros(len(splits.left), dtype=bool),
            categories=splits.categories,
            weight=weight[part],
            impurity=nodes.impurity[part],
            value=value[part] * tree_weight[tree] if boosted else value[part],
        )
    return builder.build(
        criterion=header.criterion,
        aggregation="sum" if boosted else "mean",
        boosted=boosted,
        classes=None if header.n_classes is None else (np.arange(header.n_classes),),
        tree_weight=None if boosted else tree_weight,
    )


def _splits(nodes: _Nodes, part: slice) -> _Splits:
    """Return the splits of one tree.

    Spark keeps the smaller side of a split of categories; every other value, NaN among them, goes
    to the other side. Ours keep the first child's: where it is Spark's right one, both change
    places.
    """
    left, right = nodes.left[part].copy(), nodes.right[part].copy()
    threshold = np.zeros(len(left))
    categories = {}
    for node in np.flatnonzero(left >= 0):
        cut = nodes.cuts[part.start + node]
        n_categories = int(nodes.n_categories[part.start + node])
        if n_categories < 0:
            if len(cut) != 1:
                raise _damaged("a split of numbers must have one threshold")
            threshold[node] = cut[0]
            continue
        codes = {int(code) for code in cut if code == int(code)}
        if not codes or len(codes) != len(cut) or min(codes) < 0 or max(codes) >= n_categories:
            raise _damaged("the categories of a split must be distinct codes of its feature")
        if len(codes) > n_categories // 2:
            codes = set(range(n_categories)) - codes
            left[node], right[node] = right[node], left[node]
        categories[int(node)] = sorted(codes)
    return _Splits(left, right, threshold, categories)


def _read_pipeline(place: Path, metadata: Fields) -> Forest:
    stages = metadata.child("paramMap").texts("stageUids")
    folders = {
        folder.name.partition("_")[2]: folder
        for folder in sorted((place / "stages").glob("*"))
        if folder.is_dir()
    }
    if not stages or any(stage not in folders for stage in stages):
        raise _damaged("a pipeline must have a folder for every stage")
    forest = read_spark_directory(folders[stages[-1]])
    column = _parameter(_read_metadata(folders[stages[-1]]), "featuresCol")
    for stage in stages[:-1]:
        found = _read_metadata(folders[stage])
        is_assembler = found.text("class").endswith(".VectorAssembler")
        if is_assembler and _parameter(found, "outputCol") == column:
            return _named(forest, found.child("paramMap").texts("inputCols"))
    return forest


def _named(forest: Forest, names: list[str] | None) -> Forest:
    """Return the forest with names, if each column of the vector is one column of the frame."""
    if names is None or len(names) != forest.n_features or len(set(names)) != len(names):
        return forest
    return replace(forest, feature_names=tuple(names))


def _read_metadata(place: Path) -> Fields:
    files = _part_files(place / "metadata", "")
    if len(files) != 1:
        raise _damaged(f"{place.name!r} must have one file of metadata; it has {len(files)}")
    return read_json(read_file(files[0]), library=_LIBRARY)


def _parameter(metadata: Fields, name: str) -> Any:
    given, default = metadata.child("paramMap"), metadata.child("defaultParamMap")
    return (given if name in given else default).get(name)


def _read_tree_weight(place: Path, n_trees: int) -> FloatArray:
    """Return the weights of the trees: number, metadata, weight, by versions under other names."""
    table = _read_table(place / "treesMetadata")
    if table.num_columns != 3:
        raise _damaged("treesMetadata must have three columns")
    number, _, weight = table.column_names
    tree = _numbers(table, number, dtype=np.int64)
    if not np.array_equal(np.sort(tree), np.arange(n_trees)):
        raise _damaged(f"treesMetadata must list {n_trees} trees")
    weights: FloatArray = _numbers(table, weight, dtype=np.float64)[np.argsort(tree)]
    return weights


def _part_files(folder: Path, ending: str) -> list[Path]:
    return sorted(path for path in folder.glob("part-*") if path.name.endswith(ending))


def _read_table(folder: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UnsupportedModelError(
            "the directory of a Spark model is read with pyarrow, which is not installed. "
            "Install localmdi[spark], or pyarrow alone."
        ) from error
    files = _part_files(folder, ".parquet")
    if not files:
        raise _damaged(f"{folder.name!r} must hold a Parquet file; it has none")
    try:
        return pa.concat_tables([pq.ParquetFile(file).read() for file in files]).combine_chunks()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(f"the Parquet files of {folder.name!r} cannot be read: {error}") from error


def _column(table: Any, name: str) -> Any:
    if table.column_names.count(name) != 1:
        raise _damaged(f"there must be one column {name!r}")
    column = table.column(name)
    if column.null_count:
        raise _damaged(f"{name!r} must not be missing at any node")
    return column


def _fields_of(column: Any, name: str) -> Any:
    import pyarrow as pa

    if not pa.types.is_struct(column.type):
        raise _damaged(f"{name!r} must be a record; it has type {column.type}")
    return pa.Table.from_batches(
        [pa.RecordBatch.from_struct_array(chunk) for chunk in column.chunks],
        schema=pa.schema(list(column.type)),
    )


def _numbers(table: Any, name: str, *, dtype: Any) -> Any:
    values = _column(table, name).to_numpy()
    kinds = "iu" if dtype is np.int64 else "iuf"
    if values.dtype.kind not in kinds:
        raise _damaged(f"{name!r} must hold numbers; it holds {values.dtype}")
    return values.astype(dtype)


def _lists(table: Any, name: str) -> list[list[float]]:
    import pyarrow as pa

    column = _column(table, name)
    if not pa.types.is_list(column.type) or not pa.types.is_floating(column.type.value_type):
        raise _damaged(f"{name!r} must hold lists of numbers; it has type {column.type}")
    lists: list[list[float]] = column.to_pylist()
    if any(number is None or not np.isfinite(number) for item in lists for number in item):
        raise _damaged(f"{name!r} must hold finite numbers")
    return lists


def _damaged(problem: str) -> FileFormatError:
    return FileFormatError(
        f"this is not a Spark ML model that can be read: {problem}. Save it again with model.save."
    )


def _no_trees(what: str) -> str:
    return (
        f"the model must be a decision tree, a random forest or boosted trees of Spark ML, or a "
        f"PipelineModel that ends in one; got {what}. Other models have no splits to explain."
    )
