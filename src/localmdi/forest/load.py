"""Read a forest back from its file."""

from __future__ import annotations

import os

from localmdi._container import read_container
from localmdi.exceptions import FileFormatError
from localmdi.forest.forest import Forest
from localmdi.forest.storage import KIND, VERSION, decode_fields

__all__ = ["load_forest"]


def load_forest(path: str | os.PathLike[str]) -> Forest:
    """Read a forest that `Forest.save` wrote.

    Everything comes back bit for bit. The file holds numbers and texts only, and is checked like
    any forest: loading a file of unknown origin runs no code of it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Forest

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or written by a newer version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localmdi.forest import build_forest
    >>> stump = build_forest(n_features=1, tree_offset=[0, 3], feature=[0, -1, -1],
    ...                      split_kind=[1, 0, 0], threshold=[0.5, 0, 0],
    ...                      child_offset=[0, 2, 2, 2], child=[1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "stump.lmdi"
    ...     stump.save(path)
    ...     load_forest(path)
    Forest: 1 tree, 3 nodes, 1 feature (x0)
      criterion: None
      node statistics: none
    """
    _, header, arrays = read_container(path, kind=KIND, max_version=VERSION)
    try:
        return Forest(**decode_fields(header, arrays))
    except ValueError as error:
        raise FileFormatError(
            f"cannot read {os.fspath(path)!r}: its fields must form a forest; got some that do "
            f"not: {error} Save the forest again."
        ) from error
