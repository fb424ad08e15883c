"""What both estimators share: ``fit`` grows the trees, everything else reads them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi import _core
from localmdi._criteria import find_criterion
from localmdi._validation import (
    RowSource,
    check_sample_weight,
    count_threads,
    default_names,
    read_encoded_rows,
)
from localmdi.exceptions import UnsupportedModelError
from localmdi.results import LocalImportance
from localmdi.trees.growth import (
    GrownForest,
    Growth,
    GrowthPlan,
    add_earlier_trees,
    check_same_problem,
    grow,
)
from localmdi.trees.parameters import (
    check_flag,
    check_tolerance,
    count_trees,
    grow_rules,
    is_honest,
)
from localmdi.trees.table import Table, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.forest import Forest
    from localmdi.typing import AnyArray, ArrayLike, FloatArray, IntArray, RowsLike


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be predicted: the kernel's target, and what the forest must know about it."""

    target: _core.Target
    n_values: int
    center: FloatArray
    weight: FloatArray
    classes: tuple[AnyArray, ...] | None = None
    weighted: bool = False


class RandomizedForest:
    """The common part of `RandomizedForestClassifier` and `RandomizedForestRegressor`."""

    # What the estimators add: their parameters, and scikit-learn's way to read them all.
    get_params: Callable[..., dict[str, Any]]
    criterion: str
    bootstrap: bool
    honest: Any
    n_jobs: int | None

    _grown: GrownForest | None
    _sums: tuple[FloatArray, FloatArray, FloatArray | None]
    _importances: FloatArray
    _categories: tuple[AnyArray | None, ...]
    _seed: int
    _n_rows: int
    _n_draws: int

    def _fit(self, X: RowsLike, y: ArrayLike, *, sample_weight: ArrayLike | None) -> None:
        parameters: dict[str, Any] = self.get_params(deep=False)
        n_threads = count_threads(parameters["n_jobs"])
        n_trees = count_trees(parameters["n_estimators"])
        table = read_table(self, X)
        n_rows, n_features = table.shape
        rules = grow_rules(parameters, n_rows, n_features=n_features)
        problem = self._read_problem(y, sample_weight, n_rows=n_rows)
        before = self._earlier_forest(table, problem)
        if before is None:
            self._seed = _draw_seed(parameters["random_state"])
        rules.seed = self._seed
        self._n_rows, self._n_draws = n_rows, rules.n_draws
        plan = GrowthPlan(
            rules,
            n_trees,
            first=0 if before is None else before.n_trees,
            n_threads=n_threads,
            tol=check_tolerance(parameters["tol"]),
            progress=check_flag("progress", parameters["progress"]),
            keep_trees=check_flag("keep_forest", parameters["keep_forest"]),
            out_of_bag=check_flag("oob_score", parameters["oob_score"]),
        )
        if plan.last < plan.first:
            raise ValueError(
                f"with warm_start=True, n_estimators must not decrease; got {plan.last} after "
                f"{plan.first}. Use a larger number, or warm_start=False."
            )
        if plan.last > plan.first:
            self._grow(table, problem, plan=plan, before=before)

    def _read_problem(
        self, y: ArrayLike, sample_weight: ArrayLike | None, *, n_rows: int
    ) -> Problem:
        raise NotImplementedError

    def _earlier_forest(self, table: Table, problem: Problem) -> Forest | None:
        parameters = self.get_params(deep=False)
        if not check_flag("warm_start", parameters["warm_start"]) or not hasattr(self, "_grown"):
            return None
        if not parameters["keep_forest"] or parameters["tol"] is not None:
            raise ValueError(
                "warm_start=True needs the earlier trees, so it cannot be combined with "
                "keep_forest=False or tol. Use warm_start=False with a larger n_estimators."
            )
        forest = self._trees().forest
        check_same_problem(forest, table, classes=problem.classes, n_values=problem.n_values)
        return forest

    def _grow(
        self, table: Table, problem: Problem, *, plan: GrowthPlan, before: Forest | None
    ) -> None:
        n_rows, n_features = table.shape
        flags = np.array([labels is not None for labels in table.categories], dtype=np.uint8)
        missing = np.asarray(np.isnan(table.columns).any(axis=1), dtype=np.uint8)
        rows = _core.TrainingRows(table.columns, flags, missing, problem.weight)
        growth = Growth(n_rows, n_features, n_values=problem.n_values, plan=plan)
        reached = grow(rows, problem.target, plan=plan, growth=growth)
        if not reached:
            _warn_of_tolerance(plan, growth)
        if before is not None:
            add_earlier_trees(
                growth, before, table=table, sums=self._sums, n_threads=plan.n_threads
            )
        self._grown = self._keep(growth, table, problem=problem, before=before)
        self._sums = (growth.feature, growth.root, growth.out_of_bag)
        self.n_estimators_ = growth.n_trees
        self._categories = table.categories
        self._importances = growth.feature[2] / (growth.feature[2].sum() or 1.0)
        self.local_importances_ = self._importance(growth, table, problem=problem)

    def _keep(
        self, growth: Growth, table: Table, *, problem: Problem, before: Forest | None
    ) -> GrownForest | None:
        if growth.trees is None:
            return None
        has_categories = any(labels is not None for labels in table.categories)
        header = {
            "n_features": table.shape[1],
            "feature_names": table.names,
            "criterion": self.criterion,
            "classes": problem.classes,
            "categories": table.categories if has_categories else None,
            "row_dtype": "float32",
        }
        return GrownForest(growth.trees, header, center=problem.center, before=before)

    def _importance(self, growth: Growth, table: Table, *, problem: Problem) -> LocalImportance:
        n_trees = growth.n_trees
        if growth.held_out is not None:
            return self._honest_importance(growth, table, problem=problem)
        growth.values /= n_trees
        # With bootstrap the mean over rows is not the global importance, whose error this is.
        bootstrap = self.bootstrap
        return LocalImportance(
            growth.values,
            float(growth.root[0]) / n_trees,
            residual=growth.residual / n_trees,
            row_weight=problem.weight if problem.weighted else None,
            mean_standard_error=None if bootstrap else growth.importances_error,
            **self._result_fields(growth, table),
        )

    def _honest_importance(
        self, growth: Growth, table: Table, *, problem: Problem
    ) -> LocalImportance:
        """Return the means over the trees that a row was held out of; NaN if there are none."""
        held_out = np.asarray(growth.held_out)
        known = held_out > 0
        if not known[problem.weight > 0].all():
            warnings.warn(
                "Some rows were held out of no tree, or alone: they have no honest value (NaN). "
                "Use n_estimators=2 or more, and more rows.",
                UserWarning,
                stacklevel=5,
            )
        growth.values /= np.where(known, held_out, np.nan)[:, None]
        weighted = problem.weighted or not known.all()
        return LocalImportance(
            growth.values,
            row_weight=np.where(known, problem.weight, 0.0) if weighted else None,
            measure="gain",
            honest=True,
            **self._result_fields(growth, table),
        )

    def _result_fields(self, growth: Growth, table: Table) -> dict[str, Any]:
        return {
            "unit": find_criterion(self.criterion).unit,
            "feature_names": table.names or default_names(table.shape[1]),
            "n_trees": growth.n_trees,
            "data": table.data,
            "row_labels": table.row_labels,
            "frame_type": table.frame_type,
        }

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean over trees of each tree's importances divided by their sum, as scikit-learn's.

        Single-node trees do not count; the result sums to one, or is zero if no tree has a split.
        """
        self._check_fitted()
        return self._importances.copy()

    @property
    def forest_(self) -> Forest:
        """The trees as a `Forest`; made on first use."""
        return self._trees().forest

    def __to_forest__(self) -> Forest:
        return self.forest_

    def __row_counts__(self, tree: int) -> IntArray:
        """Return how often a tree counted each training row."""
        if getattr(self, "class_weight", None) is not None:
            raise UnsupportedModelError(
                "the weights of the training rows cannot be rebuilt when class_weight is set. "
                "Fit with the weights as sample_weight instead, or pass held_out=(X, y)."
            )
        rules = _core.GrowRules()
        rules.seed, rules.n_draws = self._seed, self._n_draws
        rules.honest = is_honest(self.honest)
        return np.asarray(_core.times_counted(self._n_rows, rules, tree), dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc] # BaseEstimator's
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_estimators_")

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """scikit-learn's diagram and, once fitted, the importances as bars.

        A property, as scikit-learn's is: without diagrams (``display="text"``) there is none.
        """
        diagram = super()._repr_html_  # type: ignore[misc] # BaseEstimator comes after this class
        return lambda: diagram() + self._bars()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str]
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc] # the same
        if "text/html" in bundle:
            bundle["text/html"] += self._bars()
        return bundle

    def _bars(self) -> str:
        return self.local_importances_._repr_html_() if self.__sklearn_is_fitted__() else ""

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def _trees(self) -> GrownForest:
        self._check_fitted()
        if self._grown is None:
            raise AttributeError(
                "this model was fitted with keep_forest=False and has no trees, only "
                "local_importances_ and feature_importances_. Fit it with keep_forest=True to "
                "predict or to explain other rows."
            )
        return self._grown

    def _rows(self, X: RowsLike) -> RowSource:
        from sklearn.utils.validation import validate_data

        if all(labels is None for labels in self._categories):
            array = validate_data(
                self, X, dtype=np.float32, ensure_all_finite="allow-nan", reset=False
            )
            return read_encoded_rows(array, np.float32, categories=None)
        validate_data(self, X, skip_check_array=True, reset=False)
        return read_encoded_rows(X, np.float32, categories=self._categories)

    def _predict_values(self, X: RowsLike) -> FloatArray:
        grown = self._trees()
        n_threads = count_threads(self.n_jobs)
        return grown.values(self._rows(X), n_threads=n_threads)

    def apply(self, X: RowsLike) -> IntArray:
        """Return the node where each row ends in each tree, numbered within the tree.

        A leaf; or, at a category that no training row of the node had, the node that splits it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of int64, shape (n_rows, n_trees)

        Examples
        --------
        >>> from localmdi.trees import RandomizedForestClassifier
        >>> model = RandomizedForestClassifier(2, random_state=0).fit([["a"], ["b"]], [0, 1])
        >>> model.apply([["a"], ["b"], ["never seen"]]).tolist()
        [[1, 1], [2, 2], [0, 0]]
        """
        grown = self._trees()
        n_threads = count_threads(self.n_jobs)
        return grown.ends(self._rows(X), n_threads=n_threads)

    def _out_of_bag(self) -> tuple[AnyArray, FloatArray]:
        """Return which rows some tree left out, and the mean of these trees' predictions."""
        sums = np.asarray(self._sums[2])
        count = sums[:, -1:]
        seen = count[:, 0] > 0
        if not seen.all():
            warnings.warn(
                "Some rows were drawn by every tree: they have no out-of-bag prediction. "
                "Use more trees.",
                UserWarning,
                stacklevel=4,
            )
        return seen, np.divide(
            sums[:, :-1], count, out=np.full_like(sums[:, :-1], np.nan), where=count > 0
        )

    def _weights(self, sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
        return np.ascontiguousarray(check_sample_weight(sample_weight, n_rows))


def _draw_seed(random_state: int | np.random.RandomState | None) -> int:
    from sklearn.utils import check_random_state

    high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint64)
    return int(high) << 32 | int(low)


def _warn_of_tolerance(plan: GrowthPlan, growth: Growth) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"the standard errors of the local importances did not fall to tol={plan.tol} with "
        f"{growth.n_trees} trees; the largest is {growth.largest_error():.3g}. "
        "Use a larger n_estimators or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )
