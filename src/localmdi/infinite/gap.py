"""How far a real forest is from the infinite totally randomized one on the same sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._criteria import CRITERIA
from localmdi._text import quote_names
from localmdi.infinite.mdi import infinite_mdi

if TYPE_CHECKING:
    from localmdi.results import LocalImportance
    from localmdi.typing import ArrayLike, BoolArray, FloatArray, RowsLike

__all__ = ["ForestGap", "measure_gap"]


@dataclass(frozen=True, eq=False)
class ForestGap:
    """A forest's importances beside those of the infinite forest; made by `measure_gap`.

    Parameters
    ----------
    forest, infinite : LocalImportance
        Of the same rows and features.
    masked_below : float
        A feature counts as masked if the forest gives it less than this share of its importance.

    Examples
    --------
    A single stump on one of two copies hides the other:

    >>> from localmdi.infinite import infinite_mdi
    >>> from localmdi.results import LocalImportance
    >>> X, y = [[0, 0], [1, 1]], [0, 1]
    >>> stump = LocalImportance(np.array([[1.0, 0.0], [1.0, 0.0]]), 1.0, residual=np.zeros(2),
    ...                         unit="bits", feature_names=("x0", "x1"), n_trees=1)
    >>> gap = ForestGap(stump, infinite_mdi(X, y))
    >>> gap.masked, gap.rows
    (array([False,  True]), array([0.5, 0.5]))
    """

    forest: LocalImportance
    infinite: LocalImportance
    masked_below: float = 0.1

    @property
    def features(self) -> FloatArray:
        """Global importance of the forest minus that of the infinite one, (n_features,)."""
        return np.asarray(self.forest.mean().values - self.infinite.mean().values)

    @property
    def rows(self) -> FloatArray:
        """Largest difference of a local importance, for each row."""
        return np.asarray(np.abs(self._difference).max(axis=1, initial=0.0))

    @property
    def masked(self) -> BoolArray:
        """Which features matter in the infinite forest and are nearly absent from the real one.

        Features with less than a hundredth of the baseline do not count.
        """
        ours, theirs = self.infinite.mean(), self.forest.mean().values
        matters = ours.values > 0.01 * (ours.baseline or 0.0)
        return np.asarray(matters & (theirs < self.masked_below * ours.values))

    @property
    def _difference(self) -> FloatArray:
        difference: FloatArray = np.asarray(self.forest) - np.asarray(self.infinite)
        return difference

    def table(self) -> dict[str, dict[str, Any]]:
        """Return one line per feature; ``pandas.DataFrame(table).T`` shows it.

        Examples
        --------
        >>> from localmdi.infinite import infinite_mdi
        >>> result = infinite_mdi([[0], [1]], [0, 1])
        >>> ForestGap(result, result).table()["x0"]
        {'forest': 1.0, 'infinite': 1.0, 'gap': 0.0, 'mean_local_gap': 0.0, 'masked': False}
        """
        columns = {
            "forest": self.forest.mean().values,
            "infinite": self.infinite.mean().values,
            "gap": self.features,
            "mean_local_gap": np.abs(self._difference).mean(axis=0),
            "masked": self.masked,
        }
        names = self.infinite.feature_names
        return {
            name: {key: column[m].item() for key, column in columns.items()}
            for m, name in enumerate(names)
        }


def measure_gap(forest: LocalImportance, X: RowsLike, *, y: ArrayLike, **options: Any) -> ForestGap:
    """Compare a forest's local importances of its training rows with the infinite forest's.

    Parameters
    ----------
    forest : LocalImportance
        ``decompose_global(model, X)`` or ``local_mdi(model, X)`` of a forest grown on (X, y).
    X, y
        The sample, with categorical columns only.
    **options
        As for `infinite_mdi`; criterion and measure are those of `forest`.

    Examples
    --------
    >>> from localmdi.infinite import infinite_mdi
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> measure_gap(infinite_mdi(X, y), X, y=y).features
    array([0., 0.])
    """
    computed = {criterion.unit: criterion for criterion in CRITERIA if criterion.formula}
    if forest.unit not in computed:
        names = ", ".join(criterion.name for criterion in computed.values())
        raise ValueError(
            f"the forest's importances must be in one of {quote_names(computed)}; "
            f"got {forest.unit!r}. "
            f"Grow the forest with one of these criteria: {names}."
        )
    if forest.measure != "drop":
        raise ValueError(
            f"the forest's importances must be of measure 'drop'; got {forest.measure!r}. "
            "Explain the forest with measure='drop'."
        )
    criterion = computed[forest.unit].name
    infinite = infinite_mdi(X, y, criterion=criterion, measure=forest.measure, **options)
    if forest.shape != infinite.shape:
        raise ValueError(
            f"the forest's importances must be those of X, {infinite.shape}; got {forest.shape}. "
            "Explain the same rows, with the features that the forest was grown on."
        )
    return ForestGap(forest, infinite)
