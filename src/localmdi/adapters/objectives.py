"""The losses of boosting as each library computes them, and how it was told to boost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray, FloatArray

Loss = Literal["squared", "logistic", "softmax", "poisson"]
# XGBoost keeps hessians above this.
_LEAST_HESSIAN = 1e-16


@dataclass(frozen=True)
class Boosting:
    """How a model was boosted, and its training rows.

    Parameters
    ----------
    loss : {"squared", "logistic", "softmax", "poisson"}
        What was minimised.
    target : ndarray of shape (n_rows,)
        Numbers, or codes of classes.
    weight : ndarray of shape (n_rows,)
        The weights of the rows.
    start : ndarray of shape (n_scores,)
        The scores before the first round.
    start_in_trees : bool
        Whether the first trees have the start added to their values (LightGBM).
    reg_lambda, reg_alpha : float
        The regularisation of steps: −soft(G, α)/(H + λ).
    slope : float
        LightGBM's ``sigmoid``.
    hessian_factor : float
        Of the softmax: XGBoost 2, LightGBM K/(K − 1), scikit-learn 1.
    loss_weight : ndarray or None
        Weights of classes that enter the gradients only.
    counted : bool
        Whether the nodes of the model count rows.
    root_has_score : bool
        Whether a root's own step counts; HistGradientBoosting takes its gain from no step at all.
    """

    loss: Loss
    target: AnyArray
    weight: FloatArray
    start: FloatArray
    start_in_trees: bool = False
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    slope: float = 1.0
    hessian_factor: float = 1.0
    loss_weight: FloatArray | None = field(default=None, repr=False)
    counted: bool = True
    root_has_score: bool = True

    def gradients(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients and hessians for the rows' scores, rounded as all libraries do."""
        gradient, hessian = _LOSSES[self.loss](self, score)
        factor = self.weight if self.loss_weight is None else self.weight * self.loss_weight
        parts = (gradient * factor[:, None], hessian * factor[:, None])
        one, other = (part.astype(np.float32).astype(np.float64) for part in parts)
        return one, other

    def step(self, gradient: FloatArray, hessian: FloatArray) -> FloatArray:
        """Return the steps for sums of gradients and hessians."""
        return -_soft(gradient, self.reg_alpha) / self._bounded(hessian)

    def score(self, gradient: FloatArray, hessian: FloatArray) -> FloatArray:
        """Return what such steps take from the loss, twice: G²/(H + λ)."""
        return np.square(_soft(gradient, self.reg_alpha)) / self._bounded(hessian)

    def _bounded(self, hessian: FloatArray) -> FloatArray:
        return np.maximum(hessian + self.reg_lambda, 1e-15)


def _soft(gradient: FloatArray, alpha: float) -> FloatArray:
    return np.sign(gradient) * np.maximum(np.abs(gradient) - alpha, 0.0) if alpha else gradient


def _squared(boosting: Boosting, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    return score - boosting.target[:, None], np.ones_like(score)


def _logistic(boosting: Boosting, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    slope = boosting.slope
    share = 1.0 / (1.0 + np.exp(-slope * score))
    hessian = np.maximum(share * (1.0 - share), _LEAST_HESSIAN)
    return slope * (share - boosting.target[:, None]), slope**2 * hessian


def _softmax(boosting: Boosting, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    odds = np.exp(score - score.max(axis=1, keepdims=True))
    share = odds / odds.sum(axis=1, keepdims=True)
    is_class = boosting.target[:, None] == np.arange(score.shape[1])
    hessian = boosting.hessian_factor * share * (1.0 - share)
    return share - is_class, np.maximum(hessian, _LEAST_HESSIAN)


def _poisson(boosting: Boosting, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.exp(score)
    return mean - boosting.target[:, None], mean


_LOSSES = {"squared": _squared, "logistic": _logistic, "softmax": _softmax, "poisson": _poisson}


def describe_boosting(model: Any, target: AnyArray, *, weight: FloatArray) -> Boosting:
    """Return how a live model was boosted, or raise `UnsupportedModelError` with the reason."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    weight = weight * _class_weight(model, target)
    if hasattr(model, "model_to_string") or hasattr(model, "booster_"):
        return _lightgbm(model, target, weight=weight)
    if "xgboost" in packages:
        return _xgboost(model, target, weight=weight)
    if hasattr(model, "do_early_stopping_"):
        return _hist_gradient_boosting(model, target, weight=weight)
    raise UnsupportedModelError(
        f"the gradients of a {type(model).__name__} cannot be rebuilt; LightGBM, XGBoost and "
        "HistGradientBoosting models can. Models that store impurities (scikit-learn's "
        "GradientBoosting, ydf's) need no gradients; for others (CatBoost draws and orders its "
        "rows) use as_forest(model).with_statistics(X, y, criterion=...)."
    )


def _class_weight(model: Any, target: AnyArray) -> FloatArray:
    from sklearn.utils.class_weight import compute_sample_weight

    given = getattr(model, "class_weight", None)
    return np.ones(len(target)) if given is None else compute_sample_weight(given, target)


def _lightgbm(model: Any, target: AnyArray, *, weight: FloatArray) -> Boosting:
    from localmdi.adapters.lightgbm import parse_lightgbm

    booster = model.booster_ if hasattr(model, "fit") else model
    text = parse_lightgbm(booster.model_to_string(num_iteration=None))
    given = text.parameters
    _refuse_lightgbm(given)
    name, *options = text.header.get("objective", "").split(" ")
    number = {key: _number(given, key) for key in ("lambda_l2", "lambda_l1", "sigmoid")}
    is_start = given.get("boost_from_average", "1") != "0"
    common: dict[str, Any] = {
        "weight": weight,
        "start_in_trees": True,
        "reg_lambda": number["lambda_l2"],
        "reg_alpha": number["lambda_l1"],
    }
    if name == "regression" and "sqrt" not in options:
        numbers = _as_numbers(target).astype(np.float32).astype(np.float64)
        start = np.average(numbers, weights=weight)
        return Boosting("squared", numbers, start=np.array([start * is_start]), **common)
    is_native = not hasattr(model, "fit")
    if name == "binary":
        codes, share = _codes(target, weight, n_classes=2 if is_native else None)
        slope = number["sigmoid"] or 1.0
        start = np.log(share[1] / share[0]) / slope
        side = _side_weight(codes, given)
        return Boosting(
            "logistic",
            codes,
            start=np.array([start * is_start]),
            slope=slope,
            loss_weight=side,
            **common,
        )
    if name == "multiclass":
        n_classes = int(_number(text.header, "num_class")) if is_native else None
        codes, share = _codes(target, weight, n_classes=n_classes)
        factor = len(share) / (len(share) - 1)
        starts = np.log(np.maximum(share, 1e-15)) * is_start
        return Boosting("softmax", codes, start=starts, hessian_factor=factor, **common)
    raise _other_objective(name)


def _refuse_lightgbm(given: Mapping[str, str]) -> None:
    reasons = {
        "dart drops trees": given.get("boosting") == "dart",
        "rf mode grows every tree on rows drawn anew": given.get("boosting") == "rf",
        "GOSS grows every tree on rows drawn anew": given.get("data_sample_strategy") == "goss"
        or given.get("boosting") == "goss",
        "bagging grows every tree on rows drawn anew": given.get("bagging_freq", "0") != "0"
        and _number(given, "bagging_fraction") != 1.0,
        "max_delta_step clips steps": _number(given, "max_delta_step") > 0,
        "monotone constraints clip steps": bool(
            given.get("monotone_constraints", "").replace("0", "").strip(", ")
        ),
        "path_smooth changes steps": _number(given, "path_smooth") > 0,
        "quantized gradients are drawn at random": given.get("use_quantized_grad", "0") == "1",
    }
    _refuse_reasons("LightGBM", reasons)


def _refuse_reasons(library: str, reasons: Mapping[str, bool]) -> None:
    for reason, holds in reasons.items():
        if holds:
            raise UnsupportedModelError(
                f"the gradients of this {library} model cannot be rebuilt from its rows: {reason}. "
                "Train it without, or use as_forest(model).with_statistics(X, y, criterion=...)."
            )


def _other_objective(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the gradients of the objective {name[:60]!r} cannot be rebuilt; those of squared error "
        "and of the log loss can. Use as_forest(model).with_statistics(X, y, criterion=...)."
    )


def _side_weight(codes: AnyArray, given: Mapping[str, str]) -> FloatArray | None:
    """Return LightGBM's weights of the two classes."""
    n_positive = int((codes == 1).sum())
    n_negative = len(codes) - n_positive
    side = np.array([1.0, _number(given, "scale_pos_weight") or 1.0])
    if given.get("is_unbalance", "0") == "1" and n_positive and n_negative:
        ratio = n_positive / n_negative
        side = np.array([ratio, 1.0]) if ratio > 1 else np.array([1.0, 1.0 / ratio])
    return None if (side == 1).all() else side[codes]


def _drops_trees(boosted: dict[str, Any]) -> bool:
    """Tell whether a gbtree of XGBoost 3.3 or newer, which DART is part of, drops trees."""
    given = boosted.get("dart_train_param", {})
    return _number(given, "rate_drop") > 0 or _number(given, "one_drop") > 0


def _xgboost(model: Any, target: AnyArray, *, weight: FloatArray) -> Boosting:
    from localmdi.adapters.xgboost import adapt_xgboost

    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(booster.save_config())["learner"]
    boosted = learner["gradient_booster"]
    given = boosted.get("tree_train_param", {})
    reasons = {
        "DART drops trees": boosted.get("name") == "dart" or _drops_trees(boosted),
        "subsample grows every tree on rows drawn anew": _number(given, "subsample") != 1.0,
        "max_delta_step clips steps": _number(given, "max_delta_step") > 0,
        "monotone constraints clip steps": bool(
            given.get("monotone_constraints", "").strip("()").replace("0", "").strip(", ")
        ),
        "num_parallel_tree grows several trees in a round": boosted.get(
            "gbtree_model_param", {}
        ).get("num_parallel_tree", "1")
        != "1",
    }
    _refuse_reasons("XGBoost", reasons)
    objective = learner["objective"]
    name = objective["name"]
    common: dict[str, Any] = {
        "weight": weight,
        "start": adapt_xgboost(model).base_value,
        "reg_lambda": _number(given, "lambda"),
        "reg_alpha": _number(given, "alpha"),
        "counted": False,
    }
    if name == "reg:squarederror":
        numbers = _as_numbers(target).astype(np.float32).astype(np.float64)
        return Boosting("squared", numbers, **common)
    is_native = not hasattr(model, "get_booster")
    if name in ("binary:logistic", "binary:logitraw"):
        codes, _ = _codes(target, weight, n_classes=2 if is_native else None)
        factor = _number(objective.get("reg_loss_param", {}), "scale_pos_weight") or 1.0
        side = None if factor == 1 else np.where(codes == 1, factor, 1.0)
        return Boosting("logistic", codes, loss_weight=side, **common)
    if name in ("multi:softprob", "multi:softmax"):
        n_classes = len(common["start"]) if is_native else None
        codes, _ = _codes(target, weight, n_classes=n_classes)
        return Boosting("softmax", codes, hessian_factor=2.0, **common)
    raise _other_objective(name)


def _hist_gradient_boosting(model: Any, target: AnyArray, *, weight: FloatArray) -> Boosting:
    from localmdi.adapters.scikit_learn.hist_gradient_boosting import read_hist_trees

    monotonic = getattr(model, "monotonic_cst", None)
    constraints = [*monotonic.values()] if isinstance(monotonic, dict) else monotonic
    reasons = {
        "monotone constraints clip steps": constraints is not None and bool(np.any(constraints)),
        "early stopping sets rows aside": bool(model.do_early_stopping_)
        and model.validation_fraction is not None,
    }
    _refuse_reasons("HistGradientBoosting", reasons)
    common: dict[str, Any] = {
        "weight": weight,
        "start": read_hist_trees(model).start,
        "reg_lambda": float(model.l2_regularization),
        "root_has_score": False,
    }
    if model.loss == "log_loss":
        codes, share = _codes(target, weight)
        return Boosting("logistic" if len(share) == 2 else "softmax", codes, **common)
    losses: dict[str, Loss] = {"squared_error": "squared", "poisson": "poisson"}
    if model.loss not in losses:
        raise _other_objective(str(model.loss))
    return Boosting(losses[model.loss], _as_numbers(target), **common)


def _codes(
    target: AnyArray, weight: FloatArray, *, n_classes: int | None = None
) -> tuple[AnyArray, FloatArray]:
    """Return the codes of classes, and the share of each in the weight.

    Estimators number the classes that y has; native boosters were given the numbers themselves,
    from 0 to `n_classes` - 1.
    """
    classes, codes = np.unique(target, return_inverse=True)
    if n_classes is not None:
        if not np.isin(classes, np.arange(n_classes)).all():
            raise ValueError(
                f"y must hold the classes 0 to {n_classes - 1} that the booster was trained on; "
                f"got {classes[:5].tolist()}. Pass the y that it was trained on."
            )
        codes = target.astype(np.int64)
    elif len(classes) < 2:
        raise ValueError(f"y must have two classes; got {len(classes)}. Pass the y that fit got.")
    total = np.bincount(codes, weights=weight, minlength=n_classes or 0)
    return codes, total / total.sum()


def _as_numbers(target: AnyArray) -> FloatArray:
    try:
        return np.asarray(target, dtype=np.float64).reshape(len(target))
    except (TypeError, ValueError) as error:
        raise ValueError("y must hold one number per row. Pass the y that fit got.") from error


def _number(given: Mapping[str, Any], key: str) -> float:
    try:
        return float(given.get(key) or 0.0)
    except ValueError:
        return 0.0
