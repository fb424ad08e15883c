"""Universal Binary JSON, the binary form of XGBoost's models, without running anything of it."""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBERS: Mapping[bytes, np.dtype[Any]] = MappingProxyType(
    {
        b"i": np.dtype(">i1"),
        b"U": np.dtype(">u1"),
        b"I": np.dtype(">i2"),
        b"l": np.dtype(">i4"),
        b"L": np.dtype(">i8"),
        b"d": np.dtype(">f4"),
        b"D": np.dtype(">f8"),
    }
)
_CONSTANTS: Mapping[bytes, bool | None] = MappingProxyType({b"T": True, b"F": False, b"Z": None})
# XGBoost's own files are about ten levels deep.
_MAX_DEPTH = 64


def decode_ubjson(content: bytes) -> Any:
    r"""Return the document: dicts, lists, strings, numbers, and arrays where numbers have one type.

    Memory stays in proportion to the content, whatever lengths it claims.

    Raises
    ------
    FileFormatError
        It is not a whole document, or one of unusual depth.

    Examples
    --------
    >>> decode_ubjson(b"{U\x01a[$U#U\x03\x01\x02\x03U\x01bSU\x02hi}")
    {'a': array([1, 2, 3], dtype=uint8), 'b': 'hi'}
    """
    reader = _Reader(content)
    document = reader.value(reader.take(1), depth=0)
    if reader.at != len(content):
        raise _damaged(f"{len(content) - reader.at} bytes are left after the end", reader.at)
    return document


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def take(self, n: int) -> bytes:
        part = self._content[self.at : self.at + n]
        if len(part) != n:
            raise _damaged("the file ends too early", self.at)
        self.at += n
        return part

    def value(self, kind: bytes, *, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _damaged(f"it is nested deeper than {_MAX_DEPTH}", self.at)
        if kind in _NUMBERS:
            return self._number(kind)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind == b"S":
            return self._text()
        if kind == b"C":
            return self.take(1).decode("latin-1")
        if kind == b"[":
            return self._array(depth)
        if kind == b"{":
            return self._object(depth)
        raise _damaged(f"the type {kind!r} is not known", self.at)

    def _number(self, kind: bytes) -> int | float:
        dtype = _NUMBERS[kind]
        number: int | float = np.frombuffer(self.take(dtype.itemsize), dtype=dtype)[0].item()
        return number

    def _length(self) -> int:
        kind = self.take(1)
        # The usual case by far, without an array.
        if kind == b"L":
            n = struct.unpack(">q", self.take(8))[0]
        elif kind in _NUMBERS and kind not in (b"d", b"D"):
            n = self._number(kind)
        else:
            raise _damaged(f"a length cannot have the type {kind!r}", self.at)
        if not 0 <= n <= len(self._content):
            raise _damaged(f"a length of {n} does not fit the file", self.at)
        return int(n)

    def _text(self) -> str:
        try:
            return self.take(self._length()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _damaged(f"a text is not UTF-8: {error}", self.at) from error

    def _container(self) -> tuple[bytes | None, int | None]:
        """Return the common type and the number of the entries, where they are told."""
        kind = None
        if self._content[self.at : self.at + 1] == b"$":
            self.at += 1
            kind = self.take(1)
        if self._content[self.at : self.at + 1] == b"#":
            self.at += 1
            return kind, self._length()
        if kind is not None:
            raise _damaged("entries of one type must be counted", self.at)
        return None, None

    def _array(self, depth: int) -> Any:
        kind, n = self._container()
        dtype = None if kind is None else _NUMBERS.get(kind)
        if dtype is not None and n is not None:
            packed = np.frombuffer(self.take(n * dtype.itemsize), dtype=dtype)
            return packed.astype(dtype.newbyteorder("="))
        if n is None:
            items = []
            while (tag := self.take(1)) != b"]":
                items.append(self.value(tag, depth=depth + 1))
            return items
        self._check_entries(kind)
        return [self.value(kind or self.take(1), depth=depth + 1) for _ in range(n)]

    def _object(self, depth: int) -> dict[str, Any]:
        kind, n = self._container()
        self._check_entries(kind)
        found: dict[str, Any] = {}
        while n is None or len(found) < n:
            if n is None and self._content[self.at : self.at + 1] == b"}":
                self.at += 1
                break
            key = self._text()
            if key in found:
                raise _damaged(f"the key {key[:40]!r} stands there twice", self.at)
            found[key] = self.value(kind or self.take(1), depth=depth + 1)
        return found

    def _check_entries(self, kind: bytes | None) -> None:
        # Entries without a byte of their own could be claimed in any number.
        if kind in _CONSTANTS:
            raise _damaged(f"entries of the type {kind!r} take no room", self.at)


def _damaged(problem: str, at: int) -> FileFormatError:
    return FileFormatError(
        f"this is no UBJSON file that can be read: {problem}, at byte {at}. "
        "Save the model again with Booster.save_model."
    )
