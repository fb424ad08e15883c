"""``localmdi global``: the features ranked by their importances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from localmdi._criteria import unit_of
from localmdi._text import clean, count
from localmdi.cli.commands.options import (
    CommonSettings,
    common_options,
    fit_options,
    model_options,
    output_option,
    plain_option,
    safe_csv_option,
    table_options,
    task_option,
)
from localmdi.cli.console import (
    Console,
    named_files,
    show_columns,
    show_files,
    show_importance,
    show_ranking,
)
from localmdi.cli.held_out import FEWEST_ROWS, Trust, fit_folds, too_few
from localmdi.cli.models import load_model
from localmdi.cli.output import check_outputs, write_table
from localmdi.tables.model_columns import match_columns
from localmdi.tables.node_statistics import measure_on_table, needs_table
from localmdi.tables.open import from_standard_input
from localmdi.tables.settings import FitSettings, TableSettings, read_table
from localmdi.tables.training import choose_features, fit_forest, read_training_data

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from localmdi.results import GlobalImportance


_MOST_FEATURES = 50


@dataclass(frozen=True, kw_only=True)
class GlobalSettings(CommonSettings, FitSettings, TableSettings):
    """Options of ``localmdi global``."""

    data: Path | None
    model: Path | None
    allow_pickle: bool
    output: Path | None
    plain: bool
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
            plain_option(),
            safe_csv_option(),
            *fit_options(),
            *common_options(),
        ],
        short_help="Rank the features.",
        help="Rank the features, with standard errors: those of a table by what they tell about "
        "--target of rows that the trees have not seen, those of --model by its global MDI. "
        "Boosted trees of --model may be measured on a table.",
    )


def run(**values: Any) -> None:
    """Rank the features of a model, or of a forest fitted to a table."""
    settings = GlobalSettings(**values)
    check_outputs({"-o": settings.output}, inputs=[settings.data, settings.model])
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings(), from_standard_input(settings.data) as path:
        settings = replace(settings, data=path)
        importance, trust, about = _measure(settings, console=console)
        if settings.output is not None:
            write_table(importance.to_arrow(), settings.output, safe_csv=settings.safe_csv)
    if values["data"] is not None:
        about = {"data": str(values["data"]), **about}
    files = named_files(output=settings.output)
    document = {"command": "global", **about, **_describe(importance, trust), "files": files}
    lines = [*_show(importance, trust, about=about), *show_files(files)]
    console.finish(document, lines=lines)


def _measure(
    settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, Trust, dict[str, Any]]:
    """Return the importances, what is known of unseen rows, and what the importances are of."""
    import click

    if settings.model is not None:
        return _measure_model(settings.model, settings, console=console)
    if settings.data is None:
        raise click.UsageError("pass either DATA with --target, or --model; got neither.")
    table = read_table(settings.data, settings, listener=console)
    features = choose_features(table, settings, console=console)
    training = read_training_data(table, features, settings=settings, console=console)
    about = training.describe()
    n_rows = training.frame.num_rows
    if not settings.plain and n_rows >= FEWEST_ROWS:
        known = fit_folds(training, settings, console=console, measure="loss", predict=False)
        return known.importance, Trust.of(known), about
    if not settings.plain:
        console.note(too_few(n_rows))
    # Without bootstrap the mean of the training rows is the global importance: no tree is kept.
    fitted = fit_forest(training, settings, console=console, keep_forest=False)
    return fitted.local_importances_.mean(), Trust(), about


def _measure_model(
    path: Path, settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, Trust, dict[str, Any]]:
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
        return global_mdi(model), Trust(), about
    if not needs_table(adapted.forest, settings.target):
        raise click.UsageError(
            "pass either DATA with --target, or --model; got both. Only boosted trees are measured "
            "on a table; to rank the features of other models by rows that their trees have not "
            "seen, use localmdi explain with both."
        )
    table = read_table(settings.data, settings, listener=console)
    columns, table = match_columns(adapted, table, settings=settings, console=console)
    measured = measure_on_table(adapted, table, columns=columns, settings=settings, console=console)
    return global_mdi(measured.forest), Trust(), about


def _describe(importance: GlobalImportance, trust: Trust) -> dict[str, Any]:
    errors = importance.standard_error
    plain = [
        {
            "feature": name,
            "importance": float(importance.values[j]),
            "standard_error": None if errors is None else float(errors[j]),
        }
        for j, name in enumerate(importance.feature_names)
    ]
    told = trust.describe()
    return {
        "trees": importance.n_trees,
        "unit": importance.unit,
        "measure": importance.measure,
        "honest": importance.honest,
        "baseline": importance.baseline,
        **told,
        "features": told["features"] or plain,
    }


def _show(importance: GlobalImportance, trust: Trust, *, about: dict[str, Any]) -> list[str]:
    unit = unit_of(importance.unit)
    source = clean(about.get("data") or about.get("model"))
    within = f", in {unit.symbol}" if unit.symbol else ""
    head = [
        f"{source}: {count(len(importance), 'feature')}; {count(importance.n_trees, 'tree')}",
        *show_columns(about),
        "",
        *trust.lines(),
        "",
    ]
    if trust.importance is not None:
        return [
            *head,
            f"Mean gain of each feature on unseen rows{within}, with standard errors",
            *show_importance(importance, most=_MOST_FEATURES),
        ]
    # A single tree has no standard error.
    errors = importance.standard_error if importance.n_trees > 1 else None
    beside = "" if errors is None else ", with standard errors over the trees"
    return [
        *head,
        f"Global MDI: mean {unit.quantity} removed{within}{beside}",
        *show_ranking(
            importance.feature_names,
            importance.values.tolist(),
            errors=None if errors is None else errors.tolist(),
            most=_MOST_FEATURES,
        ),
    ]
