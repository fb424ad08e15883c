"""A table whose reader is not trusted: its batches are bounded, checked, and read within limits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from localmdi.cli.barrier import reading
from localmdi.exceptions import LocalMDIError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.cli.tables.kinds import Kind
    from localmdi.cli.tables.open import TableFile

__all__ = ["GuardedTable", "read_carefully"]

# A batch of a wide table has fewer rows, and none may take more memory than this.
_BATCH_VALUES = 1 << 22
_FEWEST_ROWS = 64
_BATCH_BYTES = 1 << 30


class GuardedTable:
    """A table in a file from outside.

    Parameters
    ----------
    table : TableFile
        What reads the file.
    """

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self.path: Path = table.path
        self.names: tuple[str, ...] = table.names
        self.n_rows: int | None = table.n_rows
        self.kinds: Mapping[str, Kind] | None = table.kinds

    def batches(self, names: Sequence[str], batch_rows: int) -> Iterator[Any]:
        """Yield these columns as sound Arrow tables of at most `batch_rows` rows."""
        rows = min(batch_rows, max(_FEWEST_ROWS, _BATCH_VALUES // max(1, len(names))))
        parts = self._table.batches(names, rows)
        while True:
            with read_carefully(self.path):
                part = next(parts, None)
                if part is None:
                    return
                # A damaged file gives arrays whose offsets point anywhere.
                part.validate(full=True)
            if part.nbytes > _BATCH_BYTES:
                raise ValueError(
                    f"{self.path.name!r} has rows that take too much memory: {part.num_rows} of "
                    f"them {part.nbytes / 2**30:.1f} GiB. Look for very large cells."
                )
            yield part


@contextmanager
def read_carefully(path: Path) -> Iterator[None]:
    """Read a part of a table; whatever its reader raises becomes an error of ours."""
    try:
        with reading(path, mute=True):
            yield
    except (LocalMDIError, ImportError):
        raise
    except OSError as error:
        if error.errno is not None:
            raise
        raise _unreadable(path, error) from error
    except ValueError as error:
        # Arrow's own errors are ValueErrors too.
        if type(error) is ValueError:
            raise
        raise _unreadable(path, error) from error
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"{path.name!r} is not a readable table ({type(error).__name__}: {error!s:.300}). "
        "Save it again."
    )
