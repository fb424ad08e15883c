"""The paper's summary table: correlations of local MDI with Saabas and TreeSHAP, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paper.agreement import PAIRS, led_draws, row_correlations
from paper.data import load
from paper.estimate import Estimate, from_all_rows, from_draws, from_some_rows, worst
from paper.piece import Claim, Piece, Table
from paper.printed import SUMMARY
from paper.sentences import sentences

if TYPE_CHECKING:
    import numpy as np

    from paper.piece import Verdict
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Line", "lines", "run"]

# In the order of the paper's table.
_ORDER = ("wine", "iris", "breast_cancer", "led", "led_sampled", "digits")
_SOURCE = "Appendix E, summary of results"
_HEADS = ("average", "std", "% ≥ .9", "% ≥ .75")


@dataclass(frozen=True)
class Line:
    """One line of the table: the printed cells and ours."""

    dataset: str
    rival: str
    kind: str
    printed: tuple[str, ...]
    ours: tuple[Estimate, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """Our cells, with as many digits as are printed."""
        return tuple(
            ours.text(printed) for ours, printed in zip(self.ours, self.printed, strict=True)
        )

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of the four cells."""
        return worst([o.verdict(p) for o, p in zip(self.ours, self.printed, strict=True)])

    @property
    def is_misprinted(self) -> bool:
        """Whether more rows are printed to reach .9 than to reach .75, which cannot be."""
        return float(self.printed[2]) > float(self.printed[3])

    @property
    def claim(self) -> Claim:
        """The line as a row of the page's list of claims."""
        return Claim(
            _SOURCE,
            f"{self.dataset}: local MDI against {self.rival}, {self.kind}'s correlation (average, "
            "standard deviation, shares of the rows ≥ .9 and ≥ .75 in %).",
            "; ".join(self.printed),
            "; ".join(self.cells),
            self.verdict,
            because="a misprint (M1)" if self.is_misprinted else "",
            in_table=True,
        )


def lines(
    settings: Settings,
    *,
    correlations: dict[str, dict[tuple[str, str], np.ndarray]],
    draws: dict[tuple[str, str], np.ndarray],
) -> list[Line]:
    """Set the printed lines beside ours; the misprinted one appears as printed and as meant."""
    found = []
    for rival, kind in PAIRS:
        for name, rows in correlations.items():
            data = load(name)
            printed = SUMMARY[name, rival, kind]
            if name == "led_sampled":
                ours = from_draws(draws[rival, kind])
            elif len(rows[rival, kind]) < len(data.X):
                ours = from_some_rows(rows[rival, kind])
            else:
                ours = from_all_rows(rows[rival, kind])
            found.append(Line(data.title, rival, kind, printed, tuple(ours)))
            if found[-1].is_misprinted:
                average, deviation, above_90, above_75 = printed
                meant = (average, deviation, above_75, above_90)
                title = f"{data.title}, the shares swapped back (M1)"
                found.append(Line(title, rival, kind, meant, tuple(ours)))
    return found


def run(settings: Settings, store: Store) -> Piece:
    """Compare every cell of the summary table, and what the paper says about it."""
    correlations = {
        name: row_correlations(load(name), settings=settings, store=store) for name in _ORDER
    }
    table = lines(settings, correlations=correlations, draws=led_draws(settings, store))
    titled = {load(name).title: rows for name, rows in correlations.items()}
    return Piece(
        name="summary",
        title="Agreement with Saabas and TreeSHAP",
        tables=(
            Table(
                "summary",
                _caption(settings),
                (
                    *("rival", "correlation", "dataset"),
                    *(f"{head}, {who}" for head in _HEADS for who in ("printed", "ours")),
                    "verdict",
                ),
                tuple(_row(line) for line in table),
            ),
        ),
        claims=(*(line.claim for line in table), *sentences(titled)),
    )


def _row(line: Line) -> tuple[str, ...]:
    pairs = zip(line.printed, line.cells, strict=True)
    cells = [cell for pair in pairs for cell in pair]
    return (line.rival, line.kind, line.dataset, *cells, line.claim.label)


def _caption(settings: Settings) -> str:
    caption = (
        "Correlations of the signed local MDI of every row with Saabas and with path-dependent "
        "TreeSHAP of the predicted class (K = 1, forest seed 0), printed beside ours. The paper's "
        f"led sample was not seeded: ours gives the mean over {settings.n_draws} draws and where "
        "one more draw lies with 99 %. One line is printed with its two shares swapped (M1): it "
        "appears as printed and as meant."
    )
    if settings.is_full:
        return caption
    return (
        f"{caption} Quick mode: digits against TreeSHAP on the first {settings.n_rows_digits} rows "
        "only, with 99 % intervals for all rows."
    )
