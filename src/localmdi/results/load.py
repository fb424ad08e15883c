"""Read a result back from its file."""

from __future__ import annotations

import os
import reprlib

from localmdi._container import read_container
from localmdi.exceptions import FileFormatError
from localmdi.results.global_ import GlobalImportance
from localmdi.results.local import LocalImportance
from localmdi.results.storage import KIND, VERSION, decode_fields

__all__ = ["load_importance"]


def load_importance(path: str | os.PathLike[str]) -> LocalImportance | GlobalImportance:
    """Read a result that `LocalImportance.save` or `GlobalImportance.save` wrote.

    Everything comes back bit for bit, except ``data``, which is not saved. Row labels come back as
    a pandas index if they were one (and as an array where pandas is not installed). The file holds
    numbers and texts only, and is checked: loading a file of unknown origin runs no code of it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    LocalImportance or GlobalImportance
        Whichever was saved.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or written by a newer version.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
    ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "result.lmdi"
    ...     result.save(path)
    ...     load_importance(path).values
    array([[0.5 , 0.25]])
    """
    _, header, arrays = read_container(path, kind=KIND, max_version=VERSION)
    try:
        fields = decode_fields(header, arrays)
        result = fields.pop("result", None)
        if result == "local":
            return LocalImportance(**fields)
        if result == "global":
            return GlobalImportance(**fields)
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"cannot read {os.fspath(path)!r}: its fields must form a result; got one that does "
            f"not: {error} Save the result again."
        ) from error
    raise FileFormatError(
        f"cannot read {os.fspath(path)!r}: it must hold a local or a global result; got "
        f"{reprlib.repr(result)}. A newer localmdi may have written it: upgrade localmdi."
    )
