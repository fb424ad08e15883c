"""What the options of the commands say, as the rest of the command line passes it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "DemoSettings",
    "ExplainSettings",
    "ForestSettings",
    "GlobalSettings",
    "InfiniteSettings",
    "TableSettings",
]


@dataclass(frozen=True, kw_only=True)
class ForestSettings:
    """How to grow, and how to speak.

    Examples
    --------
    >>> ForestSettings(seed=0, jobs=1, quiet=True, as_json=False).trees is None
    True
    """

    seed: int
    jobs: int
    quiet: bool
    as_json: bool
    trees: int | None = None
    max_features: Any = 1


@dataclass(frozen=True, kw_only=True)
class DemoSettings(ForestSettings):
    """Options of ``localmdi demo``.

    Examples
    --------
    >>> from pathlib import Path
    >>> DemoSettings(seed=0, jobs=1, quiet=True, as_json=False, report=Path("a.html")).report.name
    'a.html'
    """

    report: Path


@dataclass(frozen=True, kw_only=True)
class TableSettings(ForestSettings):
    """Which table to read, and how.

    Examples
    --------
    >>> from pathlib import Path
    >>> TableSettings(seed=0, jobs=1, quiet=True, as_json=False, data=Path("a.csv")).encoding
    'utf8'
    """

    data: Path | None
    target: str | None = None
    task: str | None = None
    separator: str | None = None
    encoding: str = "utf8"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    fit_rows: int = 100_000
    output: Path | None = None

    @property
    def path(self) -> Path:
        """The table's file; commands without one do not ask."""
        if self.data is None:
            raise ValueError("DATA must be given; it was not.")
        return self.data


@dataclass(frozen=True, kw_only=True)
class GlobalSettings(TableSettings):
    """Options of ``localmdi global``.

    Examples
    --------
    >>> GlobalSettings(seed=0, jobs=1, quiet=True, as_json=False, data=None).model is None
    True
    """

    model: Path | None = None
    allow_pickle: bool = False


@dataclass(frozen=True, kw_only=True)
class ExplainSettings(GlobalSettings):
    """Options of ``localmdi explain``.

    Examples
    --------
    >>> from pathlib import Path
    >>> ExplainSettings(seed=0, jobs=1, quiet=True, as_json=False, data=Path("a.csv")).show
    1
    """

    rows: Any = None
    report: Path | None = None
    save_model: Path | None = None
    predict: bool = True
    show: int = 1


@dataclass(frozen=True, kw_only=True)
class InfiniteSettings(TableSettings):
    """Options of ``localmdi infinite``.

    Examples
    --------
    >>> from pathlib import Path
    >>> InfiniteSettings(seed=0, jobs=1, quiet=True, as_json=False, data=Path("a.csv")).method
    'auto'
    """

    at: Any = None
    criterion: str | None = None
    method: str = "auto"
    bins: Any = None
    missing: str = "error"
    report: Path | None = None
    show: int = 1
