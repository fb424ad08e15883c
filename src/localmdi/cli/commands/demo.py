"""``localmdi demo``: totally randomized trees on handwritten digits, every row explained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from localmdi._text import count
from localmdi.cli.commands.options import CommonSettings, common_options, fit_options
from localmdi.cli.console import (
    Console,
    named_files,
    show_files,
    show_importance,
    show_row,
    show_total,
)
from localmdi.cli.explained import Summary
from localmdi.cli.held_out import Trust, fit_folds
from localmdi.cli.output import check_outputs, write_page
from localmdi.tables.cells import Kind
from localmdi.tables.settings import FitSettings
from localmdi.tables.training import Target, TrainingData

if TYPE_CHECKING:
    import click
    from sklearn.utils import Bunch

    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray


_SHADES = " ░▒▓█"


@dataclass(frozen=True, kw_only=True)
class DemoSettings(CommonSettings, FitSettings):
    """Options of ``localmdi demo``."""

    report: Path


def command() -> click.Command:
    """Return ``localmdi demo``."""
    import click

    report = click.Option(
        ["--report"],
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        default=Path("localmdi-demo.html"),
        show_default=True,
        help="Where to write the report.",
    )
    return click.Command(
        "demo",
        params=[report, *fit_options(), *common_options()],
        short_help="See it on handwritten digits.",
        help="Explain every row of scikit-learn's handwritten digits with 1000 totally randomized "
        "trees, half of them grown on each half of the rows, and write a report.",
    )


def run(**values: Any) -> None:
    """Explain every digit, and write a report."""
    from sklearn.datasets import load_digits

    settings = DemoSettings(**values)
    check_outputs({"--report": settings.report})
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    digits = load_digits()
    training = _training_data(digits)
    start = perf_counter()
    model = fit_folds(training, settings, console=console, measure="loss", predict=True)
    explained = model.explain(training.frame, training.rows).with_target(digits.target)
    seconds = round(perf_counter() - start, 3)
    trust = Trust.of(model)
    summary = Summary(show=1, direct=model.with_direction)
    summary.judge(is_classifier=True)
    summary.add(explained)
    with console.hear_warnings():
        write_page(
            model.with_direction(explained),
            settings.report,
            global_importance=model.importance,
            title="Handwritten digits",
            notes=_notes(explained.result, settings),
            seed=settings.seed,
            quality=trust.quality,
        )
    files = named_files(report=settings.report)
    about = {"trees": model.n_trees, "seconds": seconds}
    document = {"command": "demo", **about, **summary.describe(), **trust.describe()}
    document |= {"files": files}
    lines = [
        f"{len(explained.rows):,} handwritten digits of 64 pixels, explained by "
        f"{count(model.n_trees, 'tree')} in {seconds:.2f} s",
        *_show(summary, trust, pictures=_pictures(digits.data[0], explained.result.values[0])),
        *show_files(files),
    ]
    console.finish(document, lines=lines)


def _training_data(digits: Bunch) -> TrainingData:
    import numpy as np
    import pyarrow as pa

    frame = pa.Table.from_arrays(
        [pa.array(column) for column in digits.data.T], names=digits.feature_names
    )
    n_rows = frame.num_rows
    target = Target(
        "digit", "classification", np.ones(n_rows, dtype=bool), digits.target, "ten digits"
    )
    kinds = dict.fromkeys(frame.column_names, Kind.NUMBER)
    return TrainingData(frame, target, kinds, np.arange(n_rows))


def _notes(result: LocalImportance, settings: DemoSettings) -> tuple[str, ...]:
    kind = "totally randomized tree" if settings.max_features == 1 else "tree"
    return (
        f"{count(len(result), 'image')} of 8 by 8 pixels, scikit-learn's digits; each pixel is a "
        "feature.",
        f"{count(result.n_trees, kind)}, half of them grown on one half of the images and half on "
        "the other; every image is explained by trees that have not seen it.",
    )


def _show(summary: Summary, trust: Trust, *, pictures: list[str]) -> list[str]:
    result = summary.result
    assert trust.importance is not None
    return [
        *trust.lines(),
        "",
        *show_total(result, summary.levels(trust.quality)),
        *show_importance(trust.importance, most=8),
        "",
        "A zero, and where its bits come from",
        *pictures,
        "",
        *show_row(summary.first[0], unit=result.unit, measure=result.measure),
    ]


def _pictures(image: AnyArray, values: AnyArray) -> list[str]:
    """Return the digit beside the bits that its pixels removed, both in shades."""
    ink, bits = image.reshape(8, 8), values.clip(min=0.0).reshape(8, 8)
    return [
        f"  {_shaded(left)}    {_shaded(right)}".rstrip()
        for left, right in zip(ink / ink.max(), bits / (bits.max() or 1.0), strict=True)
    ]


def _shaded(row: AnyArray) -> str:
    return "".join(2 * _SHADES[round(4 * float(share))] for share in row)
