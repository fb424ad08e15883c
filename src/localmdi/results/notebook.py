"""What a notebook shows of a result: a small table with bars, and the pictures at hand."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from localmdi._criteria import unit_of
from localmdi._text import clean, count, cut, number_text, with_unit
from localmdi.results.top import top_of_rows

if TYPE_CHECKING:
    from localmdi.results.global_ import GlobalImportance
    from localmdi.results.local import LocalImportance

__all__ = ["Shown"]

_MOST_BARS = 10
_LONGEST_NAME = 40
# Readable on white and on black; text takes the notebook's own colour.
_REMOVED, _RAISED = "#1c9099", "#e08214"


class Shown:
    """What local and global results have in common in a notebook."""

    @property
    def plot(self) -> Any:
        """The pictures of a result, `localmdi.plots.accessor.Pictures`.

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

    def _repr_html_(self) -> str:
        return _as_html(cast("LocalImportance | GlobalImportance", self))


def _as_html(result: LocalImportance | GlobalImportance) -> str:
    """Return the head of the text form, and a bar for each of the largest features."""
    head, *_ = repr(result).split("\n", 1)
    lines = [f"<div><strong>{escape(head)}</strong>"]
    if result.note is not None:
        lines.append(f"<br>{escape(clean(result.note))}")
    rows = getattr(result, "shape", (1, 0))[0]
    if rows and len(result.feature_names):
        lines += _table(result)
    return "\n".join([*lines, "</div>"])


def _table(result: LocalImportance | GlobalImportance) -> list[str]:
    mean = cast("LocalImportance", result).mean() if hasattr(result, "shape") else result
    values = np.nan_to_num(mean.values)
    indices, largest = top_of_rows(values[None, :], _MOST_BARS)
    longest = float(np.abs(largest).max()) or 1.0
    symbol = unit_of(result.unit).symbol
    what = "mean over rows" if hasattr(result, "shape") else "importance"
    lines = [
        '<table style="border-collapse:collapse;background:transparent;'
        'color:inherit;font:inherit">',
        f'<thead><tr><th scope="col" style="text-align:left">feature</th>'
        f'<th scope="col" style="text-align:right">{what}</th><th></th></tr></thead><tbody>',
    ]
    lines += [
        _row(
            clean(result.feature_names[i]),
            with_unit(number_text(float(value), 3), symbol),
            share=float(value) / longest,
        )
        for i, value in zip(indices[0], largest[0], strict=True)
    ]
    lines.append("</tbody></table>")
    more = len(values) - indices.shape[1]
    return lines + [f"<small>and {count(more, 'more feature')}</small>"] * (more > 0)


def _row(name: str, number: str, *, share: float) -> str:
    width = max(1, round(120 * abs(share))) if share else 0
    colour = _REMOVED if share >= 0 else _RAISED
    bar = f"display:inline-block;height:0.7em;width:{width}px;background:{colour}"
    return (
        f'<tr><th scope="row" style="text-align:left;font-weight:normal" title="{escape(name)}">'
        f"{escape(cut(name, _LONGEST_NAME))}</th>"
        f'<td style="text-align:right">{escape(number)}</td>'
        f'<td style="text-align:left;padding-left:0.5em">'
        f'<span aria-hidden="true" style="{bar}"></span></td></tr>'
    )
