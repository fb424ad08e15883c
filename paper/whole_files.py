"""Files that are complete or as they were before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside `path`, then rename: a full disk or Ctrl-C leaves the old file, and no other."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    # Processes may share a folder.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        # Nobody asked for that name.
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)
