"""Row labels as arrays that a file can hold: integers, or UTF-8 texts one after the other."""

from __future__ import annotations

import reprlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray

__all__ = ["decode_labels", "encode_labels"]


def encode_labels(labels: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return a JSON description and the arrays of row labels that are all integers or all texts.

    Examples
    --------
    >>> encode_labels(np.array(["a", "bc"]))[1]
    {'text': array([97, 98, 99], dtype=uint8), 'end': array([1, 3])}
    """
    array = np.asarray(labels)
    name = getattr(labels, "name", None)
    about = {
        "index": not isinstance(labels, np.ndarray),
        "name": name if isinstance(name, str) else None,
    }
    if array.ndim == 1 and array.dtype.kind in "iu":
        return about, {"integer": array}
    items = array.tolist()
    if array.ndim != 1 or not all(isinstance(item, str) for item in items):
        raise TypeError(
            "row labels must be all integers or all texts to be saved; got "
            f"{getattr(labels, 'dtype', array.dtype)}. Save dataclasses.replace(result, "
            "row_labels=result.row_labels.astype(str)), or row_labels=None."
        )
    texts = [item.encode("utf-8") for item in items]
    return about, {
        "text": np.frombuffer(b"".join(texts), dtype=np.uint8),
        "end": np.cumsum([len(text) for text in texts], dtype=np.int64),
    }


def decode_labels(about: Any, arrays: Mapping[str, AnyArray]) -> Any:
    """Return the labels: a pandas index if it was one and pandas is installed, else an array.

    Examples
    --------
    >>> decode_labels(*encode_labels(np.array(["a", "bc"])))
    array(['a', 'bc'], dtype=object)
    """
    if not isinstance(about, dict) or about.keys() != {"index", "name"}:
        raise ValueError(
            f"row labels must be described by index and name; got {reprlib.repr(about)}"
        )
    labels = _decode(arrays)
    if about["index"] is not True:
        return labels
    try:
        import pandas
    except ImportError:
        return labels
    return pandas.Index(labels, name=about["name"])


def _decode(arrays: Mapping[str, AnyArray]) -> AnyArray:
    if arrays.keys() == {"integer"} and arrays["integer"].dtype.kind in "iu":
        return arrays["integer"]
    if arrays.keys() != {"text", "end"}:
        raise ValueError(
            f"row labels must be integers or texts; got arrays {reprlib.repr(sorted(arrays))}"
        )
    text, end = arrays["text"], arrays["end"]
    if text.dtype != np.uint8 or end.dtype != np.int64 or (text.ndim, end.ndim) != (1, 1):
        raise ValueError("row labels must be bytes and int64 ends; got other types")
    start = np.concatenate([np.zeros(1, dtype=np.int64), end])
    if (start[1:] < start[:-1]).any() or start[-1] != len(text):
        raise ValueError("the texts of row labels must follow each other; got other ends")
    data = text.tobytes()
    labels = np.empty(len(end), dtype=object)
    for i, (first, last) in enumerate(pairwise(start.tolist())):
        labels[i] = data[first:last].decode("utf-8")
    return labels
