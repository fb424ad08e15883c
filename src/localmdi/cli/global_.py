"""``localmdi global``: the features ranked by global MDI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.cli.console import Console
from localmdi.cli.fitting import fit_forest
from localmdi.cli.lessons import choose_features, describe_columns, read_lesson
from localmdi.cli.outputs import check_outputs, write_table
from localmdi.cli.settings import GlobalSettings
from localmdi.cli.tables import open_table
from localmdi.cli.text import clean, count, ranking
from localmdi.cli.words import show_columns, show_files
from localmdi.importance import global_importance

if TYPE_CHECKING:
    from localmdi.results import GlobalImportance

__all__ = ["run"]

_MOST = 50


def run(**values: Any) -> None:
    r"""Rank the features of a model, or of a forest fitted to a table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sick\n31,no\n47,yes\n")
    ...     main(["global", str(path), "--target", "sick", "--trees", "10"])
    1 feature, 10 trees...
      age  1.0000 ± 0.0000  ████████████████████████
    0
    """
    import click

    settings = GlobalSettings(**values)
    if (settings.data is None) == (settings.model is None):
        raise click.UsageError(
            "either DATA, with --target, or --model must be given; got "
            f"{'neither' if settings.data is None else 'both'}."
        )
    check_outputs(
        {"-o": settings.output}, inputs=[settings.data, settings.model], table=settings.output
    )
    console = Console(quiet=settings.quiet, as_json=settings.as_json)
    with console.hear_warnings():
        importance, about = _measure(settings, console=console)
        if settings.output is not None:
            write_table(importance.to_arrow(), settings.output)
    files = {} if settings.output is None else {"output": str(settings.output)}
    document = {"command": "global", **about, **_describe(importance), "files": files}
    lines = [*_show(importance, about), *show_files(files)]
    console.finish(document, text="\n".join(lines))


def _measure(
    settings: GlobalSettings, *, console: Console
) -> tuple[GlobalImportance, dict[str, Any]]:
    if settings.model is not None:
        from localmdi.adapters import adapt
        from localmdi.cli.models import load_model

        model = load_model(settings.model, allow_pickle=settings.allow_pickle)
        return global_importance(adapt(model).forest), {"model": str(settings.model)}
    table = open_table(settings)
    features = choose_features(table, settings, console=console)
    lesson = read_lesson(table, features, settings=settings, console=console)
    # Without bootstrap the mean of the training rows is the global importance: no tree is kept.
    fitted = fit_forest(lesson, settings, console=console, keep_forest=False)
    about = {
        "data": str(settings.data),
        "target": lesson.target.name,
        "task": lesson.target.task,
        "task_reason": lesson.target.reason,
        "columns": describe_columns(lesson),
        "fitted_rows": lesson.frame.num_rows,
    }
    return fitted.local_importances_.mean(), about


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
    errors = importance.standard_error
    source = clean(about.get("data") or about.get("model"), widest=80)
    beside = "" if errors is None else ", with standard errors over the trees"
    return [
        f"{count(len(importance), 'feature')}, {count(importance.n_trees, 'tree')}; {source}",
        *show_columns(about),
        "",
        f"Global MDI in {importance.unit}{beside}",
        *ranking(
            importance.feature_names,
            importance.values.tolist(),
            errors=None if errors is None else errors.tolist(),
            most=_MOST,
        ),
    ]
