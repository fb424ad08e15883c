"""The table of the six datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paper.data import NAMES, load
from paper.piece import EXACT, NOT_REPRODUCED, Claim, Piece, Table
from paper.printed import DATASETS

if TYPE_CHECKING:
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["run"]


def run(settings: Settings, store: Store) -> Piece:
    """Count rows, features and their types."""
    rows, claims = [], []
    for name in NAMES:
        data = load(name)
        ours = (*data.X.shape, data.feature_types)
        verdict = EXACT if ours == DATASETS[name] else NOT_REPRODUCED
        rows.append((data.title, *ours, *DATASETS[name], verdict))
        claims.append(
            Claim(
                "Appendix E, table of datasets",
                f"{data.title}: samples, features, types of the features.",
                _sentence(DATASETS[name]),
                _sentence(ours),
                verdict,
                in_table=True,
            )
        )
    return Piece(
        name="datasets",
        title="The datasets",
        tables=(
            Table(
                "datasets",
                "The datasets: our numbers beside the printed ones. Rows are float32; labels count "
                "from 0; led (sampled) is drawn with seed 0.",
                (
                    *("dataset", "samples", "features", "types"),
                    *("samples, printed", "features, printed", "types, printed", "verdict"),
                ),
                tuple(rows),
            ),
        ),
        claims=tuple(claims),
    )


def _sentence(row: tuple[int, int, str]) -> str:
    n_rows, n_features, types = row
    return f"{n_rows}, {n_features}, {types}"
