"""``localmdi global``: the features ranked by global MDI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localmdi._criteria import unit_of
from localmdi._text import clean, count
from localmdi.cli.commands.options import (
    FitSettings,
    TableSettings,
    common_options,
    fit_options,
    model_options,
    output_option,
    safe_csv_option,
    table_options,
    task_option,
)
from localmdi.cli.console import Console, named_files, show_columns, show_files, show_ranking
from localmdi.cli.models import load_model
from localmdi.cli.output import check_outputs, write_table
from localmdi.cli.tables.open import open_table
from localmdi.cli.tables.training import choose_features, fit_forest, read_training_data

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from localmdi.results import GlobalImportance

__all__ = ["command", "run"]

_MOST_FEATURES = 50


@dataclass(frozen=True, kw_only=True)
class GlobalSettings(FitSettings, TableSettings):
    """Options of ``localmdi global``."""

    data: Path | None
    model: Path | None
    allow_pickle: bool
    output: Path | None
    safe_csv: bool


def command() -> click.Command:
    """Return ``localmdi global``."""
    import click

    return click.Command(
        "global",
        params=[
            *table_options(required=False),
            task_option(),
            *model_options(),
            output_option(),
            safe_csv_option(),
            *fit_options(),
            *common_options(),
        ],
        short_help="Rank the features.",
        help="Rank the features by global MDI, with standard errors over the trees: those of "
        "--model, or of a forest fitted to --target of a table.",
    )


def run(**values: Any) -> None:
    """Rank the features of a model, or of a forest fitted to a table."""
    settings = GlobalSettings(**values)
    check_outputs({"-o": settings.output}, inputs=[settings.data, settings.model])
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        importance, about = _measure(settings, console=console)
        if settings.output is not None:
            write_table(importance.to_arrow(), settings.output, safe_csv=settings.safe_csv)
    files = named_files(output=settings.output)
    document = {"command": "global", **about, **_describe(importance), "files": files}
    console.finish(document, lines=[*_show(importance, about), *show_files(files)])


def _measure(
    settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, dict[str, Any]]:
    """Return the importances, and what they are of."""
    import click

    if settings.model is not None and settings.data is None:
        from localmdi._api import global_mdi

        model = load_model(settings.model, allow_pickle=settings.allow_pickle)
        return global_mdi(model), {"model": str(settings.model)}
    if settings.data is None or settings.model is not None:
        given = "neither" if settings.data is None else "both"
        raise click.UsageError(f"pass either DATA with --target, or --model; got {given}.")
    table = open_table(settings.data, separator=settings.separator, encoding=settings.encoding)
    features = choose_features(table, settings, console=console)
    training = read_training_data(table, features, settings=settings, console=console)
    # Without bootstrap the mean of the training rows is the global importance: no tree is kept.
    fitted = fit_forest(training, settings, console=console, keep_forest=False)
    return fitted.local_importances_.mean(), {"data": str(settings.data), **training.describe()}


def _describe(importance: GlobalImportance) -> dict[str, Any]:
    errors = importance.standard_error
    return {
        "trees": importance.n_trees,
        "unit": importance.unit,
        "baseline": importance.baseline,
        "features": [
            {
                "feature": name,
                "importance": float(importance.values[j]),
                "standard_error": None if errors is None else float(errors[j]),
            }
            for j, name in enumerate(importance.feature_names)
        ],
    }


def _show(importance: GlobalImportance, about: dict[str, Any]) -> list[str]:
    # A single tree has no standard error.
    errors = importance.standard_error if importance.n_trees > 1 else None
    unit = unit_of(importance.unit)
    source = clean(about.get("data") or about.get("model"))
    beside = "" if errors is None else ", with standard errors over the trees"
    return [
        f"{source}: {count(len(importance), 'feature')}; {count(importance.n_trees, 'tree')}",
        *show_columns(about),
        "",
        f"Global MDI: mean {unit.quantity} removed{f', in {unit.symbol}' if unit.symbol else ''}"
        f"{beside}",
        *show_ranking(
            importance.feature_names,
            importance.values.tolist(),
            errors=None if errors is None else errors.tolist(),
            most=_MOST_FEATURES,
        ),
    ]
