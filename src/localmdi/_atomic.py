"""Writing a file as a whole: it gets its name only once it is complete."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write_atomically"]


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the name, else it is removed.

    A symbolic link stays one: the file that it points to is replaced.

    Raises
    ------
    ValueError
        The path names a directory, a device or the like.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with write_atomically(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("text")
    ...     [found.name for found in Path(folder).iterdir()]
    ['a.txt']
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"the path must name a regular file; got {target!r}. Choose a file name.")
    temporary = Path(target).with_name(f".localmdi-{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        if str(error.filename) == str(temporary):
            # Nobody asked for that name; the second one of a failed rename is no news either.
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink()
