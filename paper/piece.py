"""What one part of the reproduction hands to the page: figures, tables, claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AS_READ",
    "EXACT",
    "INTERVAL",
    "NOT_REPRODUCED",
    "VERDICTS",
    "Claim",
    "Picture",
    "Piece",
    "Table",
    "Verdict",
]

Verdict = Literal["exact", "holds as read", "within its interval", "not reproduced"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
EXACT: Verdict = "exact"
AS_READ: Verdict = "holds as read"
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
        "exact", "holds as read", "within its interval" or "not reproduced"; computed, never
        written by hand.
    reading : str
        What words that name no number, or no place, are taken to mean. Such a claim is never exact.
    because : str
        What a claim that is not reproduced is: "a misprint (M1)", "a reading".
    in_table : bool
        Whether a table of the piece shows the same line, so that the page need not repeat it.
    """

    source: str
    text: str
    printed: str
    ours: str
    verdict: Verdict
    reading: str = ""
    because: str = ""
    in_table: bool = False

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(
                f"verdict must be one of {', '.join(VERDICTS)}, but {self.verdict!r} was given."
            )
        if (self.verdict == EXACT and self.reading) or (
            self.verdict == AS_READ and not self.reading
        ):
            raise ValueError(
                f"a claim must be {AS_READ!r} if it has a reading and {EXACT!r} if it has none, "
                f"but {self.verdict!r} was given with the reading {self.reading!r}."
            )

    @property
    def label(self) -> str:
        """The verdict, and what a claim that is not reproduced is.

        Examples
        --------
        >>> Claim("E", "87 %", "87", "100", NOT_REPRODUCED, because="a misprint (M1)").label
        'not reproduced: a misprint (M1)'
        """
        known = self.verdict == NOT_REPRODUCED and self.because
        return f"{self.verdict}: {self.because}" if known else self.verdict


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its files, its caption, and the drawing.

    `raster`: on the page it is a picture of pixels, because its thousands of shapes would need
    much more room as lines.
    """

    name: str
    caption: str
    figure: Figure
    raster: bool = False


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
