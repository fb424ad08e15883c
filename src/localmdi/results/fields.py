"""The table of fields: what must hold for a field of a result, and what each verb makes of it.

`FIELDS` has a line for every field of `LocalImportance`, `GlobalImportance`, `ClassImportance`,
`InteractionImportance` and `PairImportance`, in the order in which they are checked. The verbs read
it: `check_fields`; `select_fields` and `join_fields` for rows, `sum_fields` for groups of features
and `mean_fields` for means (`localmdi.results.axes`); `localmdi.results.storage`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from localmdi._text import count
from localmdi.typing import ErrorOf, ResultMeasure

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.results.local import LocalImportance
    from localmdi.typing import AnyArray, FloatArray

# SciPy ships no types, so a type checker sees FloatArray | Any.
Matrix: TypeAlias = "FloatArray | csr_array"


def dense(matrix: Matrix) -> FloatArray:
    """Return a matrix as a NumPy array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def predicts_classes(result: LocalImportance) -> bool:
    """Tell whether the direction of a result is that of a class, not of a number.

    Numbers are predicted as floats; boosted trees for classes may measure in any unit.
    """
    said = result.prediction
    is_label = said is not None and said.dtype.kind != "f"
    return result.unit in ("bits", "gini") or is_label


# --- Checks: the name and the value of a field, then the sizes of its axes as far as known. Each
# --- returns the value that the result keeps.


def as_text(field: str, value: Any) -> str:
    """Return a non-empty string."""
    if not isinstance(value, str) or not value:
        raise TypeError(
            f"{field} must be a non-empty string; got {reprlib.repr(value)}. Pass a str."
        )
    return value


def as_names(field: str, value: Any, *_: int | None) -> tuple[str, ...]:
    """Return names as a tuple; one may occur twice, as in a data frame."""
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    # By type: thousands of names are checked for every row that is explained alone.
    if names is None or not all(issubclass(kind, str) for kind in set(map(type, names))):
        raise TypeError(
            f"{field} must be a sequence of strings; got {reprlib.repr(value)}. "
            "Pass tuple(map(str, names))."
        )
    return names


def as_count(field: str, value: Any) -> int:
    """Return a non-negative integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TypeError(
            f"{field} must be a non-negative integer; got {reprlib.repr(value)}. Pass an int."
        )
    return int(value)


def as_flag(field: str, value: Any) -> bool:
    """Return a bool."""
    if not isinstance(value, bool | np.bool):
        raise TypeError(f"{field} must be True or False; got {reprlib.repr(value)}. Pass a bool.")
    return bool(value)


def as_choice(field: str, value: Any, *, choices: tuple[str | None, ...]) -> Any:
    """Return one of some values."""
    if not isinstance(value, str | None) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(
            f"{field} must be one of {listed}; got {reprlib.repr(value)}. "
            f"Use {choices[0]!r} if in doubt."
        )
    return value


def as_number(field: str, value: Any) -> float:
    """Return a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{field} must be a number; got {reprlib.repr(value)}. Pass a float.")
    return float(value)


def as_array(field: str, value: Any, *shape: int | None, sparse: bool = False) -> Any:
    """Return a read-only view of a float64 array of this shape; `sparse`: or of a CSR array."""
    sparse = sparse and len(shape) == 2
    is_csr = sparse and issparse(value) and value.format == "csr"
    if (
        not (isinstance(value, np.ndarray) or is_csr)
        or value.dtype != np.float64
        or value.ndim != len(shape)
        or value.shape[1:] != shape[1:]
        or shape[0] not in (None, value.shape[0])
    ):
        kind = "float64 array or CSR array" if sparse else "float64 array"
        raise ValueError(
            f"{field} must be a {kind} of shape {str(shape).replace('None', 'n_rows')}; got "
            f"{_describe(value)}. Convert it with np.asarray, or correct its shape."
        )
    return _read_only_csr(field, value) if is_csr else read_only(value)


as_matrix = partial(as_array, sparse=True)


def _as_level(field: str, value: Any, *shape: int | None) -> float | FloatArray:
    """Return a number, or one for every row."""
    is_number = not shape or not isinstance(value, np.ndarray) or not value.ndim
    return as_number(field, value) if is_number else as_array(field, value, *shape)


def _as_weights(field: str, value: Any, *shape: int | None) -> float | FloatArray:
    """Return weights, finite and not negative; of the whole result if there is no shape."""
    weight = as_array(field, value, *shape) if shape else as_number(field, value)
    if not np.all(np.isfinite(weight) & (weight >= 0)):
        raise ValueError(
            f"{field} must be finite and not negative; got {value}. "
            "Pass the number or the sample weights of the rows."
        )
    return weight


def _as_figures(field: str, value: Any, *shape: int | None) -> dict[str, FloatArray]:
    named = _as_mapping(field, value, of="one number per row")
    return {name: as_array(f"{field}[{name!r}]", own, *shape) for name, own in named.items()}


def _as_groups(field: str, value: Any) -> dict[str, tuple[str, ...]]:
    named = _as_mapping(field, value, of="names of its features")
    return {name: as_names(field, members) for name, members in named.items()}


def _as_mapping(field: str, value: Any, *, of: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(
            f"{field} must be a dict of name → {of}; got {reprlib.repr(value)}. "
            "Pass None if there are none."
        )
    return value


def _as_pairs(field: str, value: Any, *_: int | None) -> AnyArray:
    return np.asarray(value, dtype=np.int64).reshape(-1, 2)


def _as_rows(field: str, value: Any, *shape: int, is_table: bool = False) -> Any:
    """Return something with an entry, or a table with a line, for every row; any type."""
    if getattr(value, "shape", ())[: 1 if is_table else None] != shape:
        raise ValueError(
            f"{field} must be None or an array, index or frame with {count(shape[0], 'row')}; "
            f"got {_describe(value)}. Convert a list with np.asarray, or correct its shape."
        )
    return value


# --- What becomes of a field when rows are joined: its name, and its values in all parts.


def same(field: str, parts: list[Any]) -> Any:
    """Return the value in which all parts must agree."""
    for part in parts:
        if part != parts[0]:
            raise ValueError(
                f"all parts must have the same {field}; got {reprlib.repr(parts[0])} and "
                f"{reprlib.repr(part)}. Join results of one model only."
            )
    return parts[0]


def _agreed(_: str, parts: list[Any]) -> Any:
    return parts[0] if all(part == parts[0] for part in parts) else None


def lost(_: str, parts: list[Any]) -> None:
    """Return None: what is known of all rows together is not known of others."""


def _stack(field: str, parts: list[Any]) -> Any:
    """Stack arrays, sparse arrays, frames, dicts of arrays; None if some part has none or other."""
    first = parts[0]
    if first is None or any(type(part) is not type(first) for part in parts):
        return None
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if issparse(first):
        return vstack(parts, format=first.format)
    if isinstance(first, dict):
        if any(part.keys() != first.keys() for part in parts):
            return None
        return {name: _stack(field, [part[name] for part in parts]) for name in first}
    import narwhals.stable.v2 as nw

    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def _stack_all(field: str, parts: list[Any]) -> Any:
    """Stack what all parts must have, or none; single numbers must be equal."""
    kinds = sorted({"None" if part is None else type(part).__name__ for part in parts})
    if len(kinds) > 1:
        raise ValueError(
            f"{field} must be of one type in all parts; got {' and '.join(kinds)}. "
            "Make the parts with the same options."
        )
    return same(field, parts) if isinstance(parts[0], float) else _stack(field, parts)


def _stack_labels(_: str, parts: list[Any]) -> Any:
    """Join row labels, arrays or pandas indexes."""
    if any(part is None for part in parts):
        return None
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    import pandas

    first, *rest = (pandas.Index(part) for part in parts)
    return first.append(rest)


@dataclass(frozen=True)
class Field:
    """A line of the table.

    Parameters
    ----------
    check : callable
        See above. None passes where it is the default of the field.
    axes : str
        A letter for each axis: rows, features, classes, listed pairs. A class may have others, and
        names them when it is checked.
    join : callable or None
        See above; None: the first part's value stays.
    in_mean : bool
        Whether the mean over rows has the field too.
    saved : {"value", "labels", "figures"} or None
        How a file holds it: as it is, as row labels or as named arrays; None: not at all, because
        the user has it.
    """

    check: Callable[..., Any]
    axes: str = ""
    join: Callable[[str, list[Any]], Any] | None = None
    in_mean: bool = False
    saved: Literal["value", "labels", "figures"] | None = "value"


_as_measure = partial(as_choice, choices=get_args(ResultMeasure))
_as_error = partial(as_choice, choices=get_args(ErrorOf))
_as_frame_type = partial(as_choice, choices=(None, "pandas", "polars", "pyarrow"))

# The first four have the sizes by which the others are measured.
FIELDS = {
    "feature_names": Field(as_names, "f", same, in_mean=True),
    "classes": Field(lambda _, value, *__: tuple(value), "c"),
    "pairs": Field(_as_pairs, "p"),
    "values": Field(as_matrix, "rf", _stack_all),
    "baseline": Field(_as_level, "r", _stack_all),
    "residual": Field(as_array, "r", _stack_all),
    "rest": Field(as_array, "r"),
    "standard_error": Field(as_matrix, "rf", _stack),
    "mean_standard_error": Field(as_array, "f", lost),
    "direction": Field(as_matrix, "rf", _stack),
    "prediction": Field(_as_rows, "r", _stack, saved=None),
    "scores": Field(_as_figures, "r", _stack, saved="figures"),
    "row_weight": Field(_as_weights, "r", _stack_all),
    "row_labels": Field(_as_rows, "r", _stack_labels, saved="labels"),
    "data": Field(partial(_as_rows, is_table=True), "r", _stack, saved=None),
    "unit": Field(as_text, join=same, in_mean=True),
    "index": Field(as_text),
    "n_trees": Field(as_count, join=same, in_mean=True),
    "weight": Field(_as_weights),
    "measure": Field(_as_measure, join=same, in_mean=True),
    "honest": Field(as_flag, join=same, in_mean=True),
    "error_kind": Field(_as_error, join=same),
    "caveat": Field(as_text, in_mean=True),
    "method": Field(as_text, join=_agreed),
    "groups": Field(_as_groups),
    "frame_type": Field(_as_frame_type, join=same, in_mean=True),
}


def check_fields(result: Any, **axes: str) -> None:
    """Check all fields of a new result, and replace them by what it keeps.

    Parameters
    ----------
    result : object
        One of the five kinds of results, from its ``__post_init__``.
    **axes : str
        The axes of fields whose axes differ from those in the table.
    """
    own, kind = vars(result), type(result)  # own: frozen for others
    sizes: dict[str, int] = {}
    for name, field in FIELDS.items():
        value = own.get(name)
        if value is None and (name not in own or getattr(kind, name, "") is None):
            continue
        letters = axes.get(name, field.axes) if axes else field.axes
        if not letters:
            own[name] = field.check(name, value)
            continue
        known = [sizes.get(axis) for axis in letters]
        value = own[name] = field.check(name, value, *known)
        if None in known:
            sizes.update(zip(letters, getattr(value, "shape", None) or (len(value),), strict=False))


def read_only(array: AnyArray) -> AnyArray:
    """Return a view, because the flags of the caller's own array are not ours to change."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _read_only_csr(field: str, value: Any) -> Any:
    _check_csr(field, value)
    if not value.has_canonical_format:
        value = value.copy()
        value.sum_duplicates()
    parts = tuple(read_only(part) for part in (value.data, value.indices, value.indptr))
    view = csr_array(parts, shape=value.shape)
    view.has_canonical_format = True
    return view


def _check_csr(field: str, value: Any) -> None:
    """SciPy trusts these arrays and would read beyond their ends; its own check skips some."""
    n_rows, n_features = value.shape
    indices, indptr = value.indices, value.indptr
    if (
        indptr.shape != (n_rows + 1,)
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or not indptr[-1] == len(indices) == len(value.data)
    ):
        raise ValueError(
            f"the indptr of {field} must rise from 0 to the number of stored values; got another "
            "sequence. Build the array with scipy.sparse.csr_array."
        )
    if len(indices) and (indices.min() < 0 or indices.max() >= n_features):
        raise ValueError(
            f"the column indices of {field} must lie in [0, {n_features}); got "
            f"{indices.min()} to {indices.max()}. Build the array with scipy.sparse.csr_array."
        )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray) or issparse(value):
        kind = f"{value.format} " if issparse(value) else ""
        return f"{kind}{value.dtype} of shape {value.shape}"
    return type(value).__name__
