"""The text that stands for a local result in a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from localmdi.results.top import top_of_rows

__all__ = ["summary"]

_MAX_VALUES = 1_000_000
_N_SHOWN = 3


def summary(result: Any) -> str:
    """Describe a local result in a few lines; of large ones the first rows are looked at.

    Examples
    --------
    >>> from localmdi.results import LocalImportance
    >>> print(summary(LocalImportance(np.ones((2, 1)), 2.0, residual=np.ones(2), unit="bits",
    ...                               feature_names=("age",), n_trees=10)))
    LocalImportance: 2 rows, 1 features, 10 trees, in bits
      baseline 2, mean residual 1
      largest by mean |value|:
        age  1
    """
    n_rows, n_features = result.shape
    lines = [
        f"LocalImportance: {n_rows} rows, {n_features} features, {result.n_trees} trees, "
        f"in {result.unit}"
    ]
    if not n_rows or not n_features:
        return lines[0]
    word = "baseline" if isinstance(result.baseline, float) else "mean baseline"
    level = float(np.mean(result.baseline))
    lines.append(f"  {word} {level:.4g}, mean residual {result.residual.mean():.4g}")
    seen = min(n_rows, max(1, _MAX_VALUES // n_features))
    some = "" if seen == n_rows else f" of the first {seen} rows"
    lines.append(f"  largest by mean |value|{some}:")
    indices, means = top_of_rows(abs(result.values[:seen]).mean(axis=0)[None, :], _N_SHOWN)
    names = [result.feature_names[i] for i in indices[0]]
    width = max(map(len, names))
    lines += [f"    {name:<{width}}  {v:.4g}" for name, v in zip(names, means[0], strict=True)]
    if n_features > _N_SHOWN:
        lines.append("    ...")
    return "\n".join(lines)
