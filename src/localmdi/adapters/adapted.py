"""What a model becomes at the edge: its forest, and what to do with rows before they meet it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localmdi.adapters.in_bag import InBag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localmdi.adapters.in_bag import Step
    from localmdi.adapters.pipelines import Transform
    from localmdi.forest import Forest

__all__ = ["AdaptedModel"]


@dataclass(frozen=True, kw_only=True)
class AdaptedModel:
    """A model as the rest of the library sees it.

    Parameters
    ----------
    forest : Forest
        The trees; without node values unless they were asked for.
    transform : Transform or None
        What a Pipeline does to X before the trees get it, to be called with X; None: nothing.
    input_names : tuple of str or None
        Feature names the outermost model was fitted with (``feature_names_in_``).
    n_features_in : int or None
        Columns of X; None if the first step of a Pipeline does not say.
    finite : bool
        Whether ±inf in X is an error, as it is for scikit-learn's estimators.
    missing : bool
        Whether NaN may occur in dense X; if False, it is an error anywhere. If True, the
        nodes of the forest decide.
    sparse_missing : bool
        Whether NaN may occur in sparse X.
    groups : dict of str to tuple of str, or None
        Column of X → the features that a Pipeline made of it alone, where that is known.
    in_bag_steps : callable
        Returns for each tree the steps from the model's ``fit`` to it; raises
        `UnsupportedModelError` if they cannot be known.
    """

    forest: Forest
    in_bag_steps: Callable[[], Sequence[Sequence[Step]]]
    transform: Transform | None = None
    input_names: tuple[str, ...] | None = None
    n_features_in: int | None = None
    finite: bool = False
    missing: bool = True
    sparse_missing: bool = False
    groups: dict[str, tuple[str, ...]] | None = None

    @property
    def in_bag(self) -> InBag:
        """The training rows' weights in each tree, as far as they can be rebuilt from the model."""
        return InBag(self.in_bag_steps)
