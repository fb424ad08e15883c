"""Figure 3 and its appendix version: local importances drawn on led segments and digit pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import plots
from paper import drawing, measures
from paper.correlation import pearson
from paper.curves import SIMILAR
from paper.data import load
from paper.piece import AS_READ, NOT_REPRODUCED, Claim, Picture, Piece, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paper.data import Dataset
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Maps", "compute", "run"]

MEASURES = ("Local MDI", "Saabas", "TreeSHAP")
# The paper does not say which two samples its figure shows.
_TWO = {"led": (2, 4), "digits": (0, 3)}

# In inches: the side of a map, what separates maps, and the room above and below them.
_SIDE, _GAP, _HEAD, _FOOT = 0.575, 0.06, 0.36, 0.6
# In maps: what separates the groups of K.
_SPACE = 0.2
_COLOURS = drawing.MEASURE_COLOURS
_ABOVE: dict[str, Any] = {
    "xycoords": "axes fraction",
    "textcoords": "offset points",
    "ha": "center",
    "fontsize": 8.5,
}


@dataclass(frozen=True, eq=False)
class Maps:
    """Shares of the local importances of some rows.

    Attributes
    ----------
    dataset : Dataset
        Led or digits.
    rows : tuple of int
        The rows shown, one of each class.
    numbers : tuple of int
        The values of K: 1, √p and p.
    shares : ndarray of shape (n_K, 3, n_rows, p)
        By K, measure and row: values divided by the sum of their absolute values, because the
        measures have different units (bits, and probability of the predicted class).
    """

    dataset: Dataset
    rows: tuple[int, ...]
    numbers: tuple[int, ...]
    shares: np.ndarray

    def select(self, rows: tuple[int, ...]) -> Maps:
        """Return the maps of some of the rows."""
        at = [self.rows.index(row) for row in rows]
        return Maps(self.dataset, rows, self.numbers, self.shares[:, :, at])


def run(settings: Settings, store: Store) -> Piece:
    """Compute and draw the maps of led and digits."""
    figures, tables, claims = [], [], []
    for name in ("led", "digits"):
        every = compute(load(name), settings=settings, store=store)
        two = every.select(tuple(every.rows[i] for i in _TWO[name]))
        for maps, file in ((two, f"figure-3-{name}"), (every, f"figure-3-{name}-all")):
            figures.append(Picture(file, _caption(maps, settings), _picture(maps), raster=True))
        tables.append(_table(every))
        claims.append(_claim(every))
    return Piece(
        name="maps",
        title="Figure 3: local importances of single samples",
        figures=tuple(figures),
        tables=tuple(tables),
        claims=tuple(claims),
    )


def compute(dataset: Dataset, *, settings: Settings, store: Store) -> Maps:
    """Return the maps of the first row of every class, for K = 1, √p and p."""
    p = dataset.X.shape[1]
    numbers = (1, math.isqrt(p), p)
    first = np.unique(dataset.y, return_index=True)[1]
    first = first[first < settings.rows(dataset.name, len(dataset.X))]
    values = []
    for K in numbers:
        shap = measures.treeshap(dataset, K, settings=settings, store=store)
        values.append(
            (
                measures.local_mdi(dataset, K, settings=settings)[first],
                measures.saabas(dataset, K, settings=settings)[first],
                shap[first],
            )
        )
    found = np.array(values)
    return Maps(
        dataset, tuple(first.tolist()), numbers, found / np.abs(found).sum(axis=-1, keepdims=True)
    )


def _claim(maps: Maps) -> Claim:
    sizes = np.abs(maps.shares)
    alike = {
        (first, second, K): float(pearson(sizes[k, a], sizes[k, b]).mean())
        for k, K in enumerate(maps.numbers)
        for (a, first), (b, second) in combinations(enumerate(MEASURES), 2)
    }
    (first, second, K), lowest = min(alike.items(), key=lambda item: item[1])
    return Claim(
        "Section 6, Figure 3",
        "The three local importance measures yield very similar importance scores: "
        f"{maps.dataset.name}, one sample of each class.",
        "very similar",
        f"{np.mean(list(alike.values())):.3f} on average over pairs and K, lowest {lowest:.3f} "
        f"({first} and {second}, K = {K})",
        AS_READ if lowest >= SIMILAR else NOT_REPRODUCED,
        reading=f"mean correlation of absolute values at least {SIMILAR}",
    )


def _table(maps: Maps) -> Table:
    rows = [
        (int(maps.dataset.y[row]), row, K, measure, *(f"{share:.5f}" for share in shares))
        for i, row in enumerate(maps.rows)
        for K, of_k in zip(maps.numbers, maps.shares, strict=True)
        for measure, shares in zip(MEASURES, of_k[:, i], strict=True)
    ]
    p = maps.shares.shape[-1]
    return Table(
        f"figure-3-{maps.dataset.name}",
        f"The numbers behind the maps of {maps.dataset.name}: local importances divided by the sum "
        "of their absolute values.",
        ("class", "row", "K", "measure", *(f"X_{m + 1}" for m in range(p))),
        tuple(rows),
    )


def _caption(maps: Maps, settings: Settings) -> str:
    name = maps.dataset.name
    part = "segment" if name == "led" else "pixel"
    more = (
        "Lit segments have a dark frame."
        if name == "led"
        else "Pixels beyond the ends of the scale, 1 % of all, have the colours of its tips."
    )
    return (
        f"Local importances on {name} from {settings.trees(name)} Extra-Trees with K = "
        f"{', '.join(map(str, maps.numbers))} (1, √p rounded down, p). Each {part} shows its share "
        "of the sum of absolute values, on one scale centred on zero. Teal lowers the "
        "uncertainty (local MDI) or raises the probability of the predicted class (Saabas, "
        f"TreeSHAP); orange does the opposite. {more} "
        f"{settings.note(name) if name == 'digits' else ''}"
    ).strip()


def _picture(maps: Maps) -> Figure:
    limit = _limit(maps)
    tall = _tall(maps)
    height = _HEAD + len(maps.rows) * (tall + _GAP) + _FOOT
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, height, layout="none")

        def place(column: float, line: int) -> Axes:
            x, y = _GAP + column * (_SIDE + _GAP), height - _HEAD - (line + 1) * (tall + _GAP)
            box = (x / drawing.TEXT, y / height, _SIDE / drawing.TEXT, tall / height)
            return figure.add_axes(box)

        for i, row in enumerate(maps.rows):
            _draw_sample(place(0, i), maps.dataset, row=row)
            for k, K in enumerate(maps.numbers):
                for j, measure in enumerate(MEASURES):
                    ax = place(1 + k * (3 + _SPACE) + _SPACE + j, i)
                    drawn = _draw_map(ax, maps, at=(k, j, i), limit=limit)
                    if i == 0:
                        ax.set_title(measure, fontsize=7, pad=3, color=_COLOURS[measure])
                        if j == 1:
                            ax.annotate(f"K = {K}", (0.5, 1), (0, 14), **_ABOVE)
        _scale(figure, drawn, clipped=bool(np.abs(maps.shares).max() > limit))
    return figure


def _limit(maps: Maps) -> float:
    """Return the end of the shared scale: the largest share, or one that few pixels exceed.

    With K = p a few pixels carry nearly everything; a scale that reached them would hide K = 1.
    """
    sizes = np.abs(maps.shares)
    return float(sizes.max() if maps.dataset.name == "led" else np.percentile(sizes, 99))


def _tall(maps: Maps) -> float:
    if maps.dataset.name != "led":
        return _SIDE
    # All ten samples must fit a page.
    return 0.95 if len(maps.rows) <= 5 else 0.7


def _draw_sample(ax: Axes, dataset: Dataset, *, row: int) -> None:
    if dataset.name == "led":
        colours = ["#333333" if lit else "white" for lit in dataset.X[row]]
        drawing.draw_segments(ax, colours)
        return
    ax.imshow(dataset.X[row].reshape(8, 8), cmap="gray_r", interpolation="nearest")
    drawing.fade(ax)


def _draw_map(ax: Axes, maps: Maps, *, at: tuple[int, int, int], limit: float) -> Any:
    values, row = maps.shares[at], maps.rows[at[2]]
    if maps.dataset.name == "led":
        lit = maps.dataset.X[row] > 0
        segments = plots.SegmentDisplay(values, unit="share", lit=lit)
        segments.plot(ax=ax, vmax=limit, colorbar=False)
        # Made for a whole page: here numbers cannot be read, and thick frames hide the colours.
        for text in list(ax.texts):
            text.remove()
        segments.mappable_.set_linewidths(np.where(lit, 0.9, 0.4))
        return segments.mappable_
    pixels = plots.ImageDisplay(values.reshape(8, 8), unit="share")
    pixels.plot(ax=ax, vmax=limit, colorbar=False)
    for spine in ax.spines.values():
        spine.set(visible=True, color="#b0b0b0", linewidth=0.4)
    return pixels.mappable_


def _scale(figure: Figure, drawn: Any, *, clipped: bool) -> None:
    height = figure.get_size_inches()[1]
    bar = figure.colorbar(
        drawn,
        cax=figure.add_axes((0.33, 0.36 / height, 0.4, 0.09 / height)),
        orientation="horizontal",
        extend="both" if clipped else "neither",
    )
    bar.set_label("share of the sum of absolute values")
    bar.outline.set_visible(False)
