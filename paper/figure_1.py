"""Figure 1 and its appendix versions: global importances on led against K = 1..7.

The exact curves are those of infinitely many trees, in both meanings of K (`lm.theory`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from paper import drawing, measures
from paper.curves import SIMILAR
from paper.data import load
from paper.draws import exact_curve
from paper.piece import AS_READ, NOT_REPRODUCED, Claim, Picture, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paper.settings import Settings
    from paper.store import Store

__all__ = ["Curve", "normalise", "run"]

MDI = "Global MDI"
SAGE = "SAGE (cross-entropy)"
SAGE_MSE = "SAGE (mse)"
INTERVENTIONAL = "mean |TreeSHAP| (interventional)"
PATH_DEPENDENT = "mean |TreeSHAP| (path-dependent)"

_SECTION = "Section 6, Figure 1"
_APPENDIX = "Appendix D, global figure"


@dataclass(frozen=True, eq=False)
class Curve:
    """One measure's normalised importances, (n_K, n_features), and their standard errors."""

    title: str
    values: np.ndarray
    error: np.ndarray | None = None


def run(settings: Settings, store: Store) -> Piece:
    """Compute, draw and judge the global importances on led."""
    numbers = settings.led_max_features
    curves = _curves(settings, store)
    exact = {draw: exact_curve(draw) for draw in ("sklearn", "theory")}
    note = settings.note("led")
    return Piece(
        name="figure-1",
        title="Figure 1: global importances against K",
        figures=(
            Picture("figure-1", _main_caption(settings), _main(curves, settings, exact=exact)),
            Picture(
                "figure-1-appendix",
                "Appendix D: the same with the other loss of SAGE and with the mean absolute value "
                f"of TreeSHAP for the predicted class. Lines join the points. {note}".strip(),
                _appendix(curves, numbers),
            ),
        ),
        tables=(_table(curves, numbers, exact=exact),),
        claims=(
            *_similarity_claims(curves, numbers),
            *_masking_claims(curves),
        ),
    )


def normalise(values: np.ndarray) -> np.ndarray:
    """Divide importances by the sum of their absolute values, along the last axis.

    Examples
    --------
    >>> normalise(np.array([3.0, -1.0])).tolist()
    [0.75, -0.25]
    """
    return np.asarray(values / np.abs(values).sum(axis=-1, keepdims=True))


def _curves(settings: Settings, store: Store) -> dict[str, Curve]:
    led, numbers = load("led"), settings.led_max_features
    forests = [measures.recipe(led, K, settings=settings).grow() for K in numbers]
    mdi = [lm.global_mdi(forest) for forest in forests]
    total = np.array([result.values.sum() for result in mdi])[:, np.newaxis]
    found = [
        Curve(
            MDI,
            np.array([result.values for result in mdi]) / total,
            # Every fully grown tree has the same sum H(Y), so the errors scale with the values.
            np.array([result.standard_error for result in mdi]) / total,
        )
    ]
    for title, loss in ((SAGE, "cross entropy"), (SAGE_MSE, "mse")):
        sage = measures.sage(led, numbers, settings=settings, store=store, loss=loss)
        scale = np.abs(sage[:, 0]).sum(axis=1, keepdims=True)
        found.append(Curve(title, sage[:, 0] / scale, sage[:, 1] / scale))
    for title, how in (
        (INTERVENTIONAL, "interventional"),
        (PATH_DEPENDENT, "tree_path_dependent"),
    ):
        local = [
            measures.treeshap(led, K, settings=settings, store=store, perturbation=how)
            for K in numbers
        ]
        found.append(Curve(title, normalise(np.abs(local).mean(axis=1))))
    return {curve.title: curve for curve in found}


def _similarity_claims(curves: dict[str, Curve], numbers: Sequence[int]) -> Iterable[Claim]:
    mdi, sage = curves[MDI].values, curves[SAGE].values
    alike = [np.corrcoef(a, b)[0, 1] for a, b in zip(mdi, sage, strict=True)]
    apart = np.abs(mdi - sage).max(axis=1)
    statements = (
        ("With K = 1, both approaches clearly yield very similar scores.", [numbers.index(1)]),
        (
            "Both methods remain very close when K is increased.",
            [i for i, K in enumerate(numbers) if K > 1],
        ),
    )
    for text, at in statements:
        low, far = min(alike[i] for i in at), max(apart[i] for i in at)
        yield Claim(
            _SECTION,
            text,
            "very similar",
            f"correlation ≥ {low:.3f}, largest difference {far:.3f} of a total of 1",
            AS_READ if low >= SIMILAR else NOT_REPRODUCED,
            reading=f"correlation at least {SIMILAR}",
        )


def favoured(curve: Curve) -> tuple[int, int]:
    """Return the two features, counted from 0, that gain most from the first K to the last.

    Examples
    --------
    >>> favoured(Curve("any", np.array([[0.4, 0.3, 0.3], [0.2, 0.35, 0.45]])))
    (1, 2)
    """
    gain = curve.values[-1] - curve.values[0]
    first, second = sorted(np.argsort(-gain)[:2].tolist())
    return first, second


def _masking_claims(curves: dict[str, Curve]) -> Iterable[Claim]:
    texts = {
        _SECTION: "The masking effect favors X_1 and X_4 at the expense of the other variables "
        "when K increases",
        _APPENDIX: "The same effect appears",
    }
    for title, curve in curves.items():
        source = _SECTION if title in (MDI, SAGE) else _APPENDIX
        pair = favoured(curve)
        rise = curve.values[-1] - curve.values[0]
        yield Claim(
            source,
            f"{texts[source]}: {title}.",
            "X_1 and X_4",
            " and ".join(
                f"X_{m + 1} ({curve.values[0, m]:.3f} → {curve.values[-1, m]:.3f})" for m in pair
            ),
            AS_READ if pair == (1, 4) and min(rise[list(pair)]) > 0 else NOT_REPRODUCED,
            reading="counted from 0 (M3): X_2 and X_5 gain most from K = 1 to K = 7",
        )


def _table(
    curves: dict[str, Curve], numbers: Sequence[int], *, exact: dict[str, np.ndarray]
) -> Table:
    rows = []
    for curve in curves.values():
        for i, K in enumerate(numbers):
            rows.append((curve.title, K, "value", *_cells(curve.values[i])))
            if curve.error is not None:
                rows.append((curve.title, K, "standard error", *_cells(curve.error[i])))
    for draw, values in exact.items():
        title = f"Global MDI, exact (draw={draw!r})"
        rows.extend((title, K, "value", *_cells(values[K - 1])) for K in numbers)
    return Table(
        "figure-1",
        "The numbers behind figure 1 and its appendix versions: importances divided by the sum of "
        "their absolute values.",
        ("measure", "K", "what", *(f"X_{m + 1}" for m in range(7))),
        tuple(rows),
    )


def _cells(values: np.ndarray) -> tuple[str, ...]:
    return tuple(f"{value:.5f}" for value in values)


def _main_caption(settings: Settings) -> str:
    return (
        f"Normalised importances on led from {settings.n_trees} Extra-Trees for K = 1..7. Left: "
        "global MDI (points) and the exact importances of infinitely many trees, with K as in "
        "scikit-learn (solid) and as in the theory (dashed). Right: SAGE with the cross-entropy "
        "loss (points, joined), beside the exact global MDI (grey). "
        f"{settings.note('led')}"
    ).strip()


def _main(curves: dict[str, Curve], settings: Settings, *, exact: dict[str, np.ndarray]) -> Figure:
    numbers, everything = settings.led_max_features, range(1, 8)
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 2.9)
        left, right, key = figure.subplots(1, 3, width_ratios=(1, 1, 0.32))
        right.sharey(left)
        right.tick_params(labelleft=False)
        _points(left, curves[MDI], numbers=numbers)
        for m, colour in enumerate(drawing.SEGMENT_COLOURS):
            left.plot(everything, exact["sklearn"][:, m], color=colour, zorder=1)
            left.plot(everything, exact["theory"][:, m], "--", color=colour, lw=0.9, zorder=1)
            right.plot(everything, exact["sklearn"][:, m], color="#b5b5b5", lw=1.0, zorder=0)
        _points(right, curves[SAGE], numbers=numbers, joined=True)
        _frame(left, MDI, ylabel="share of the total importance")
        _frame(right, SAGE)
        _from_zero((left, right))
        drawing.draw_segment_key(key)
        _legend(figure, f"{settings.n_trees} Extra-Trees")
    return figure


def _legend(figure: Figure, points: str) -> None:
    from matplotlib.lines import Line2D

    dark = "#404040"
    figure.legend(
        handles=[
            Line2D([], [], color=dark, marker="o", ls="none", label=points),
            Line2D([], [], color=dark, label="exact, K as in scikit-learn"),
            Line2D([], [], color=dark, ls="--", lw=0.9, label="exact, K as in the theory"),
            Line2D([], [], color="#b5b5b5", lw=1.0, label="exact global MDI"),
        ],
        loc="outside lower center",
        ncols=4,
        handlelength=1.8,
        columnspacing=1.4,
    )


def _appendix(curves: dict[str, Curve], numbers: Sequence[int]) -> Figure:
    with drawing.style():
        figure = drawing.new_figure(drawing.TEXT, 2.5)
        *panels, key = figure.subplots(1, 4, width_ratios=(1, 1, 1, 0.42))
        for ax, title in zip(panels, (SAGE_MSE, INTERVENTIONAL, PATH_DEPENDENT), strict=True):
            ax.sharey(panels[0])
            ax.tick_params(labelleft=ax is panels[0])
            _points(ax, curves[title], numbers=numbers, joined=True)
            _frame(ax, title.replace(" (", "\n("))
        panels[0].set_ylabel("share of the total importance")
        _from_zero(panels)
        drawing.draw_segment_key(key)
    return figure


def _points(ax: Axes, curve: Curve, *, numbers: Sequence[int], joined: bool = False) -> None:
    for m, (colour, marker) in enumerate(
        zip(drawing.SEGMENT_COLOURS, drawing.SEGMENT_MARKERS, strict=True)
    ):
        ax.plot(
            numbers,
            curve.values[:, m],
            marker=marker,
            color=colour,
            ls="-" if joined else "none",
            lw=0.7,
            markeredgecolor="white",
            markeredgewidth=0.4,
            markersize=4.8,
        )
    drawing.label_ends(ax, curve.values[-1], x=max(numbers) + 0.22, gap=0.013)


def _frame(ax: Axes, title: str, *, ylabel: str = "") -> None:
    ax.set(title=title, xlabel="K", xticks=range(1, 8), ylabel=ylabel)
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.5)
    ax.set_axisbelow(True)


def _from_zero(panels: Iterable[Axes]) -> None:
    """Let panels that share their scale start at zero and end above every curve."""
    for ax in panels:
        highest = max(float(np.max(line.get_ydata())) for line in ax.lines)
        ax.set_ylim(0, max(1.06 * highest, ax.get_ylim()[1]))
