"""``localmdi demo``: the paper's forest on handwritten digits, every row explained."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from localmdi.cli.console import Console
from localmdi.cli.outputs import check_outputs
from localmdi.cli.settings import DemoSettings
from localmdi.cli.summary import Explained, Summary
from localmdi.cli.text import count, ranking, story
from localmdi.cli.words import describe, show_files

__all__ = ["run"]

_SHADES = " ░▒▓█"


def run(**values: Any) -> None:
    """Explain every digit, and write a report.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     main(["demo", "--trees", "10", "--report", str(pathlib.Path(folder) / "demo.html")])
    1,797 handwritten digits...
    """
    from sklearn.datasets import load_digits

    from localmdi.report import write_report
    from localmdi.trees import RandomizedForestClassifier

    settings = DemoSettings(**values)
    check_outputs({"--report": settings.report}, inputs=[], table=None)
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    digits = load_digits()
    start = perf_counter()
    model = RandomizedForestClassifier(
        settings.trees or 1000,
        max_features=settings.max_features,
        keep_forest=False,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        progress=console.progress,
    )
    model.fit(digits.data, digits.target)
    seconds = perf_counter() - start
    result = replace(model.local_importances_, feature_names=tuple(digits.feature_names))
    summary = Summary(show=0, sample=0, seed=0)
    summary.add(Explained(result, np.arange(len(result)), None, digits.target))
    with console.hear_warnings():
        write_report(
            result,
            settings.report,
            global_importance=result.mean(),
            target=digits.target.tolist(),
            title="Handwritten digits",
            notes=_notes(result, settings),
        )
    files = {"report": str(settings.report)}
    document = {
        "command": "demo",
        "trees": result.n_trees,
        "seconds": round(seconds, 3),
        **describe(summary),
        "first_rows": [_story_of(result, digits)],
        "files": files,
    }
    text = "\n".join([*_show(result, digits, seconds=seconds), *show_files(files)])
    console.finish(document, text=text)


def _notes(result: Any, settings: DemoSettings) -> tuple[str, ...]:
    kind = "totally randomized trees" if settings.max_features == 1 else "trees"
    return (
        f"{len(result):,} images of 8 by 8 pixels, scikit-learn's digits; each pixel is a feature.",
        f"{result.n_trees:,} {kind}, grown until every leaf holds one class; the rows were "
        "explained while they grew.",
    )


def _story_of(result: Any, digits: Any) -> dict[str, Any]:
    pixels = dict(zip(digits.feature_names, digits.data[0].tolist(), strict=True))
    return {
        "row": 0,
        "target": int(digits.target[0]),
        "baseline": float(result.baseline),
        "residual": float(result.residual[0]),
        "values": dict(zip(result.feature_names, result.values[0].tolist(), strict=True)),
        "data": pixels,
    }


def _show(result: Any, digits: Any, *, seconds: float) -> list[str]:
    mean = result.mean()
    error = mean.standard_error
    return [
        f"{len(result):,} handwritten digits of 64 pixels, explained by "
        f"{count(result.n_trees, 'tree')} in {seconds:.1f} s",
        "",
        f"{result.baseline:.4f} bits of uncertainty before a pixel is known (log2 10 = 3.3219, for "
        "ten digits that are nearly equally frequent); "
        f"{result.residual.mean():.4f} are left on average.",
        "Removed by each pixel, mean over all digits, in bits, with standard errors",
        *ranking(
            result.feature_names,
            mean.values.tolist(),
            errors=None if error is None else error.tolist(),
            most=8,
        ),
        "",
        "A zero, and where its bits come from",
        *_pictures(digits.data[0], result.values[0]),
        "",
        *story(_story_of(result, digits), unit=result.unit),
    ]


def _pictures(image: Any, values: Any) -> list[str]:
    """Return the digit beside the bits that its pixels removed, both in shades."""
    ink, bits = image.reshape(8, 8), np.maximum(values, 0.0).reshape(8, 8)
    rows = []
    for left, right in zip(ink / ink.max(), bits / (bits.max() or 1.0), strict=True):
        rows.append(f"  {_shaded(left)}    {_shaded(right)}".rstrip())
    return rows


def _shaded(row: Any) -> str:
    return "".join(2 * _SHADES[round(4 * float(share))] for share in row)
