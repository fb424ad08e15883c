"""What the paper says in words about its summary table, counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paper.agreement import PAIRS
from paper.correlation import CORRELATIONS, summarise
from paper.piece import AS_READ, NOT_REPRODUCED, Claim

if TYPE_CHECKING:
    import numpy as np

__all__ = ["sentences"]

# Correlations of a dataset's rows, by rival and kind.
Rows = dict[tuple[str, str], "np.ndarray"]
# Per cent of the rows that are similar, by rival and kind, then by dataset.
Shares = dict[tuple[str, str], dict[str, float]]
_SOURCE = "Appendix E.2, text"


def sentences(correlations: dict[str, Rows]) -> tuple[Claim, ...]:
    """Return the claims about the share of rows that agree, from dataset title to correlations."""
    similar = {
        pair: {title: summarise(rows[pair]).above_75 for title, rows in correlations.items()}
        for pair in PAIRS
    }
    return _most_similar(similar), _four_and_two(similar), _uncorrelated(similar)


def _most_similar(similar: Shares) -> Claim:
    least, pair, title = min(
        (share, pair, title) for pair, shares in similar.items() for title, share in shares.items()
    )
    return Claim(
        _SOURCE,
        "Most of the importance vectors are similar.",
        "most rows",
        f"at least {least:.1f} % of the rows of every dataset; the least for {title}, "
        f"{pair[0]}, {pair[1]}",
        AS_READ if least > 50 else NOT_REPRODUCED,
        reading="more than half have a correlation of at least 0.75",
    )


def _four_and_two(similar: Shares) -> Claim:
    counts = {pair: _bands(shares) for pair, shares in similar.items()}
    by_kind = {
        kind: sorted({counts[pair] for pair in PAIRS if pair[1] == kind}) for kind in CORRELATIONS
    }
    ours = "; ".join(
        f"{kind}: "
        + " or ".join(
            f"{above} datasets above 90 %, {more} more above 80 %" for above, more in found
        )
        for kind, found in by_kind.items()
    )
    return Claim(
        _SOURCE,
        "More than 90 % importance vectors are similar (correlation ≥ 0.75) in four datasets (out "
        "of six) and more than 80 % in two datasets.",
        "4 datasets above 90 %, 2 more above 80 %",
        ours,
        AS_READ if by_kind["Spearman"] == [(4, 2)] else NOT_REPRODUCED,
        reading="Spearman's correlation, with both rivals",
    )


def _bands(shares: dict[str, float]) -> tuple[int, int]:
    above = sum(share > 90 for share in shares.values())
    return above, sum(80 < share <= 90 for share in shares.values())


def _uncorrelated(similar: Shares) -> Claim:
    apart = sorted(
        (100 - share, title, pair[0])
        for pair, shares in similar.items()
        for title, share in shares.items()
        if pair[1] == "Pearson" and share < 100
    )
    (least, first, rival), (most, last, other) = apart[0], apart[-1]
    return Claim(
        _SOURCE,
        "Roughly 1 % to 10 % of the samples, depending on the dataset, are associated with "
        "uncorrelated importance scores.",
        "1 % to 10 %",
        f"{least:.1f} % ({first}, {rival}) to {most:.1f} % ({last}, {other}); none on led",
        AS_READ if (round(least), round(most)) == (1, 10) else NOT_REPRODUCED,
        reading="rows with a Pearson correlation below 0.75, rounded to whole percents",
    )
