"""A summary in words, and as the document that ``--json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.cli.text import clean, count, ranking, story

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.cli.summary import Summary

__all__ = ["describe", "show_columns", "show_files", "show_summary"]

_MOST_COLUMNS = 20
_NAMED = 5


def describe(summary: Summary) -> dict[str, Any]:
    """Return what is known of a stream of explained rows.

    Examples
    --------
    >>> import numpy as np
    >>> from localmdi.cli.summary import Explained, Summary
    >>> from localmdi.results import LocalImportance
    >>> summary = Summary(show=0, sample=0, seed=0)
    >>> summary.add(Explained(LocalImportance(np.ones((1, 1)), 1.0, residual=np.zeros(1),
    ...     unit="bits", feature_names=("age",), n_trees=1), np.arange(1)))
    >>> describe(summary)["mean"], describe(summary)["unit"]
    ({'age': 1.0}, 'bits')
    """
    result = summary.result
    return {
        "rows": summary.n_rows,
        "unit": result.unit,
        "baseline": result.baseline,
        "mean_residual": summary.mean_residual,
        "additivity_error": summary.additivity_error,
        "mean": dict(zip(result.feature_names, summary.mean.tolist(), strict=True)),
        "first_rows": summary.first,
    }


def show_summary(summary: Summary, *, about: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return what a terminal shows of explained rows.

    Examples
    --------
    >>> import numpy as np
    >>> from localmdi.cli.summary import Explained, Summary
    >>> from localmdi.results import LocalImportance
    >>> summary = Summary(show=0, sample=0, seed=0)
    >>> summary.add(Explained(LocalImportance(np.ones((1, 1)), 1.0, residual=np.zeros(1),
    ...     unit="bits", feature_names=("age",), n_trees=1), np.arange(1)))
    >>> print(show_summary(summary, about={"data": "a.csv", "trees": 1}, files={}))
    a.csv: 1 row, 1 feature; 1 tree
    <BLANKLINE>
    1.0000 bits of uncertainty before anything is known; 0.0000 are left on average.
    Removed by each feature, mean over the rows, in bits
      age  1.0000  ████████████████████████
    """
    result = summary.result
    lines = [
        _head(about, summary.n_rows, n_features=len(result.feature_names)),
        *show_columns(about),
        "",
        f"{result.baseline:.4f} {result.unit} of uncertainty before anything is known; "
        f"{summary.mean_residual:.4f} are left on average.",
        f"Removed by each feature, mean over the rows, in {result.unit}",
        *ranking(result.feature_names, summary.mean.tolist(), errors=None),
    ]
    for row in summary.first:
        lines += ["", *story(row, unit=result.unit)]
    return "\n".join([*lines, *show_files(files)])


def show_columns(about: Mapping[str, Any]) -> list[str]:
    """Return what the target and the columns of a table were taken for.

    Examples
    --------
    >>> show_columns({"target": "sick", "task": "classification", "task_reason": "texts",
    ...               "columns": {"age": "number"}})
    ['  sick is the target of a classification (texts)', '  age: number']
    """
    if "columns" not in about:
        return []
    lines = []
    if about.get("task"):
        target, reason = clean(about["target"]), about["task_reason"]
        lines.append(f"  {target} is the target of a {about['task']} ({reason})")
    columns = about["columns"]
    if len(columns) <= _MOST_COLUMNS:
        return [*lines, *(f"  {clean(name)}: {text}" for name, text in columns.items())]
    numbers = [name for name, text in columns.items() if text.startswith("number")]
    others = [name for name in columns if name not in set(numbers)]
    for what, names in (("numbers", numbers), ("categories", others)):
        if names:
            shown = ", ".join(clean(name) for name in names[:_NAMED])
            more = ", …" if len(names) > _NAMED else ""
            lines.append(f"  {count(len(names), 'column')} of {what}: {shown}{more}")
    return lines


def show_files(files: Mapping[str, str]) -> list[str]:
    """Return where the files are that were written.

    Examples
    --------
    >>> show_files({"report": "a.html"})
    ['', 'report: a.html']
    """
    return ["", *(f"{what}: {path}" for what, path in files.items())] if files else []


def _head(about: Mapping[str, Any], n_rows: int, *, n_features: int) -> str:
    if "trees" not in about:
        trees = f"infinitely many trees, {about['method']}"
    else:
        trees = count(about["trees"], "tree")
    if "fitted_rows" in about:
        trees = f"{trees} fitted on {count(about['fitted_rows'], 'row')}"
    name = clean(about["data"], widest=80)
    return f"{name}: {count(n_rows, 'row')}, {count(n_features, 'feature')}; {trees}"
