"""Writing a file as a whole: it gets its name only once it is complete."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


_MODE = 0o666  # less what the umask forbids, as for any new file


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to; on success the file takes the name `path`, else it is gone.

    Where the system can do so (Linux), the file has no name while it is written, so that even a
    killed process leaves nothing behind. Elsewhere it has a temporary name beside `path`. A
    symbolic link stays one: the file that it points to is replaced.

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
    if os.path.lexists(target) and not os.path.isfile(target):
        raise ValueError(f"the path must name a regular file; got {target!r}. Choose a file name.")
    temporary = Path(target).with_name(f".localmdi-{uuid.uuid4().hex}.tmp")
    nameless = _open_nameless(os.path.dirname(target))
    try:
        if nameless is None:
            yield temporary
        else:
            yield _path_of(nameless)
            _give_name(nameless, temporary)
        os.replace(temporary, target)
    except OSError as error:
        if str(error.filename) == str(temporary):
            # Nobody asked for that name; the second one of a failed rename is no news either.
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        if nameless is not None:
            os.close(nameless)
        with suppress(OSError):
            temporary.unlink()


def _open_nameless(folder: str) -> int | None:
    """Open a new file without a name in this folder; None where that cannot be done."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        number = os.open(folder, flag | os.O_RDWR | os.O_CLOEXEC, _MODE)
    except OSError:
        # A file system without such files, or a folder that is not writable: opening a file with
        # a name will tell.
        return None
    if _path_of(number).exists():
        return number
    os.close(number)
    return None


def _path_of(number: int) -> Path:
    return Path(f"/proc/self/fd/{number}")


def _give_name(number: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With a folder given, Python follows the link in /proc to the file itself.
        os.link(_path_of(number), path, src_dir_fd=folder)
    finally:
        os.close(folder)
