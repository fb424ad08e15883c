"""A progress bar that costs nothing when it is off."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


def progress_bar(
    show: bool, total: int, *, unit: str
) -> AbstractContextManager[Callable[[int], object]]:
    """Give a function to call with the number of units done; it draws a tqdm bar if `show`.

    Examples
    --------
    >>> with progress_bar(False, 10, unit="row") as advance:
    ...     advance(10)
    """
    return _tqdm_bar(total, unit) if show else nullcontext(_draw_nothing)


def _draw_nothing(done: int) -> None:
    pass


@contextmanager
def _tqdm_bar(total: int, unit: str) -> Iterator[Callable[[int], object]]:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError(
            "progress=True needs tqdm, which is not installed. "
            "Install it with pip install localmdi[progress], or pass progress=False."
        ) from error
    with tqdm(total=total, unit=unit) as bar:
        yield bar.update
