"""Fitted models in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.forest import Forest, load_forest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load_model"]

_FOREST = b"\x89LMDI"
_ZIP = b"PK\x03\x04"
_PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: Path, *, allow_pickle: bool) -> Any:
    """Return the model or the `Forest` in a file.

    Parameters
    ----------
    path : Path
        A file of skops, of `Forest.save` or, if allowed, of pickle or joblib.
    allow_pickle : bool
        Whether a file may be loaded that runs code.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.forest import build_forest
    >>> leaf = build_forest(n_features=1, tree_offset=[0, 1], feature=[-1], split_kind=[0],
    ...                     threshold=[0.0], child_offset=[0, 0], child=[])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "forest.lmdi"
    ...     leaf.save(path)
    ...     load_model(path, allow_pickle=False).n_trees
    1
    """
    model = _load(path, allow_pickle=allow_pickle)
    forest = getattr(model, "forest_", None)
    # Our own estimators are their forest, which predicts as they do.
    return forest if isinstance(forest, Forest) else model


def _load(path: Path, *, allow_pickle: bool) -> Any:
    with open(path, "rb") as file:
        beginning = file.read(8)
    if beginning.startswith(_FOREST):
        return load_forest(path)
    if beginning.startswith(_ZIP):
        from localmdi.cli.skops_models import load_skops

        return load_skops(path)
    if path.suffix.lower() not in _PICKLES:
        raise ValueError(
            f"a model must be a .skops file or a Forest that was saved; {path.name!r} is neither. "
            "Save it with skops.io.dump(model, path) or localmdi.as_forest(model).save(path)."
        )
    if not allow_pickle:
        raise ValueError(
            f"{path.name!r} is a pickle, and loading one runs whatever code it holds; it must be "
            "allowed. If you trust its maker pass --allow-pickle; better save the model with "
            "skops.io.dump."
        )
    return _load_pickle(path)


def _load_pickle(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        # Unpickling calls anything, so that anything can be raised.
        raise ValueError(
            f"{path.name!r} must hold a fitted model that can be loaded; got "
            f"{type(error).__name__}: {error}. Use the library versions that it was saved with."
        ) from error
