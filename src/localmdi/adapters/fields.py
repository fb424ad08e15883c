"""Model files as checked fields: whatever a file holds, what comes out has the type asked for."""

from __future__ import annotations

import json
import reprlib
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from localmdi._text import count
from localmdi.exceptions import FileFormatError, UnsupportedModelError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from localmdi.typing import FloatArray, IntArray

# Of a file that names none of its features: no array grows with a number that is only claimed.
_MAX_FEATURES = 1 << 24
# How long a library may take to read a model.
_SECONDS_APART = 600


class Fields:
    """A JSON object of a model file.

    Parameters
    ----------
    record : object
        What was parsed; must be a dict.
    library : str
        Whose file it is, for messages.
    path : str
        Where the object stands in the file, for messages.
    """

    def __init__(self, record: Any, *, library: str, path: str = "") -> None:
        self.library = library
        self.path = path
        if not isinstance(record, dict):
            self.fail("", f"must be an object; got {reprlib.repr(record)}")
        self._record: dict[str, Any] = record

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the error about a field of this object."""
        place = ".".join(part for part in (self.path, key) if part) or "the file"
        raise FileFormatError(
            f"this is not a {self.library} model that can be read: {place} {problem}. "
            f"Save the model again with {self.library}."
        )

    def __contains__(self, key: str) -> bool:
        return key in self._record

    def get(self, key: str) -> Any:
        """Return a field that must exist."""
        if key not in self._record:
            self.fail(key, "is missing")
        return self._record[key]

    def child(self, key: str) -> Fields:
        """Return a field that is an object."""
        return self._inside(self.get(key), key)

    def children(self, key: str) -> Iterator[Fields]:
        """Yield the objects of a list."""
        for index, part in enumerate(self.items(key)):
            yield self._inside(part, f"{key}[{index}]")

    def _inside(self, record: Any, key: str) -> Fields:
        path = f"{self.path}.{key}" if self.path else key
        return Fields(record, library=self.library, path=path)

    def items(self, key: str) -> list[Any]:
        """Return a field that is a list."""
        found = self.get(key)
        if isinstance(found, np.ndarray):
            found = found.tolist()
        if not isinstance(found, list):
            self.fail(key, f"must be a list; got {reprlib.repr(found)}")
        return list(found)

    def text(self, key: str) -> str:
        """Return a field that is a string."""
        found = self.get(key)
        if not isinstance(found, str):
            self.fail(key, f"must be a text; got {reprlib.repr(found)}")
        return str(found)

    def texts(self, key: str) -> list[str]:
        """Return a field that is a list of strings."""
        found = self.items(key)
        if not all(isinstance(text, str) for text in found):
            self.fail(key, f"must be a list of texts; got {reprlib.repr(found)}")
        return found

    def integer(self, key: str, *, least: int = 0) -> int:
        """Return a whole number; libraries write them as strings, too."""
        found = self.get(key)
        try:
            number = int(found) if isinstance(found, str | int | np.integer) else None
        except ValueError:
            number = None
        if number is None or not least <= number < 2**31:
            self.fail(key, f"must be a whole number from {least} on; got {reprlib.repr(found)}")
        return number

    def number(self, key: str) -> float:
        """Return a field that is a finite number."""
        found = self.get(key)
        try:
            number = float(found) if isinstance(found, int | float) else np.nan
        except OverflowError:
            number = np.nan
        if not np.isfinite(number):
            self.fail(key, f"must be a finite number; got {reprlib.repr(found)}")
        return number

    def integers(self, key: str, n: int | None = None) -> IntArray:
        """Return a vector of whole numbers, of a length if it is known."""
        vector: IntArray = self._vector(key, n, kind="whole numbers", dtype=np.dtype(np.int64))
        return vector

    def floats(self, key: str, n: int | None = None) -> FloatArray:
        """Return a vector of numbers, of a length if it is known."""
        vector: FloatArray = self._vector(key, n, kind="numbers", dtype=np.dtype(np.float64))
        return vector

    def _vector(self, key: str, n: int | None, *, kind: str, dtype: np.dtype[Any]) -> Any:
        found = self.get(key)
        try:
            array = np.asarray(found)
            # An empty list has no type of its own.
            good = array.dtype.kind in ("biu" if dtype.kind == "i" else "biuf") or not array.size
        except (ValueError, OverflowError):
            good = False
        if not good or array.ndim != 1:
            self.fail(key, f"must be a list of {kind}; got {reprlib.repr(found)}")
        if n is not None and len(array) != n:
            self.fail(key, f"must have {n} entries; got {len(array)}")
        # A float32 NaN of the signalling kind is still NaN, and is judged as such where it is used.
        with np.errstate(invalid="ignore"):
            return array.astype(dtype)


def read_json(content: bytes | str, *, library: str) -> Fields:
    """Return a JSON document as fields."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"this is not a {library} model that can be read: it is no JSON: {error}. "
            f"Save the model again with {library}."
        ) from error
    return Fields(record, library=library)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def run_apart(script: str, place: str, *, output: str, library: str) -> None:
    """Let a library read a model in a process of its own, and write it in a form that is checked.

    A damaged file can make the library crash, or never end.

    Parameters
    ----------
    script : str
        Python, with the paths of the model and of the output as arguments.
    place, output : str
        These paths.
    library : str
        Its name, for messages.
    """
    again = f"Save the model again with {library}."
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, place, output],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_APART,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FileFormatError(
            f"{library} cannot read {place!r}: it takes more than {_SECONDS_APART} s. {again}"
        ) from error
    if done.returncode == 0:
        return
    # The last line of a traceback says what happened; after a crash there is none.
    said = done.stderr.strip().rpartition("\n")[2] if done.returncode > 0 else "it crashes"
    kind, _, message = said.partition(": ")
    if kind.endswith("UnsupportedModelError"):
        raise UnsupportedModelError(message)
    raise FileFormatError(f"{library} cannot read {place!r}: {said}. {again}")


def feature_count(n: int, *, library: str) -> int:
    """Return the number of features that a file claims, if it can be."""
    if not 1 <= n <= _MAX_FEATURES:
        raise FileFormatError(
            f"this is not a {library} model that can be read: it must have from 1 to "
            f"{_MAX_FEATURES} features; it claims {n}. Save the model again with {library}."
        )
    return n


def score_count(n: int, *, n_trees: int, library: str) -> int:
    """Return the number of scores that a file claims; a node has a number for each of them."""
    if n > max(n_trees, 1):
        raise FileFormatError(
            f"this is not a {library} model that can be read: it must have a tree for every score; "
            f"it claims {n} scores and has {count(n_trees, 'tree')}. Save the model again with "
            f"{library}."
        )
    return n


def category_labels(values: Iterable[Any]) -> Any:
    """Return the categories of a column as one array, in the order of their codes."""
    labels = list(values)
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(labels)
    return np.fromiter(labels, dtype=object, count=len(labels))
