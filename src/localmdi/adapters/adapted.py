"""What a model becomes at the edge: its forest, and what to do with rows before they meet it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from localmdi._validation import (
    RowRules,
    check_names,
    frame_labels,
    frame_type,
    read_encoded_rows,
    read_frame,
    read_rows,
)
from localmdi.adapters.in_bag import InBag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localmdi._validation import RowSource
    from localmdi.adapters.in_bag import Step
    from localmdi.adapters.pipelines import Transform
    from localmdi.forest import Forest


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
    in_bag_steps : callable or None
        Returns for each tree the steps from the model's ``fit`` to it; raises
        `UnsupportedModelError` if they cannot be known. None: left behind with the model.
    n_targets : int or None
        Number of targets of the model; None: it is a `Forest`, whose owner knows what it measures.
    """

    forest: Forest
    in_bag_steps: Callable[[], Sequence[Sequence[Step]]] | None = None
    transform: Transform | None = None
    input_names: tuple[str, ...] | None = None
    n_features_in: int | None = None
    finite: bool = False
    missing: bool = True
    sparse_missing: bool = False
    groups: dict[str, tuple[str, ...]] | None = None
    n_targets: int | None = None

    @property
    def in_bag(self) -> InBag:
        """The training rows' weights in each tree, as far as they can be rebuilt from the model."""
        if self.in_bag_steps is None:
            raise ValueError("the training rows of this model were left behind; adapt it again")
        return InBag(self.in_bag_steps)

    @cached_property
    def rules(self) -> RowRules:
        """What the rows may contain."""
        return RowRules(self.finite, self.missing, self.sparse_missing)

    @cached_property
    def note(self) -> str | None:
        """What a reader of the importances must know in order to read them rightly.

        Examples
        --------
        >>> from sklearn.ensemble import RandomForestRegressor
        >>> from localmdi.adapters import adapt
        >>> model = RandomForestRegressor(2).fit([[0.0], [1.0]], [[0.0, 0.0], [1.0, 100.0]])
        >>> adapt(model).note
        'mean over 2 targets, each in its own unit; scale targets alike to compare what they add.'
        """
        if self.n_targets is None:
            return None
        if self.forest.boosted and self.forest.unit == "variance":
            return (
                "each tree fits what the trees before it left over: this is variance of that, not "
                "of the target."
            )
        if self.n_targets < 2:
            return None
        if self.forest.classes is not None:
            return f"mean over {self.n_targets} targets."
        return (
            f"mean over {self.n_targets} targets, each in its own unit; scale targets alike to "
            "compare what they add."
        )

    def read(self, X: Any) -> RowSource:
        """Return the rows that the forest gets for X."""
        if self.transform is None:
            rows = self._read(X)
            # An estimator says what it was fitted with, or that it was fitted without names.
            expected = self.input_names if self.finite else self.forest.feature_names
            if self.finite or (rows.names is not None and expected is not None):
                check_names(rows.names, expected)
            return rows
        # The steps check X themselves: it may be anything that they accept, text for example.
        frame = read_frame(X)
        rows = replace(self._read(self.transform(X)), groups=self.groups)
        if frame is None:
            return replace(rows, frame_type=None, row_labels=None)
        return replace(rows, frame_type=frame_type(frame), row_labels=frame_labels(frame))

    def _read(self, X: Any) -> RowSource:
        categories, dtype = self.forest.categories, self.forest.row_dtype
        if categories is None:
            return read_rows(X, dtype)
        return read_encoded_rows(X, dtype, categories=categories)


def count_targets(model: Any) -> int:
    """Return how many targets a fitted model predicts."""
    return int(getattr(model, "n_outputs_", 1) or 1)
