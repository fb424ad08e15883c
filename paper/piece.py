"""What one part of the reproduction hands to the page: figures, tables, claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXACT", "INTERVAL", "NOT_REPRODUCED", "Claim", "Picture", "Piece", "Table", "Verdict"]

Verdict = Literal["exact", "within its interval", "not reproduced"]
EXACT: Verdict = "exact"
INTERVAL: Verdict = "within its interval"
NOT_REPRODUCED: Verdict = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """One statement of the paper beside what was computed.

    Attributes
    ----------
    source : str
        Where the paper says it: "Appendix E, table of correlations".
    text : str
        What is claimed, in the paper's words or nearly.
    printed : str
        The printed value or words.
    ours : str
        What was computed.
    verdict : str
        "exact", "within its interval" or "not reproduced"; computed, never written by hand.
    in_table : bool
        Whether a table of the piece shows the same line, so that the page need not repeat it.
    """

    source: str
    text: str
    printed: str
    ours: str
    verdict: Verdict
    in_table: bool = False

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verdict):
            raise ValueError(
                f"verdict must be one of {', '.join(get_args(Verdict))}, "
                f"but {self.verdict!r} was given."
            )


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its files, its caption, and the drawing."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Table:
    """A table: the name of its files, its caption, the heads of its columns, and its cells."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Piece:
    """One part of the reproduction, as its module's ``run(settings, store)`` returns it."""

    name: str
    title: str
    figures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = field(default=())
