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
    table_options,
    task_option,
)
from localmdi.cli.console import Console, named_files, show_columns, show_files, show_ranking
from localmdi.cli.models import load_model
from localmdi.cli.output import check_outputs, write_table
from localmdi.cli.tables.model_columns import match_columns
from localmdi.cli.tables.node_statistics import measure_on_table, needs_table
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
            *fit_options(),
            *common_options(),
        ],
        short_help="Rank the features.",
        help="Rank the features by global MDI, with standard errors over the trees: those of "
        "--model, or of a forest fitted to --target of a table. Boosted trees of --model may be "
        "measured on a table.",
    )


def run(**values: Any) -> None:
    """Rank the features of a model, or of a forest fitted to a table."""
    settings = GlobalSettings(**values)
    check_outputs({"-o": settings.output}, inputs=[settings.data, settings.model])
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        importance, about = _measure(settings, console=console)
        if settings.output is not None:
            write_table(importance.to_arrow(), settings.output)
    files = named_files(output=settings.output)
    document = {"command": "global", **about, **_describe(importance), "files": files}
    console.finish(document, lines=[*_show(importance, about), *show_files(files)])


def _measure(
    settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, dict[str, Any]]:
    """Return the importances, and what they are of."""
    import click

    if settings.model is not None:
        return _measure_model(settings.model, settings, console=console)
    if settings.data is None:
        raise click.UsageError("pass either DATA with --target, or --model; got neither.")
    table = open_table(settings.data, separator=settings.separator, encoding=settings.encoding)
    features = choose_features(table, settings, console=console)
    training = read_training_data(table, features, settings=settings, console=console)
    # Without bootstrap the mean of the training rows is the global importance: no tree is kept.
    fitted = fit_forest(training, settings, console=console, keep_forest=False)
    return fitted.local_importances_.mean(), {"data": str(settings.data), **training.describe()}


def _measure_model(
    path: Path, settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, dict[str, Any]]:
    """Return the importances of a fitted model, boosted trees measured on a table."""
    import click

    from localmdi._api import global_mdi
    from localmdi.adapters import adapt

    if settings.data is not None and settings.target is None:
        raise click.UsageError(
            "pass either DATA with --target, or --model; got both. To measure boosted trees on a "
            "table, name its --target too."
        )
    model = load_model(path, allow_pickle=settings.allow_pickle)
    about = {"model": str(path)}
    adapted = adapt(model)
    if settings.data is None:
        if adapted.forest.impurity is None:
            raise ValueError(
                f"{path.name!r} does not store how uncertain the target is at its nodes. Pass a "
                "table that tells: localmdi global DATA --model FILE --target NAME."
            )
        return global_mdi(model), about
    if not needs_table(adapted.forest, settings.target):
        raise click.UsageError(
            "pass either DATA with --target, or --model; got both. Only boosted trees are measured "
            "on a table."
        )
    table = open_table(settings.data, separator=settings.separator, encoding=settings.encoding)
    columns = match_columns(adapted, table, settings=settings, console=console)
    measured = measure_on_table(adapted, table, columns=columns, settings=settings, console=console)
    return global_mdi(measured.forest), {"data": str(settings.data), **about}


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
