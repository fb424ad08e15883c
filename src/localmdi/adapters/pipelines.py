"""Models around models: a Pipeline (its earlier steps transform X), and means of members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Transform:
    """Fitted steps, applied to X one after the other."""

    steps: tuple[Any, ...]

    def __call__(self, X: Any) -> Any:
        """Return the transformed rows."""
        for step in self.steps:
            X = step.transform(X)
        return X


def transformers(pipeline: Any) -> tuple[Any, ...]:
    """Return the steps before the last that change X when the pipeline predicts.

    Steps that only resample the training rows (imbalanced-learn's) do not.
    """
    return tuple(step for step in _earlier(pipeline) if hasattr(step, "transform"))


def has_samplers(pipeline: Any) -> bool:
    """Whether some step changes which rows the last one is fitted on."""
    return any(hasattr(step, "fit_resample") for step in _earlier(pipeline))


def refuse_resampling(model: Any) -> NoReturn:
    """Raise the error for a model that resamples its rows without recording how."""
    raise UnsupportedModelError(
        f"{type(model).__name__} resamples its rows and does not record how often each was drawn, "
        "so their weights in the trees cannot be rebuilt. Explain rows with local_mdi instead."
    )


def names_after(steps: Sequence[Any], names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the feature names after the steps; None if a step does not say."""
    for step in steps:
        try:
            found = step.get_feature_names_out(names)
        except (AttributeError, ValueError):
            return None
        names = tuple(map(str, found))
    return names


def plain_members(model: Any) -> list[Any]:
    """Return the members of calibration, Bagging and Voting, whose mean the model is."""
    if hasattr(model, "calibrated_classifiers_"):
        return [fold.estimator for fold in model.calibrated_classifiers_]
    is_mean = hasattr(model, "estimators_features_") or hasattr(model, "named_estimators_")
    return list(model.estimators_) if is_mean and hasattr(model, "estimators_") else []


def _earlier(pipeline: Any) -> list[Any]:
    steps = [step for _, step in pipeline.steps[:-1]]
    return [step for step in steps if step is not None and step != "passthrough"]
