"""``localmdi demo``: the paper's forest on handwritten digits, every row explained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from localmdi._text import count
from localmdi.cli.commands.options import FitSettings, common_options, fit_options
from localmdi.cli.console import Console, named_files, show_files, show_ranking, show_row
from localmdi.cli.explained import Explained, Summary
from localmdi.cli.held_out import Trust
from localmdi.cli.output import check_outputs, write_page

if TYPE_CHECKING:
    import click

    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray

__all__ = ["command", "run"]

_SHADES = " ░▒▓█"


@dataclass(frozen=True, kw_only=True)
class DemoSettings(FitSettings):
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
        "trees, and write a report.",
    )


def run(**values: Any) -> None:
    """Explain every digit, and write a report."""
    import numpy as np
    import pyarrow as pa
    from sklearn.datasets import load_digits

    from localmdi.trees import RandomizedForestClassifier

    settings = DemoSettings(**values)
    check_outputs({"--report": settings.report})
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    digits = load_digits()
    frame = pa.Table.from_arrays(
        [pa.array(column) for column in digits.data.T], names=digits.feature_names
    )
    start = perf_counter()
    model = RandomizedForestClassifier(
        settings.trees or 1000,
        max_features=settings.max_features,
        keep_forest=False,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        progress=console.progress,
    )
    result = model.fit(frame, digits.target).local_importances_
    seconds = round(perf_counter() - start, 3)
    explained = Explained(result, np.arange(len(result)), target=digits.target)
    summary = Summary(show=1)
    summary.add(explained)
    with console.hear_warnings():
        write_page(
            explained,
            settings.report,
            global_importance=result.mean(),
            title="Handwritten digits",
            notes=_notes(result, settings),
        )
    files = named_files(report=settings.report)
    about = {"trees": result.n_trees, "seconds": seconds}
    document = {"command": "demo", **about, **summary.describe(), "files": files}
    lines = _show(result, digits.data[0], seconds=seconds)
    lines += ["", *show_row(summary.first[0], unit=result.unit), *show_files(files)]
    console.finish(document, lines=lines)


def _notes(result: LocalImportance, settings: DemoSettings) -> tuple[str, ...]:
    kind = "totally randomized tree" if settings.max_features == 1 else "tree"
    return (
        f"{count(len(result), 'image')} of 8 by 8 pixels, scikit-learn's digits; each pixel is a "
        "feature.",
        f"{count(result.n_trees, kind)}, grown until every leaf holds one class; the rows were "
        "explained during growth.",
    )


def _show(result: LocalImportance, image: AnyArray, *, seconds: float) -> list[str]:
    import numpy as np

    mean = result.mean()
    # A single tree has no standard error.
    error = mean.standard_error if mean.n_trees > 1 else None
    return [
        f"{len(result):,} handwritten digits of 64 pixels, explained by "
        f"{count(result.n_trees, 'tree')} in {seconds:.2f} s",
        *Trust().lines(),
        "",
        f"Uncertainty before a pixel is known: {result.baseline:.4f} bits (log2 10 = 3.3219: the "
        "ten digits are almost equally frequent); left on average: "
        f"{np.asarray(result.residual).mean():.4f} "
        "bits",
        "Mean uncertainty removed by each pixel, in bits"
        f"{'' if error is None else ', with standard errors over the trees'}",
        *show_ranking(
            result.feature_names,
            mean.values.tolist(),
            errors=None if error is None else error.tolist(),
            most=8,
        ),
        "",
        "A zero, and where its bits come from",
        *_pictures(image, result.values[0]),
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
