"""Random forests of every kind of split, and what makes a forest in plain Python."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from localmdi.forest import SplitKind
from localmdi.forest.rules import STRUCTURE

STUMP = {
    "n_features": 2,
    "tree_offset": [0, 3],
    "feature": [1, -1, -1],
    "split_kind": [SplitKind.LESS_EQUAL, SplitKind.LEAF, SplitKind.LEAF],
    "threshold": [0.5, 0.0, 0.0],
    "child_offset": [0, 2, 2, 2],
    "child": [1, 2],
}


def grow_tree(random, first, n_features):
    """Return the nodes of a tree as dicts; the root has the number `first`."""
    nodes = [{}]
    n_splits = random.randint(0, 4)
    for node in nodes:
        if n_splits == 0 or (len(nodes) > 1 and random.random() < 0.3):
            node.update(kind=0, feature=-1, threshold=math.nan, child=[], missing=-1, words=[])
            continue
        n_splits -= 1
        kind = random.randint(1, 4)
        n = random.randint(1, 4) if kind == SplitKind.MULTIWAY else 2
        words = []
        if kind == SplitKind.CATEGORY_SET:
            words = [random.getrandbits(64) for _ in range(random.randint(1, 2))]
        if kind == SplitKind.MULTIWAY:
            words = sorted(random.sample([0, 1, 2, 5, 2**40, 2**53 - 1], n))
        node.update(
            kind=kind,
            feature=random.randrange(n_features),
            threshold=random.choice([0.0, 0.5, -math.inf, math.inf, 1e-300]),
            child=[first + len(nodes) + k for k in range(n)],
            missing=random.randint(-1, n - 1),
            words=words,
        )
        nodes.extend({} for _ in range(n))
    return nodes


def random_table(random):
    """Return the table of a random forest: n_features and the nine vectors with their types."""
    n_features = random.randint(1, 3)
    trees, first = [], 0
    for _ in range(random.randint(1, 3)):
        trees.append(grow_tree(random, first, n_features))
        first += len(trees[-1])
    nodes = [node for tree in trees for node in tree]
    columns = {
        "tree_offset": np.cumsum([0, *map(len, trees)]),
        "feature": [node["feature"] for node in nodes],
        "split_kind": [node["kind"] for node in nodes],
        "threshold": [node["threshold"] for node in nodes],
        "child_offset": np.cumsum([0, *(len(node["child"]) for node in nodes)]),
        "child": [child for node in nodes for child in node["child"]],
        "missing_child": [node["missing"] for node in nodes],
        "category_offset": np.cumsum([0, *(len(node["words"]) for node in nodes)]),
        "category_bits": [word for node in nodes for word in node["words"]],
    }
    return {"n_features": n_features} | {
        field: np.array(columns[field], dtype=dtype) for field, dtype in STRUCTURE.items()
    }


@st.composite
def tables(draw):
    return random_table(draw(st.randoms(use_true_random=False)))


LABELS = st.sampled_from(
    [
        np.array([0, 1]),
        np.array([2, 5, 7], dtype=np.uint8),
        np.array([False, True]),
        np.array([-0.5, math.pi, 1e300]),
        np.array([0.1], dtype=np.float32),
        np.array(["no", "yes", "é\N{GRINNING FACE}"]),
        np.array(["a"], dtype="U9"),
        np.array(["a", "b", None], dtype=object),
        np.array([np.nan, 1.0]),
    ]
)
NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    min_size=3,
    max_size=3,
    unique=True,
)


@st.composite
def fields_of_forests(draw):
    """All that `build_forest` takes, optional fields included or not."""
    fields = draw(tables())
    random = draw(st.randoms(use_true_random=False))
    n_nodes, n_trees = len(fields["feature"]), len(fields["tree_offset"]) - 1
    n_features = fields["n_features"]
    classes = draw(st.none() | st.lists(LABELS, min_size=1, max_size=2).map(tuple))
    n_values = sum(map(len, classes)) if classes else 2

    def numbers(*shape, low=0.0):
        return np.array([random.uniform(low, 9) for _ in range(math.prod(shape))]).reshape(shape)

    options = {
        "weight": numbers(n_nodes),
        "impurity": numbers(n_nodes, low=-1.0),
        "value": numbers(n_nodes, n_values, low=-9.0),
        "tree_weight": numbers(n_trees) + 0.1,
        "feature_names": draw(NAMES)[:n_features],
        "criterion": draw(st.sampled_from(["entropy", "gini", "variance"])),
        "aggregation": draw(st.sampled_from(["mean", "sum"])),
        "row_dtype": draw(st.sampled_from(["float32", "float64"])),
        "boosted": draw(st.booleans()),
        "categories": [draw(st.none() | LABELS) for _ in range(n_features)],
    }
    kept = draw(st.sets(st.sampled_from(sorted(options))))
    return fields | {"classes": classes} | {field: options[field] for field in kept}


def rises(offset, end, least):
    steps = all(b - a >= least for a, b in pairwise(offset))
    return len(offset) > 1 and offset[0] == 0 and offset[-1] == end and steps


def node_is_sound(table, node, children, words):
    kind, feature = table["split_kind"][node], table["feature"][node]
    if kind not in list(SplitKind) or not -1 <= table["missing_child"][node] < len(children):
        return False
    if kind == SplitKind.LEAF:
        return feature == -1 and not children and not words
    if not 0 <= feature < table["n_features"]:
        return False
    if kind == SplitKind.MULTIWAY:
        ascending = words == sorted(set(words)) and all(word < 2**53 for word in words)
        return len(children) == len(words) >= 1 and ascending
    if kind == SplitKind.CATEGORY_SET:
        return len(children) == 2 and len(words) >= 1
    return len(children) == 2 and not words and not math.isnan(table["threshold"][node])


def is_forest(table):
    """Say whether a table obeys every rule of the specification, read node by node."""
    table = {field: np.asarray(value).tolist() for field, value in table.items()}
    n_nodes = len(table["feature"])
    if table["n_features"] < 1 or any(
        len(table[field]) != n_nodes for field in ("split_kind", "threshold", "missing_child")
    ):
        return False
    for field, target in (("child_offset", "child"), ("category_offset", "category_bits")):
        if len(table[field]) != n_nodes + 1 or not rises(table[field], len(table[target]), 0):
            return False
    if not rises(table["tree_offset"], n_nodes, 1):
        return False
    parents = dict.fromkeys(range(n_nodes), 0)
    for root, end in pairwise(table["tree_offset"]):
        parents[root] += 1
        for node in range(root, end):
            children = table["child"][slice(*table["child_offset"][node : node + 2])]
            words = table["category_bits"][slice(*table["category_offset"][node : node + 2])]
            if not node_is_sound(table, node, children, words):
                return False
            for child in children:
                if not node < child < end:
                    return False
                parents[child] += 1
    return all(count == 1 for count in parents.values())


@st.composite
def damaged(draw):
    """A table with one to three entries, or lengths, changed."""
    table = draw(tables())
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from(sorted(STRUCTURE)))
        column = table[field].copy()
        if draw(st.integers(0, 9)) == 0 or not len(column):
            column = np.resize(column, draw(st.integers(0, len(column) + 1)))
        else:
            column[draw(st.integers(0, len(column) - 1))] = draw(entries(column))
        table[field] = column
    return table


def entries(column):
    """Values that fit the type: small ones, limits, and what stands elsewhere in the column."""
    elsewhere = st.sampled_from(column.tolist())
    if column.dtype.kind == "f":
        return elsewhere | st.sampled_from([math.nan, math.inf, -math.inf, -1e308])
    info = np.iinfo(column.dtype)
    small = st.integers(max(info.min, -2), min(info.max, len(column) + 2))
    return elsewhere | small | st.sampled_from([int(info.min), int(info.max)])
