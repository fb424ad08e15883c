"""Of which column of X each feature behind a Pipeline's steps was made, where that is certain.

Known are steps that keep names (imputers, selectors), that say they change every column by itself
(scalers, ordinal encoders), one-hot encoders, bins, ColumnTransformers and Pipelines of these. A
feature made of several columns, or by a step that does not tell, belongs to none.
"""

from __future__ import annotations

from collections import UserList
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._validation import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.typing import Names

_NONE = -1


def groups_by_column(
    steps: Sequence[Any], input_names: Names | None, *, features: Names
) -> dict[str, tuple[str, ...]] | None:
    """Return the features made of each column of X, by the column's name; None if none is known.

    Parameters
    ----------
    steps : sequence of transformers
        The fitted steps.
    input_names : sequence of str or None
        Names of the columns of X; None: x0, x1, …
    features : sequence of str
        Names of the features behind the steps.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> step = OneHotEncoder().fit([["red", 1], ["blue", 1]])
    >>> groups_by_column([step], ["colour", "one"], features=["colour_blue", "colour_red", "one_1"])
    {'colour': ('colour_blue', 'colour_red'), 'one': ('one_1',)}
    """
    if not steps:
        return None
    names = input_names or default_names(int(getattr(steps[0], "n_features_in_", 0)))
    sources, _ = _through_steps(steps, tuple(names))
    if len(sources) != len(features):
        return None
    groups: dict[str, tuple[str, ...]] = {}
    for feature, source in zip(features, sources, strict=True):
        if source != _NONE:
            groups[names[source]] = (*groups.get(names[source], ()), feature)
    return groups or None


def _through_steps(steps: Sequence[Any], names: Names) -> tuple[list[int], Names]:
    """Return the source of every output of several steps, and the outputs' names."""
    sources = list(range(len(names)))
    for step in steps:
        found = _sources(step, names)
        sources = [_NONE if i == _NONE else sources[i] for i in found]
        names = _names_out(step, names) or tuple(f"{i}" for i in range(len(found)))
        if len(names) != len(sources):
            return [], ()
    return sources, names


def _sources(step: Any, names: Names) -> list[int]:
    """Return for every output of a step the one input that it was made of, or −1."""
    if step is None or step == "passthrough":
        return list(range(len(names)))
    if hasattr(step, "steps") and hasattr(step, "named_steps"):
        inner = [each for _, each in step.steps if each is not None and each != "passthrough"]
        return _through_steps(inner, names)[0]
    if hasattr(step, "transformers_") and hasattr(step, "output_indices_"):
        return _of_column_transformer(step, names)
    widths = _widths(step)
    out = _names_out(step, names)
    if widths is not None and len(widths) == len(names):
        sources = [i for i, width in enumerate(widths) for _ in range(width)]
        # The widths are counted from what the step tells; its names say whether that is right.
        return sources if out is not None and len(out) == len(sources) else []
    if out is None:
        return []
    if _is_one_to_one(step) and len(out) == len(names):
        return list(range(len(names)))
    place = {name: i for i, name in enumerate(names)}
    return [place.get(name, _NONE) for name in out]


def _of_column_transformer(step: Any, names: Names) -> list[int]:
    n_out = max((part.stop for part in step.output_indices_.values()), default=0)
    sources = [_NONE] * n_out
    for name, transformer, columns in step.transformers_:
        part = step.output_indices_.get(name)
        if part is None or (isinstance(transformer, str) and transformer == "drop"):
            continue
        inputs = _positions(columns, names)
        found = _sources(transformer, [names[i] for i in inputs])
        if len(found) == part.stop - part.start:
            sources[part] = [_NONE if i == _NONE else inputs[i] for i in found]
    return sources


def _positions(columns: Any, names: Names) -> list[int]:
    """Return the positions of columns given by names, positions, a mask or a slice."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, UserList):
        # The remainder's, which warns in some versions when it is read through its own methods.
        columns = columns.data
    if isinstance(columns, slice):
        ends = [
            list(names).index(end) if isinstance(end, str) else end
            for end in (columns.start, columns.stop)
        ]
        # As in pandas, a slice of names has its last one.
        last = ends[1] + 1 if isinstance(columns.stop, str) else ends[1]
        return list(range(len(names)))[ends[0] : last : columns.step]
    chosen = np.atleast_1d(np.asarray(columns))
    if chosen.dtype.kind == "b":
        return [int(i) for i in np.flatnonzero(chosen)]
    if chosen.dtype.kind in "iu":
        return [int(i) % len(names) for i in chosen]
    place = {name: i for i, name in enumerate(names)}
    return [place[str(name)] for name in chosen]


def _widths(step: Any) -> list[int] | None:
    """Return how many columns one-hot encoders and bins make of each; None for other steps."""
    if hasattr(step, "bin_edges_") and hasattr(step, "n_bins_"):
        one_hot = str(getattr(step, "encode", "")).startswith("onehot")
        return [int(n) if one_hot else 1 for n in step.n_bins_]
    if not (hasattr(step, "categories_") and hasattr(step, "drop_idx_")):
        return None
    dropped = step.drop_idx_
    rare = getattr(step, "infrequent_categories_", None)
    widths = []
    for i, categories in enumerate(step.categories_):
        few = None if rare is None else rare[i]
        width = len(categories) - (0 if few is None else len(few) - 1)
        widths.append(width - (dropped is not None and dropped[i] is not None))
    return widths


def _is_one_to_one(step: Any) -> bool:
    from sklearn.base import OneToOneFeatureMixin

    return isinstance(step, OneToOneFeatureMixin)


def _names_out(step: Any, names: Names) -> tuple[str, ...] | None:
    if step is None or step == "passthrough":
        return tuple(names)
    try:
        return tuple(map(str, step.get_feature_names_out(np.array(names, dtype=object))))
    except (AttributeError, ValueError, TypeError):
        return None
