"""Results for a terminal: a ranking with bars, and the story of a row in bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["clean", "count", "one_line", "ranking", "story"]

_WIDEST = 40
_BAR = 24


def clean(text: Any, *, widest: int = _WIDEST) -> str:
    r"""Return user input as one short line that cannot move a terminal's cursor.

    Examples
    --------
    >>> clean("age\x1b[2J (years)"), clean("x" * 100, widest=8)
    ('age�[2J (years)', 'xxxxxxx…')
    """
    line = _printable(str(text)[: 4 * widest])
    return line if len(line) <= widest else f"{line[: widest - 1]}…"


def one_line(text: str) -> str:
    r"""Return a message, which may quote user input, as one line.

    Examples
    --------
    >>> one_line("expected a number,\n got \x1b[2J")
    'expected a number, got �[2J'
    """
    return _printable(" ".join(text.split()))


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1797, "row"), count(2, "category")
    ('1 row', '1,797 rows', '2 categories')
    """
    plural = noun if n == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {plural}"


def ranking(
    names: Sequence[str], values: Sequence[float], *, errors: Sequence[float] | None, most: int = 10
) -> list[str]:
    r"""Return one line per feature, the largest first, with bars.

    Examples
    --------
    >>> print(*ranking(["age", "sex"], [0.25, 0.5], errors=None), sep="\n")
      sex  0.5000  ████████████████████████
      age  0.2500  ████████████
    """
    order = sorted(range(len(names)), key=lambda j: (-abs(values[j]), j))[:most]
    labels = [clean(names[j]) for j in order]
    width = max(map(len, labels), default=0)
    longest = max((abs(values[j]) for j in order), default=0.0) or 1.0
    lines = []
    for j, label in zip(order, labels, strict=True):
        value = _number(values[j])
        error = "" if errors is None else f" ± {_number(errors[j])}"
        bar = "█" * round(_BAR * abs(values[j]) / longest)
        lines.append(f"  {label:<{width}}  {value}{error}  {bar}".rstrip())
    left_out = len(names) - len(order)
    return [*lines, *[f"  … and {count(left_out, 'more feature')}"] * (left_out > 0)]


def story(row: dict[str, Any], *, unit: str, most: int = 5) -> list[str]:
    r"""Return a row's way from the uncertainty at the root down to what is left.

    Examples
    --------
    >>> row = {"row": 0, "baseline": 1.0, "residual": 0.25, "values": {"sex": 0.75, "age": 0.0},
    ...        "data": {"sex": "f"}, "prediction": "yes"}
    >>> print(*story(row, unit="bits"), sep="\n")
    Row 0, predicted yes
      1.0000 bits of uncertainty before anything is known
     −0.7500  sex = f
     −0.0000  age
      0.2500 bits are left
    """
    values = row["values"]
    names = sorted(values, key=lambda name: -abs(values[name]))
    told = [f"Row {row['row']}"]
    told += [f"target {clean(row['target'])}"] if row.get("target") is not None else []
    told += [f"predicted {clean(row['prediction'])}"] if row.get("prediction") is not None else []
    lines = [
        ", ".join(told),
        f"  {_number(row['baseline'])} {unit} of uncertainty before anything is known",
    ]
    data = row.get("data") or {}
    for name in names[:most]:
        known = f" = {clean(_value(data[name]), widest=24)}" if name in data else ""
        lines.append(f" {_change(values[name])}  {clean(name)}{known}")
    rest = names[most:]
    if rest:
        total = sum(values[name] for name in rest)
        lines.append(f" {_change(total)}  {count(len(rest), 'other feature')} together")
    lines.append(f"  {_number(row['residual'])} {unit} are left")
    return lines


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1e4 else f"{value:.4g}"


def _change(value: float) -> str:
    """Return what a feature did to the uncertainty: the values say how much it removed."""
    sign = "\N{MINUS SIGN}" if value >= 0 else "+"
    return f"{sign}{_number(abs(value))}"


def _value(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)
