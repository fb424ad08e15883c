"""The few lines that a terminal shows for a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localmdi._text import clean, count
from localmdi.results.top import top_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.results.global_ import GlobalImportance
    from localmdi.results.interaction import InteractionImportance
    from localmdi.results.local import LocalImportance
    from localmdi.results.pairs import PairImportance
    from localmdi.typing import FloatArray

__all__ = ["describe_global", "describe_interactions", "describe_local", "describe_pairs"]

_MAX_VALUES = 1_000_000
_N_LOCAL = 3
_N_GLOBAL = 5


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


def describe_interactions(result: InteractionImportance) -> str:
    """Describe the interactions of pairs of features."""
    n_rows, n_features, _ = result.shape
    sizes = f"{count(n_rows, 'row')}, {count(n_features, 'feature')}"
    lines = [f"{type(result).__name__} ({result.index}): {sizes}, in {result.unit}"]
    if n_rows and n_features > 1:
        lines.append("  largest by mean |value|:")
        second, first = np.tril_indices(n_features, -1)
        size = np.abs(result.values[:, second, first]).mean(axis=0)
        names = result.feature_names

        def pair(k: int) -> str:
            return f"{names[first[k]]} and {names[second[k]]}"

        lines += _largest(size, pair, most=_N_LOCAL, indent="    ")
    return "\n".join(lines)


def describe_pairs(result: PairImportance) -> str:
    """Describe the pairs of a decomposition."""
    n_rows, n_pairs = result.shape
    sizes = ", ".join(
        (
            count(n_rows, "row"),
            count(len(result.feature_names), "feature"),
            count(n_pairs, "pair"),
        )
    )
    lines = [f"{type(result).__name__} ({result.index}): {sizes}, in {result.unit}"]
    if n_rows and n_pairs:
        lines.append("  largest by mean |value|:")
        size = np.asarray(abs(result.values).mean(axis=0)).ravel()
        lines += _largest(size, result.names.__getitem__, most=_N_LOCAL, indent="    ")
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
    return head if result.note is None else f"{head}\n  note: {clean(result.note)}"


def _largest(size: FloatArray, name: Callable[[int], str], *, most: int, indent: str) -> list[str]:
    indices, values = top_of_rows(size[None, :], most)
    shown = [clean(name(i)) for i in indices[0]]
    width = max(map(len, shown))
    lines = [f"{indent}{n:<{width}}  {v:.4g}" for n, v in zip(shown, values[0], strict=True)]
    return lines + [f"{indent}..."] * (len(size) > most)
