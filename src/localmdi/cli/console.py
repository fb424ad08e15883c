"""What is printed: notes on stderr while a command works, and one result on stdout."""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from localmdi._criteria import unit_of
from localmdi._text import cell_number, clean, count, cut, number_text, one_line, with_unit

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from localmdi.cli.explained import Summary
    from localmdi.cli.held_out import Trust
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import FloatArray, ResultMeasure


_LONGEST_NAME = 40
_FITTED = {"groups": "fitted without some groups of", "time": "fitted without a block of"}
_LONGEST_PATH = 80
_BAR = 24
_MOST_COLUMNS = 20
_NAMED = 5
_PARAMETER = re.compile(
    r"\b(target|exclude|categorical|keep|task|max_fit_rows|trees|separator|encoding|decimal"
    r"|header_row|sheet|groups|time)=(\w*)"
)
# Larger numbers are written with a power of ten.
_LARGE = 1e7


class Console:
    """Collects notes, and prints the result as text or as one JSON document.

    Parameters
    ----------
    quiet : bool
        Whether to suppress notes and progress bars; notes stay part of the JSON document.
    as_json : bool
        Whether the result is printed as JSON.
    """

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.notes: list[str] = []
        self._quiet = quiet
        self._as_json = as_json

    @property
    def progress(self) -> bool:
        """Whether to draw progress bars: only if somebody looks."""
        return not self._quiet and sys.stderr.isatty()

    def note(self, text: str) -> None:
        """Say something once that the user should know."""
        text = in_options(one_line(text))
        if text not in self.notes:
            self.notes.append(text)
            if not self._quiet:
                print(f"note: {text}", file=sys.stderr)

    @contextmanager
    def hear_warnings(self) -> Iterator[None]:
        """Turn the warnings of libraries into notes."""
        with warnings.catch_warnings():
            # The others are for developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: self.note(str(message))
            yield

    def finish(self, document: Mapping[str, Any], *, lines: Sequence[str]) -> None:
        """Print the result."""
        if self._as_json:
            complete = {**document, "notes": self.notes}
            print(json.dumps(_plain(complete), ensure_ascii=False, allow_nan=False))
        else:
            print("\n".join(lines))


def in_options(text: str) -> str:
    """Return advice about parameters as advice about options.

    Examples
    --------
    >>> in_options("Use max_fit_rows= to change that, or task=classification.")
    'Use --max-fit-rows to change that, or --task classification.'
    """

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')}" + (f" {found[2]}" if found[2] else "")

    return _PARAMETER.sub(option, text)


def show_summary(
    summary: Summary,
    *,
    about: Mapping[str, Any],
    files: Mapping[str, str],
    trust: Trust | None = None,
    by_class: bool = False,
) -> list[str]:
    """Return the lines that describe explained rows; `by_class` adds the means of each class."""
    result = summary.result
    importance = None if trust is None else trust.importance
    if importance is None:
        ranking = show_ranking(result.feature_names, summary.mean.tolist(), errors=None)
    else:
        ranking = show_importance(importance)
    lines = [
        _head(about, summary),
        *show_columns(about),
        *([] if trust is None else ["", *trust.lines()]),
        "",
        *show_total(result, summary.levels(None if trust is None else trust.quality)),
        *ranking,
        *show_sums(result, summary.mean if importance is None else importance.values),
    ]
    if by_class and summary.by_class is not None:
        unit, measure = result.unit, result.measure
        told = show_classes(result.feature_names, summary.by_class, unit=unit, measure=measure)
        lines += ["", *told]
    for row in summary.first:
        lines += ["", *show_row(row, unit=result.unit, measure=result.measure)]
    return [*lines, *show_files(files)]


def show_importance(importance: GlobalImportance, *, most: int = 10) -> list[str]:
    """Return the honest importances of the features; those of noise are marked."""
    told = importance.significant()
    errors = importance.standard_error
    return show_ranking(
        importance.feature_names,
        importance.values.tolist(),
        errors=None if errors is None else errors.tolist(),
        marks=["" if one else "not distinguishable from noise" for one in told],
        most=most,
    )


def show_sums(result: LocalImportance, values: FloatArray) -> list[str]:
    """Return the importances by column of the table, where a Pipeline made features of columns."""
    from localmdi.results.axes import sum_known_groups

    found = sum_known_groups(result, values)
    if found is None:
        return []
    names, sums, _ = found
    return [
        "By column of the table, the features that were made of it added up",
        *show_ranking(names, sums.tolist(), errors=None),
    ]


def show_total(result: LocalImportance, levels: tuple[float, float] | None) -> list[str]:
    """Return how much there was before and is left, if known, and the heading of a ranking."""
    named = unit_of(result.unit)
    quantity = named.quantity_of(result.measure)
    if result.honest:
        heading = "Mean gain of each feature on unseen rows"
    elif result.measure == "gain":
        heading = "Mean gain of each feature"
    else:
        heading = f"Mean {quantity} removed by each feature"
    lines = [f"{heading}, in {named.symbol}" if named.symbol else heading]
    if result.honest:
        lines[0] += ", with standard errors"
    if levels is None:
        return lines
    start, end = levels
    before, left = (with_unit(_number(value, start), named.symbol) for value in levels)
    if result.unit == "variance" and start > 0:
        before += _deviation(start, result.unit)
        left += f" ({end / start:.0%} of it)"
    what = f"{quantity[0].upper()}{quantity[1:]} before anything is known"
    if result.measure == "loss":
        return [f"{what}, on average: {before}; left to the forest: {left}", *lines]
    return [f"{what}: {before}; left on average: {left}", *lines]


def show_ranking(
    names: Sequence[str],
    values: Sequence[float],
    *,
    errors: Sequence[float] | None,
    marks: Sequence[str] | None = None,
    most: int = 10,
) -> list[str]:
    r"""Return one line per feature, the largest first, with bars.

    Examples
    --------
    >>> print(*show_ranking(["age", "sex"], [0.25, 0.5], errors=None), sep="\n")
      sex  0.5000  ████████████████████████
      age  0.2500  ████████████
    """
    # Honest values below zero are noise: they come last.
    size = abs if marks is None else float
    order = sorted(range(len(names)), key=lambda j: (-size(values[j]), j))[:most]
    labels = [_short(names[j]) for j in order]
    width = max(map(len, labels), default=0)
    longest = max((abs(values[j]) for j in order), default=0.0) or 1.0
    numbers = [_number(values[j], longest) for j in order]
    digits = max(map(len, numbers), default=0)
    lines = []
    for j, label, value in zip(order, labels, numbers, strict=True):
        error = "" if errors is None else f" ± {_number(errors[j], longest)}"
        # Noise has no bar: its value is an accident.
        bar = (marks[j] if marks else "") or "█" * round(_BAR * abs(values[j]) / longest)
        lines.append(f"  {label:<{width}}  {value:>{digits}}{error}  {bar}".rstrip())
    left_out = len(names) - len(order)
    return [*lines, *[f"  … and {count(left_out, 'more feature')}"] * (left_out > 0)]


def show_classes(
    names: Sequence[str],
    by_class: Mapping[Hashable, tuple[int, FloatArray]],
    *,
    unit: str,
    measure: ResultMeasure = "drop",
    most: int = 8,
) -> list[str]:
    r"""Return one line per class: the features that told most about its rows, on average.

    Examples
    --------
    >>> import numpy as np
    >>> found = {"yes": (3, np.array([0.25, 0.5])), "no": (1, np.array([0.0, 0.125]))}
    >>> print(*show_classes(["age", "sex"], found, unit="bits"), sep="\n")
    Mean uncertainty removed in the rows of each class, in bits
      yes (3 rows)  sex 0.5000, age 0.2500
      no (1 row)    sex 0.1250, age 0.0000
    """
    named = unit_of(unit)
    what = "gain" if measure == "gain" else f"{named.quantity_of(measure)} removed"
    heading = f"Mean {what} in the rows of each class"
    heads = {label: f"{_short(label)} ({count(n, 'row')})" for label, (n, _) in by_class.items()}
    width = max(map(len, heads.values()))
    lines = [f"{heading}, in {named.symbol}" if named.symbol else heading]
    largest = max(float(abs(mean).max(initial=0.0)) for _, mean in by_class.values())
    for label, (_, mean) in by_class.items():
        order = sorted(range(len(names)), key=lambda j: (-abs(mean[j]), j))[: min(most, 4)]
        told = ", ".join(f"{_short(names[j])} {_number(float(mean[j]), largest)}" for j in order)
        lines.append(f"  {heads[label]:<{width}}  {told}")
    return lines


def show_row(
    row: Mapping[str, Any],
    *,
    unit: str,
    measure: ResultMeasure = "drop",
    most: int = 5,
) -> list[str]:
    r"""Return a row's way from the impurity at the root down to what is left.

    Values are those of the result: positive ones removed impurity.

    Examples
    --------
    >>> row = {"row": 0, "baseline": 1.0, "residual": 0.25, "values": {"sex": 0.75, "age": 0.0},
    ...        "data": {"sex": "f"}, "prediction": "yes"}
    >>> print(*show_row(row, unit="bits"), sep="\n")
    Row 0, predicted yes
      1.0000 bits of uncertainty before anything is known
      0.7500  sex = f
      0.0000  age
      0.2500 bits left
    """
    lines, values = [_row_head(row)], row["values"]
    if any(math.isnan(value) for value in values.values()):
        return [*lines, "  no honest values: every tree has seen the row, or all with its answer"]
    names = sorted(values, key=lambda name: -abs(values[name]))
    amounts = [values[name] for name in names[:most]]
    if names[most:]:
        amounts.append(sum(values[name] for name in names[most:]))
    levels = [row[level] for level in ("baseline", "residual") if level in row]
    largest = max(map(abs, [*amounts, *levels]), default=0.0)
    width = max((len(_number(value, largest)) for value in [*amounts, *levels]), default=0)

    def line(amount: float, text: str) -> str:
        return f"  {_number(amount, largest):>{width}}{text}"

    before, after, raised = _level_words(row, unit=unit, measure=measure)
    if "baseline" in row:
        lines.append(line(row["baseline"], before))
    data, moves = row.get("data") or {}, row.get("direction")
    for name, amount in zip(names[:most], amounts, strict=False):
        known = f" = {_short(_cell(data[name]), 24)}" if name in data else ""
        arrow = _arrow(moves[name]) if moves else " "
        lines.append(line(amount, f" {arrow}{_short(name)}{known}{raised * (amount < 0)}"))
    if names[most:]:
        together = f"{count(len(names) - most, 'other feature')} together"
        lines.append(line(amounts[-1], f"{'   ' if moves else '  '}{together}"))
    if "residual" in row:
        lines.append(line(row["residual"], after))
    if moves:
        lines.append(
            "  ↑ towards the predicted class, ↓ away from it"
            if unit in ("bits", "gini") or not isinstance(row.get("prediction"), float)
            else "  ↑ raised the prediction, ↓ lowered it"
        )
    return lines


def _level_words(
    row: Mapping[str, Any], *, unit: str, measure: ResultMeasure
) -> tuple[str, str, str]:
    """Return what stands behind the first level, the last one, and negative values."""
    named = unit_of(unit)
    quantity = named.quantity_of(measure)
    what = f" {named.symbol} of {quantity}" if named.symbol else f" {quantity}"
    if measure == "loss":
        left = "to be expected still" if row.get("expected") else "left to the forest"
        return f"{what} when nothing is known", f"{what} {left}", " (made it worse)"
    start = f"{what}{_deviation(row.get('baseline', 0.0), unit)} before anything is known"
    return start, f" {named.symbol or quantity} left", " (raised it)" * (measure == "drop")


def _arrow(move: float) -> str:
    """Return which way a feature pushed the prediction, and a space."""
    return "↑ " if move > 0 else "↓ " if move < 0 else "  "


def _row_head(row: Mapping[str, Any]) -> str:
    head = [f"Row {row['row']}"]
    if row.get("target") is not None:
        head.append(f"target {_short(_cell(row['target']))}")
    if row.get("prediction") is not None:
        sure = row.get("sure")
        share = "" if sure is None or math.isnan(sure) else f" ({sure:.0%} sure)"
        head.append(f"predicted {_short(_cell(row['prediction']))}{share}")
    if row.get("expected"):
        head.append("answer not known: expected values")
    return ", ".join(head)


def show_columns(about: Mapping[str, Any]) -> list[str]:
    """Return what the target and the columns of a table were taken for.

    Examples
    --------
    >>> show_columns({"target": "sick", "task": "classification", "task_reason": "strings",
    ...               "columns": {"age": "number"}})
    ['  target sick: classification (strings)', '  age: number']
    """
    if "columns" not in about:
        return []
    lines = []
    if about.get("task"):
        lines.append(
            f"  target {_short(about['target'])}: {about['task']} ({about['task_reason']})"
        )
    columns = about["columns"]
    if len(columns) <= _MOST_COLUMNS:
        return [*lines, *(f"  {_short(name)}: {text}" for name, text in columns.items())]
    numbers = [name for name, text in columns.items() if text.startswith("number")]
    others = [name for name in columns if name not in set(numbers)]
    for adjective, names in (("numeric", numbers), ("categorical", others)):
        if names:
            shown = ", ".join(_short(name) for name in names[:_NAMED])
            more = ", …" if len(names) > _NAMED else ""
            lines.append(f"  {count(len(names), f'{adjective} column')}: {shown}{more}")
    return lines


def named_files(**paths: Path | None) -> dict[str, str]:
    """Return the files that were written, by what they are."""
    return {name: str(path) for name, path in paths.items() if path is not None}


def show_files(files: Mapping[str, str]) -> list[str]:
    """Return where the files are that were written."""
    return ["", *(f"{what}: {clean(path)}" for what, path in files.items())] if files else []


def _head(about: Mapping[str, Any], summary: Summary) -> str:
    if "trees" in about:
        trees = count(about["trees"], "tree")
    else:
        trees = f"infinitely many trees, {about['method']}"
    if "fitted_rows" in about:
        fitted = _FITTED.get(about.get("held_out", ""), "fitted on half of")
        fitted = f"each {fitted}" if summary.result.honest else "fitted on"
        trees = f"{trees} {fitted} {count(about['fitted_rows'], 'row')}"
    name = _short(about["data"], _LONGEST_PATH)
    n_features = len(summary.result.feature_names)
    return f"{name}: {count(summary.n_rows, 'row')}, {count(n_features, 'feature')}; {trees}"


def _short(text: Any, limit: int = _LONGEST_NAME) -> str:
    # A cell can be a megabyte; one character more than the limit shows that it is too long.
    return cut(clean(str(text)[: limit + 1]), limit)


def _number(value: float, largest: float | None = None) -> str:
    """Return a number with as many decimals as the largest of its column needs.

    Examples
    --------
    >>> _number(0.25), _number(0.25, 374.8), _number(-199.6, 5621.0)
    ('0.2500', '0.2', '−200')
    """
    size = abs(value if largest is None else largest)
    if not size < _LARGE:
        return number_text(value)
    decimals = 4 if size < 10 else max(0, 3 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    is_zero = not any(digit in "123456789" for digit in text)
    return text.lstrip("-") if is_zero else text.replace("-", "\N{MINUS SIGN}")


def _deviation(value: float, unit: str) -> str:
    """Return the standard deviation behind a variance: in the unit of the target."""
    if unit != "variance" or not value >= 0:
        return ""
    return f" (standard deviation {number_text(math.sqrt(value))})"


def _cell(value: Any) -> str:
    from localmdi._validation import is_missing

    if is_missing(value):
        return "missing"
    return cell_number(value) if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """Return what JSON knows; null for NaN and infinity, which it does not."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, bool, int, float, type(None))) else str(value)
