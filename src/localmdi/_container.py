"""A versioned file of named arrays and a JSON header, without pickle.

The bytes are specified in ``docs/format/container.md``. Whatever a file holds, reading it either
gives back what was written or raises `FileFormatError`; sizes are checked against the size of the
file before anything is allocated.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from localmdi._atomic import write_atomically
from localmdi.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedReader, BufferedWriter

    from localmdi.typing import AnyArray


StrPath: TypeAlias = str | os.PathLike[str]

# The line ends and the control byte make a copy that went through a text mode visible at once.
_MAGIC = b"\x89LMDI\r\n\x1a"
_LAYOUT = 1
_PREAMBLE = struct.Struct("<8sII")
_CHECKSUM = struct.Struct("<I")
_ALIGNMENT = 64
_MAX_HEADER = 1 << 26
_MAX_DIMENSIONS = 8
_CHUNK = 1 << 24
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
)


def write_container(
    path: StrPath,
    *,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
) -> None:
    """Write named arrays and a JSON header to a file, wholly or not at all.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced once the new one is complete.
    kind : str
        What the file holds, e.g. ``"forest"``; a reader asks for it by this name.
    version : int
        Version of the kind, at least 1.
    header : mapping
        JSON values without NaN or infinity; tuples come back as lists.
    arrays : mapping of str to ndarray
        Arrays of bool, signed or unsigned integers, float32 or float64, of at most 8 dimensions.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "numbers.lmdi"
    >>> write_container(path, kind="demo", version=1, header={"a": 1}, arrays={"x": np.arange(3)})
    >>> read_container(path, kind="demo", max_version=1)
    (1, {'a': 1}, {'x': array([0, 1, 2])})
    >>> folder.cleanup()
    """
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    text = _header_text(kind, version, header=header, arrays=stored)
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        sink = _Sink(file)
        sink.write(memoryview(_PREAMBLE.pack(_MAGIC, _LAYOUT, len(text)) + text))
        for array in stored.values():
            sink.pad()
            sink.write(array.reshape(-1).view(np.uint8).data)
        if not stored:
            sink.pad()
        file.write(_CHECKSUM.pack(sink.checksum))


def read_container(
    path: StrPath, *, kind: str, max_version: int
) -> tuple[int, dict[str, Any], dict[str, AnyArray]]:
    """Read a file that `write_container` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : str
        The kind of file that is expected.
    max_version : int
        The newest version of this kind that the caller understands.

    Returns
    -------
    version : int
    header : dict
    arrays : dict of str to ndarray
        Read-only arrays in the byte order of the machine.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind or newer than `max_version`.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "numbers.lmdi"
    >>> write_container(path, kind="demo", version=1, header={}, arrays={})
    >>> read_container(path, kind="demo", max_version=1)
    (1, {}, {})
    >>> folder.cleanup()
    """
    with open(path, "rb") as file:
        source = _Source(path, file)
        header_length = _read_preamble(source)
        content = _parse_header(source, source.read(header_length))
        version = _check_kind(source, content, kind=kind, max_version=max_version)
        table = _parse_table(source, content["arrays"])
        _check_size(source, table)
        arrays = {entry.name: _read_array(source, entry) for entry in table}
        if not table:
            source.skip_padding()
        expected = source.checksum
        if source.read(_CHECKSUM.size) != _CHECKSUM.pack(expected):
            source.fail("its checksum must match its content", "another checksum")
    return version, content["header"], arrays


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _storable(name: str, array: AnyArray) -> AnyArray:
    """Return the array in C order and little-endian bytes, if its type is on the list."""
    array = np.asarray(array)
    if array.dtype.name not in _DTYPES or array.ndim > _MAX_DIMENSIONS:
        raise ValueError(
            f"array {name!r} must be of one of the types {', '.join(_DTYPES)} and have at most "
            f"{_MAX_DIMENSIONS} dimensions; got {array.dtype} with {array.ndim}. Convert it first."
        )
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _header_text(
    kind: str, version: int, *, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> bytes:
    table = []
    end = 0
    for name, array in arrays.items():
        offset = _aligned(end)
        shape = list(array.shape)
        table.append({"name": name, "dtype": array.dtype.name, "shape": shape, "offset": offset})
        end = offset + array.nbytes
    content = {"kind": kind, "version": version, "header": dict(header), "arrays": table}
    if not _is_unicode(content):
        raise ValueError(
            "names and labels must be valid Unicode to be saved; got a lone surrogate, half of a "
            "character. Rename them."
        )
    text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > _MAX_HEADER:
        raise ValueError(
            f"the header must have at most {_MAX_HEADER} bytes; got {len(text)}. "
            "Shorten its strings, such as feature names, or store them in an array."
        )
    return text


def _is_unicode(content: Any) -> bool:
    """Tell whether all strings can be written as UTF-8; a lone surrogate cannot."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _Sink:
    """Writes bytes in chunks, so that Ctrl-C is heard, and keeps their checksum."""

    def __init__(self, file: BufferedWriter) -> None:
        self._file = file
        self._written = 0
        self.checksum = 0

    def write(self, data: memoryview) -> None:
        for start in range(0, len(data), _CHUNK):
            chunk = data[start : start + _CHUNK]
            self._file.write(chunk)
            self.checksum = zlib.crc32(chunk, self.checksum)
        self._written += len(data)

    def pad(self) -> None:
        self.write(memoryview(bytes(_aligned(self._written) - self._written)))


class _Source:
    """Reads bytes in chunks, keeps their checksum, and reports damage with the file's name."""

    def __init__(self, path: StrPath, file: BufferedReader) -> None:
        self._path = os.fspath(path)
        self._file = file
        self.size = os.fstat(file.fileno()).st_size
        self.position = 0
        self.checksum = 0

    def read(self, length: int) -> bytes:
        data = np.empty(length, dtype=np.uint8)
        self.read_into(data)
        return data.tobytes()

    def read_into(self, data: AnyArray) -> None:
        for start in range(0, len(data), _CHUNK):
            chunk = data[start : start + _CHUNK].data
            if self._file.readinto(chunk) != len(chunk):
                self.fail("it must be complete", "a file that ended while it was read")
            self.checksum = zlib.crc32(chunk, self.checksum)
        self.position += len(data)

    def skip_padding(self) -> None:
        self.read(_aligned(self.position) - self.position)

    def fail(self, must: str, given: str, *, do: str = "Copy or write the file again.") -> NoReturn:
        raise FileFormatError(f"cannot read {self._path!r}: {must}; got {given}. {do}")


def _read_preamble(source: _Source) -> int:
    """Check the first 16 bytes and return the length of the header."""
    smallest = _PREAMBLE.size + _CHECKSUM.size
    if source.size < smallest:
        source.fail(f"it must have at least {smallest} bytes", f"{source.size}")
    magic, layout, header_length = _PREAMBLE.unpack(source.read(_PREAMBLE.size))
    if magic != _MAGIC:
        source.fail(
            f"a localmdi file begins with {_MAGIC!r}",
            repr(magic),
            do="Pass a file that localmdi saved, copied in binary mode.",
        )
    if layout != _LAYOUT:
        source.fail(f"its layout must be {_LAYOUT}", f"{layout}", do="Upgrade localmdi.")
    if header_length > min(_MAX_HEADER, source.size - smallest):
        source.fail("its header must lie inside the file", f"a length of {header_length} bytes")
    return int(header_length)


def _parse_header(source: _Source, text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            object_pairs_hook=_unique_keys,
        )
    except (ValueError, RecursionError) as error:
        source.fail("its header must be valid JSON", reprlib.repr(str(error)))
    if (
        not isinstance(content, dict)
        or content.keys() != {"kind", "version", "header", "arrays"}
        or not isinstance(content["header"], dict)
    ):
        source.fail("its header must have kind, version, header and arrays", reprlib.repr(content))
    # JSON can spell half of a character, which nobody else can take.
    if b"\\ud" in text.lower() and not _is_unicode(content):
        source.fail("its strings must be valid Unicode", "a lone surrogate, half of a character")
    return content


def _refuse_constant(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is not a JSON number")


def _finite_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"{literal} is beyond float64")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return content


def _check_kind(source: _Source, content: dict[str, Any], *, kind: str, max_version: int) -> int:
    if content["kind"] != kind:
        given = reprlib.repr(content["kind"])
        source.fail(
            f"its kind must be {kind!r}", given, do="Use the function that loads this kind."
        )
    version = content["version"]
    if type(version) is not int or version < 1:
        source.fail("its version must be a positive integer", reprlib.repr(version))
    if version > max_version:
        must = f"its version must be at most {max_version}"
        source.fail(must, reprlib.repr(version), do="A newer localmdi wrote it: upgrade localmdi.")
    return version


@dataclass(frozen=True)
class _Entry:
    """One row of the array table."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    nbytes: int


def _parse_table(source: _Source, table: Any) -> list[_Entry]:
    """Check the array table; each array begins at the first multiple of 64 after the last one."""
    if not isinstance(table, list):
        source.fail("its array table must be a list", reprlib.repr(table))
    entries: list[_Entry] = []
    names = set()
    end = 0
    for row in table:
        entry = _parse_entry(source, row)
        if entry.name in names:
            source.fail("array names must be unique", f"{reprlib.repr(entry.name)} twice")
        if entry.offset != _aligned(end):
            must = f"array {reprlib.repr(entry.name)} must begin at byte {_aligned(end)}"
            source.fail(must, reprlib.repr(entry.offset))
        names.add(entry.name)
        entries.append(entry)
        end = entry.offset + entry.nbytes
    return entries


def _parse_entry(source: _Source, row: Any) -> _Entry:
    if not isinstance(row, dict) or row.keys() != {"name", "dtype", "shape", "offset"}:
        source.fail("an array has name, dtype, shape and offset", reprlib.repr(row))
    name, dtype, shape, offset = row["name"], row["dtype"], row["shape"], row["offset"]
    if not isinstance(name, str) or type(offset) is not int:
        source.fail(
            "the name of an array must be a string and its offset an integer", reprlib.repr(row)
        )
    if dtype not in _DTYPES:
        must = f"array {reprlib.repr(name)} must be of one of the types {', '.join(_DTYPES)}"
        source.fail(must, reprlib.repr(dtype), do="A newer localmdi may have written it: upgrade.")
    if (
        not isinstance(shape, list)
        or len(shape) > _MAX_DIMENSIONS
        or not all(type(length) is int and 0 <= length < 1 << 63 for length in shape)
        # NumPy multiplies the lengths of an empty array too, without the zeros.
        or math.prod(max(length, 1) for length in shape) >= 1 << 59
    ):
        source.fail(f"array {reprlib.repr(name)} must have a possible shape", reprlib.repr(shape))
    little = np.dtype(dtype).newbyteorder("<")
    return _Entry(name, little, tuple(shape), offset, math.prod(shape) * little.itemsize)


def _check_size(source: _Source, table: list[_Entry]) -> None:
    end = _aligned(source.position)
    if table:
        end += table[-1].offset + table[-1].nbytes
    expected = end + _CHECKSUM.size
    if source.size < expected:
        source.fail(f"it must have {expected} bytes", f"{source.size}: it is cut off")
    if source.size > expected:
        source.fail(f"it must have {expected} bytes", f"{source.size}: bytes follow its end")


def _read_array(source: _Source, entry: _Entry) -> AnyArray:
    source.skip_padding()
    data = np.empty(entry.nbytes, dtype=np.uint8)
    source.read_into(data)
    if entry.dtype == np.bool_ and data.size and data.max() > 1:
        source.fail(f"array {reprlib.repr(entry.name)} must hold 0 or 1", f"{data.max()}")
    little = data.view(entry.dtype).reshape(entry.shape)
    array: AnyArray = little.astype(entry.dtype.newbyteorder("="), copy=False)
    data.flags.writeable = False
    array.flags.writeable = False
    return array
