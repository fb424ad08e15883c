"""What a terminal and a notebook show of a result: a few lines, a small table, its plots."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, cut, number_text, with_unit
from localmdi.results.frames import top_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.results.global_ import GlobalImportance
    from localmdi.results.local import LocalImportance
    from localmdi.results.parts import ClassImportance, InteractionImportance, PairImportance
    from localmdi.typing import FloatArray

# Of a large result, the rows of at most so many values are described.
_MAX_VALUES = 1_000_000
_N_LOCAL = 3
_N_GLOBAL = 5
_MOST_BARS = 10
_LONGEST_NAME = 40
_WIDEST_BAR, _NARROWEST_BAR = 120, 30  # pixels
# Readable on white and on black; text takes the notebook's own colour.
_REMOVED, _RAISED = "#1c9099", "#e08214"


class Plotted:
    """A result that offers its plots."""

    @property
    def plot(self) -> Any:
        """The plots of a result, `localmdi.plots.accessor.PlotMethods`.

        ``result.plot.bar()`` is ``BarDisplay.from_result(result)``, and so on.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from localmdi.results import GlobalImportance
        >>> result = GlobalImportance(np.array([0.25, 0.75]), unit="bits", n_trees=10,
        ...                           feature_names=("a", "b"))
        >>> display = result.plot.bar()
        >>> type(display).__name__
        'BarDisplay'
        >>> plt.close(display.figure_)
        """
        # The room that draws lies above this one. It offers itself as an entry point of the
        # package, as the backends of pandas' plots do, and is loaded when it is needed.
        from importlib.metadata import entry_points

        offered = next(iter(entry_points(group="localmdi.pictures", name="matplotlib")))
        return offered.load()(self)


def describe_local(result: LocalImportance) -> str:
    """Describe a local result; of a large one, only the first rows are looked at."""
    n_rows, n_features = result.shape
    lines = [_head(result, count(n_rows, "row"))]
    if not n_rows or not n_features:
        return lines[0]
    if result.baseline is not None and result.residual is not None:
        word = "baseline" if isinstance(result.baseline, float) else "mean baseline"
        level, left = float(np.nanmean(result.baseline)), float(np.nanmean(result.residual))
        lines.append(f"  {word} {level:.4g}, mean residual {left:.4g}")
    seen = min(n_rows, max(1, _MAX_VALUES // n_features))
    some = "" if seen == n_rows else f" of the first {count(seen, 'row')}"
    lines.append(f"  largest by mean value{some}:")
    # The same order as that of `mean` and of the global importance.
    size = result[:seen].mean().values if seen < n_rows else result.mean().values
    return "\n".join(
        lines + _largest(size, result.feature_names.__getitem__, most=_N_LOCAL, indent="    ")
    )


def describe_global(result: GlobalImportance) -> str:
    """Describe a global result."""
    lines = [_head(result)]
    if len(result):
        lines += _largest(
            result.values, result.feature_names.__getitem__, most=_N_GLOBAL, indent="  "
        )
    return "\n".join(lines)


def describe_pairs(
    result: InteractionImportance | PairImportance,
    sizes: list[str],
    *,
    mean_size: FloatArray,
    name: Callable[[int], str],
) -> str:
    """Describe pairs of features, whose sizes are the means of their absolute values."""
    lines = [f"{type(result).__name__} ({result.index}): {', '.join(sizes)}, in {result.unit}"]
    if len(result) and len(mean_size):
        lines.append("  largest by mean |value|:")
        lines += _largest(mean_size, name, most=_N_LOCAL, indent="    ")
    return "\n".join(lines)


def _head(result: LocalImportance | GlobalImportance, *sizes: str) -> str:
    kind = type(result).__name__
    # The usual case goes without saying: the drop, with the training rows' own statistics.
    special = [result.measure] * (result.measure != "drop") + ["honest"] * result.honest
    if special:
        kind += f" ({', '.join(special)})"
    parts = [*sizes, count(len(result.feature_names), "feature")]
    if result.n_trees:
        parts.append(count(result.n_trees, "tree"))
    head = f"{kind}: {', '.join(parts)}, in {result.unit}"
    return head if result.caveat is None else f"{head}\n  note: {clean(result.caveat)}"


def _largest(size: FloatArray, name: Callable[[int], str], *, most: int, indent: str) -> list[str]:
    indices, values = top_of_rows(size[None, :], most)
    shown = [clean(name(i)) for i in indices[0]]
    width = max(map(len, shown))
    lines = [f"{indent}{n:<{width}}  {v:.4g}" for n, v in zip(shown, values[0], strict=True)]
    return lines + [f"{indent}..."] * (len(size) > most)


def bars_html(
    result: LocalImportance | GlobalImportance, mean: GlobalImportance | None, *, head: str
) -> str:
    """Return the head of the text form, and a bar for each of the largest features."""
    note = "" if result.caveat is None else f"<br>{escape(clean(result.caveat))}"
    if mean is None or not len(mean):
        return _page(result, note)
    values = np.nan_to_num(mean.values)
    indices, largest = top_of_rows(values[None, :], _MOST_BARS)
    table = _table(
        [clean(result.feature_names[i]) for i in indices[0]],
        largest.T,
        heads=["feature", head],
        symbol=unit_of(result.unit).symbol,
    )
    return _page(result, note, *table, _more(len(values) - indices.shape[1], "more feature"))


def classes_html(result: ClassImportance) -> str:
    """Return a bar for each of the largest features and every class."""
    if 0 in result.shape:
        return _page(result)
    means = result.mean()
    values = np.stack([mean.values for mean in means.values()], axis=1)
    largest, _ = top_of_rows(values.sum(axis=1)[None, :], _MOST_BARS)
    table = _table(
        [clean(result.feature_names[i]) for i in largest[0]],
        values[largest[0]],
        heads=["feature", *map(clean, means)],
        symbol=unit_of(result.unit).symbol,
    )
    return _page(result, *table, _more(len(values) - largest.shape[1], "more feature"))


def pairs_html(result: InteractionImportance | PairImportance) -> str:
    """Return a bar for each of the strongest pairs."""
    if not len(result):
        return _page(result)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(result.to_frame(), eager_only=True)
    if not len(frame):
        return _page(result)
    strongest = frame.head(_MOST_BARS)
    pairs = zip(strongest["first"].to_list(), strongest["second"].to_list(), strict=True)
    table = _table(
        [" and ".join(map(clean, pair)) for pair in pairs],
        strongest["value"].to_numpy()[:, None],
        heads=["pair", "mean over rows"],
        symbol=unit_of(result.unit).symbol,
    )
    return _page(result, *table, _more(len(frame) - len(strongest), "more pair"))


def _page(result: object, *parts: str) -> str:
    head, *_ = repr(result).split("\n", 1)
    return "\n".join(filter(None, [f"<div><strong>{escape(head)}</strong>", *parts, "</div>"]))


def _more(number: int, noun: str) -> str:
    return f"<small>and {count(number, noun)}</small>" if number > 0 else ""


def _table(names: list[str], values: FloatArray, *, heads: list[str], symbol: str) -> list[str]:
    """Return a line for each name, with a number and a bar for each column of values."""
    values = np.nan_to_num(values)
    longest = float(np.abs(values).max()) or 1.0
    first, *others = map(escape, heads)
    columns = "".join(
        f'<th scope="col" style="text-align:right">{head}</th><th></th>' for head in others
    )
    lines = [
        '<table style="border-collapse:collapse;background:transparent;'
        'color:inherit;font:inherit">',
        f'<thead><tr><th scope="col" style="text-align:left">{first}</th>{columns}</tr></thead>'
        "<tbody>",
    ]
    # Bars share the width that one would have.
    room = max(_WIDEST_BAR // max(1, values.shape[1]), _NARROWEST_BAR)
    for name, row in zip(names, values.tolist(), strict=True):
        cells = (
            _cell(with_unit(number_text(value, 3), symbol), share=value / longest, room=room)
            for value in row
        )
        lines.append(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal" '
            f'title="{escape(name)}">{escape(cut(name, _LONGEST_NAME))}</th>{"".join(cells)}</tr>'
        )
    return [*lines, "</tbody></table>"]


def _cell(number: str, *, share: float, room: int) -> str:
    width = max(1, round(room * abs(share))) if share else 0
    colour = _REMOVED if share >= 0 else _RAISED
    bar = f"display:inline-block;height:0.7em;width:{width}px;background:{colour}"
    return (
        f'<td style="text-align:right">{escape(number)}</td>'
        f'<td style="text-align:left;padding-left:0.5em">'
        f'<span aria-hidden="true" style="{bar}"></span></td>'
    )
