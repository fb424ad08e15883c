"""The parameters of the estimators, checked and turned into the rules of the kernel."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NoReturn

from localmdi import _core

_MOST_TREES = 2**31 - 1
_NO_LIMIT = 2**63 - 1  # the kernel's largest number; no tree has so many rows or levels


def count_trees(n_estimators: Any) -> int:
    """Return the number of trees, at least 1."""
    if not _is_whole(n_estimators, 1) or n_estimators > _MOST_TREES:
        _refuse(
            "n_estimators",
            n_estimators,
            must=f"a whole number from 1 to {_MOST_TREES}",
            use="for example 1000",
        )
    return int(n_estimators)


def check_choice(name: str, value: Any, *, among: tuple[str, ...]) -> str:
    """Return a value that is one of a few strings."""
    if not isinstance(value, str) or value not in among:
        _refuse(name, value, must=f"one of {', '.join(map(repr, among))}", use="one of these")
    return str(value)


def check_flag(name: str, value: Any) -> bool:
    """Return a value that is True or False."""
    if value not in (True, False):
        _refuse(name, value, must="True or False", use="one of these")
    return bool(value)


def check_tolerance(tol: Any) -> float | None:
    """Return the largest standard error at which growing may stop, None if it may not."""
    if tol is None:
        return None
    if not _is_real(tol) or not 0 < tol < math.inf:
        _refuse(
            "tol",
            tol,
            must="None or a positive number",
            use="for example 0.01, in the result's unit",
        )
    return float(tol)


def is_honest(honest: Any) -> bool:
    """Return whether honest importances are asked for."""
    if honest is True or (isinstance(honest, str) and honest == "gain"):
        return True
    if honest is not False:
        _refuse(
            "honest",
            honest,
            must="False, True or 'gain'",
            use="True, which means 'gain', to find features. To see what a forest really leaves, "
            "fit one with bootstrap=True and use honest_mdi(model, X, y, measure='loss')",
        )
    return False


def grow_rules(parameters: dict[str, Any], n_rows: int, *, n_features: int) -> _core.GrowRules:
    """Return the kernel's rules for the parameters of an estimator."""
    rules = _core.GrowRules()
    rules.max_features = _max_features(parameters["max_features"], n_features)
    draw = check_choice("draw", parameters["draw"], among=("theory", "sklearn"))
    rules.theory_draw = draw == "theory"
    depth = parameters["max_depth"]
    if depth is not None:
        if not _is_whole(depth, 1):
            _refuse(
                "max_depth",
                depth,
                must="None or a whole number of at least 1",
                use="None for no limit",
            )
        rules.max_depth = min(int(depth), _NO_LIMIT)
    rules.min_samples_split = max(
        2, _count("min_samples_split", parameters, n_rows=n_rows, least=2)
    )
    rules.min_samples_leaf = max(1, _count("min_samples_leaf", parameters, n_rows=n_rows, least=1))
    decrease = parameters["min_impurity_decrease"]
    if not _is_real(decrease) or not 0 <= decrease < math.inf:
        _refuse(
            "min_impurity_decrease", decrease, must="a number of at least 0", use="0 for no limit"
        )
    rules.min_impurity_decrease = float(decrease)
    share = parameters["min_weight_fraction_leaf"]
    if not _is_real(share) or not 0 <= share <= 0.5:
        _refuse(
            "min_weight_fraction_leaf", share, must="a number in [0, 0.5]", use="0 for no limit"
        )
    rules.min_weight_leaf = float(share)
    rules.n_draws = _draws(parameters, n_rows)
    rules.balance_draws = balances_draws(parameters)
    _set_honest(rules, parameters, n_rows=n_rows)
    return rules


def _set_honest(rules: _core.GrowRules, parameters: dict[str, Any], *, n_rows: int) -> None:
    min_rows = parameters["min_rows"]
    if not _is_whole(min_rows, 1):
        _refuse("min_rows", min_rows, must="a whole number of at least 1", use="10 if in doubt")
    if not is_honest(parameters["honest"]):
        return
    for name, why in (
        ("bootstrap", "every tree takes half of the rows"),
        ("warm_start", "the earlier trees held out other rows"),
    ):
        if check_flag(name, parameters[name]):
            _refuse(name, True, must=f"False with honest, because {why}", use=f"{name}=False")
    if n_rows < 2:
        raise ValueError(
            "honest trees need a row to grow on and another to hold out; got n_samples = 1. "
            "Use honest=False or more rows."
        )
    rules.honest = True
    rules.min_rows = min(int(min_rows), _NO_LIMIT)


def balances_draws(parameters: dict[str, Any]) -> bool:
    """Return whether the classes are balanced among the rows drawn for each tree."""
    weight = parameters.get("class_weight")
    subsample = isinstance(weight, str) and weight == "balanced_subsample"
    return subsample and check_flag("bootstrap", parameters["bootstrap"])


def _max_features(value: Any, n_features: int) -> int:
    if value is None:
        return n_features
    if isinstance(value, str) and value in ("sqrt", "log2"):
        root = math.sqrt(n_features) if value == "sqrt" else math.log2(n_features)
        return max(1, int(root))
    if _is_whole(value, 1) and value <= n_features:
        return int(value)
    if _is_share(value):
        return max(1, int(float(value) * n_features))
    what = f'"sqrt", "log2", None, a whole number from 1 to {n_features} or a share in (0, 1]'
    return _refuse("max_features", value, must=what, use="1 for totally randomized trees")


def _count(name: str, parameters: dict[str, Any], *, n_rows: int, least: int) -> int:
    """Return a number of rows, given as such or as a share of the training rows."""
    value = parameters[name]
    if _is_whole(value, least):
        return min(int(value), _NO_LIMIT)
    if _is_share(value):
        return math.ceil(float(value) * n_rows)
    what = f"a whole number of at least {least} or a share in (0, 1]"
    return _refuse(name, value, must=what, use=f"{least}, the default")


def _draws(parameters: dict[str, Any], n_rows: int) -> int:
    value = parameters["max_samples"]
    if not check_flag("bootstrap", parameters["bootstrap"]):
        if value is not None:
            _refuse("max_samples", value, must="None without bootstrap", use="bootstrap=True")
        if check_flag("oob_score", parameters["oob_score"]) and not parameters["honest"]:
            _refuse(
                "oob_score",
                True,
                must="False without bootstrap or honest trees",
                use="bootstrap=True",
            )
        return 0
    if value is None:
        return n_rows
    if _is_whole(value, 1) and value <= n_rows:
        return int(value)
    if _is_share(value):
        return max(round(n_rows * float(value)), 1)
    what = f"None, a whole number from 1 to {n_rows} or a share in (0, 1]"
    return _refuse("max_samples", value, must=what, use="None for as many draws as rows")


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_share(value: Any) -> bool:
    return _is_real(value) and not isinstance(value, Integral) and bool(0 < value <= 1)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _refuse(name: str, value: Any, *, must: str, use: str) -> NoReturn:
    raise ValueError(f"{name} must be {must}; got {value!r}. Use {use}.")
