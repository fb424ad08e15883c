"""The result of the infinite forest: a local importance, and what only it can know."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from localmdi.results import LocalImportance
from localmdi.results.axes import split_key
from localmdi.results.own_data import is_everything

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localmdi.results.axes import Choice
    from localmdi.typing import FloatArray

__all__ = ["InfiniteImportance"]


@dataclass(frozen=True, eq=False, repr=False)
class InfiniteImportance(LocalImportance):
    """Local importances of the infinite forest.

    Everything that a `LocalImportance` has and does; ``n_trees`` is 0. Grouped, joined and saved
    results are plain `LocalImportance`, without the fields below.

    Parameters
    ----------
    support : ndarray of float64, shape (n_rows,), or None
        Probability that a tree follows the row to the end of its path without meeting a node that
        holds no row with its value: 1 for rows of the sample.
    profile : ndarray of float64, shape (n_rows, n_features, n_features), or None
        ``profile[i, m, k]``: the part of ``values[i, m]`` from contexts of k features, those that
        were asked before.
    bins : dict of str to tuple of float, or None
        Edges of the columns that were cut into categories.

    Examples
    --------
    >>> from localmdi.infinite import infinite_mdi
    >>> infinite_mdi([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    InfiniteImportance: 4 rows, 2 features, in bits
      baseline 1, mean residual 0
      largest by mean value:
        x0  0.5
        x1  0.5
    """

    support: FloatArray | None = None
    profile: FloatArray | None = None
    bins: Mapping[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n_rows, n_features = self.shape
        for name, shape in (("support", (n_rows,)), ("profile", (n_rows, n_features, n_features))):
            value = getattr(self, name)
            if value is None:
                continue
            if np.shape(value) != shape:
                raise ValueError(
                    f"{name} must have shape {shape}; got {np.shape(value)}. To join results use "
                    "InfiniteImportance.concat."
                )
            view = np.asarray(value).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def mean_profile(self) -> FloatArray:
        """Return the degree profile of the global importance, (n_features, n_features).

        Examples
        --------
        An exclusive or says nothing until the other input is known:

        >>> from localmdi.infinite import infinite_mdi
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> infinite_mdi(X, y, profile=True).mean_profile()
        array([[0. , 0.5],
               [0. , 0.5]])
        """
        if self.profile is None:
            raise ValueError("the result has no profile. Compute it with profile=True.")
        return np.asarray(np.average(self.profile, axis=0, weights=self.row_weight))

    def plain(self) -> LocalImportance:
        """Return the same values as a plain `LocalImportance`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> type(infinite_mdi([[0], [1]], [0, 1]).plain()).__name__
        'LocalImportance'
        """
        kept = {field.name: getattr(self, field.name) for field in fields(LocalImportance)}
        return LocalImportance(**kept)

    def __getitem__(self, key: Choice | tuple[Choice, Choice]) -> InfiniteImportance:
        chosen = self.plain()[key]
        rows, columns = split_key(key, len(self), names=self.feature_names)
        everything = is_everything(columns)
        return InfiniteImportance(
            **{field.name: getattr(chosen, field.name) for field in fields(LocalImportance)},
            support=None if self.support is None else self.support[rows],
            profile=self.profile[rows] if self.profile is not None and everything else None,
            bins=self.bins,
        )

    def group(
        self, mapping: Mapping[str, Sequence[str]] | Literal["auto"] = "auto"
    ) -> LocalImportance:
        """Add up the values of features that belong together; see `LocalImportance.group`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> result = infinite_mdi([[0, 0], [1, 1]], [0, 1])
        >>> result.group({"both": ["x0", "x1"]}).values
        array([[1.],
               [1.]])
        """
        return self.plain().group(mapping)

    @classmethod
    def concat(cls, parts: Iterable[LocalImportance]) -> LocalImportance:
        """Join results of different rows; see `LocalImportance.concat`.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> part = infinite_mdi([[0], [1]], [0, 1])
        >>> InfiniteImportance.concat([part, part]).shape
        (4, 1)
        """
        return LocalImportance.concat(
            [part.plain() if isinstance(part, InfiniteImportance) else part for part in parts]
        )
