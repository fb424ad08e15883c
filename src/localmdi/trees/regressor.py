"""The paper's forests for numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from localmdi import _core
from localmdi.trees.base import Problem, RandomizedForest
from localmdi.trees.parameters import check_choice

if TYPE_CHECKING:
    from localmdi.typing import ArrayLike, FloatArray, MaxFeatures, RowsLike


class RandomizedForestRegressor(
    RegressorMixin,  # type: ignore[misc] # scikit-learn has no types
    RandomizedForest,
    BaseEstimator,  # type: ignore[misc] # the same
):
    """Totally randomized trees, and the best of K random splits, for one or several numbers.

    The impurity is the variance; with several outputs, its mean over the outputs. Everything else
    is as in `RandomizedForestClassifier`, including when the importances converge to Shapley values
    (categorical columns, K = 1).

    Parameters
    ----------
    n_estimators : int
        Number of trees; with `tol`, at most.
    max_features : int, float, "sqrt", "log2" or None
        K, the number of features drawn for a split.
    draw : {"theory", "sklearn"}
        What K counts.
    criterion : {"squared_error", "variance"}
        Two names of one impurity.
    categorical_features : "from_dtype", None, mask, or list of positions or names
        Which columns are categories.
    max_depth, min_samples_split, min_samples_leaf
        When to stop, by depth and number of rows.
    min_weight_fraction_leaf, min_impurity_decrease : float
        When to stop, by weight and impurity.
    bootstrap, max_samples, oob_score
        Whether and how each tree draws its rows.
    honest, min_rows
        Whether to explain rows by trees that were not grown on them.
    warm_start, keep_forest, tol
        How many trees, and whether they are kept.
    n_jobs, random_state, progress
        Threads, seed, and a bar.

    Attributes
    ----------
    local_importances_ : LocalImportance
        Of the training rows; what ``local_mdi(self, X)`` gives.
    feature_importances_ : ndarray of shape (n_features,)
        scikit-learn's: mean of the trees' normalised importances.
    forest_ : Forest
        The trees.
    n_estimators_, n_features_in_, feature_names_in_, n_outputs_
        As in `RandomizedForestClassifier`.
    oob_score_, oob_prediction_
        R² and predictions of the rows out of the bag, with `oob_score`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from localmdi.trees import RandomizedForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomizedForestRegressor(200, random_state=0).fit(X, y)
    >>> model.local_importances_.unit, model.local_importances_.shape
    ('variance', (442, 10))
    >>> [name for name, value in model.local_importances_.mean().top(2)]
    ['bmi', 's5']
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters here
        self,
        n_estimators: int = 1000,
        *,
        max_features: MaxFeatures = 1,
        draw: Literal["theory", "sklearn"] = "theory",
        criterion: Literal["squared_error", "variance"] = "squared_error",
        categorical_features: ArrayLike | None = "from_dtype",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        honest: bool | Literal["gain"] = False,
        min_rows: int = 10,
        warm_start: bool = False,
        keep_forest: bool = True,
        tol: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        progress: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.draw = draw
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.honest = honest
        self.min_rows = min_rows
        self.warm_start = warm_start
        self.keep_forest = keep_forest
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RandomizedForestRegressor:
        """Grow the forest on rows and their numbers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training rows.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Their numbers.
        sample_weight : array-like of shape (n_rows,) or None
            Weights of the rows. Rows of weight 0 grow no trees, but get their importances too.

        Returns
        -------
        self

        Examples
        --------
        >>> model = RandomizedForestRegressor(10, random_state=0)
        >>> model.fit([[0.0], [1.0]], [3.0, 5.0]).local_importances_.values.tolist()
        [[1.0], [1.0]]
        """
        check_choice("criterion", self.criterion, among=("squared_error", "variance"))
        self._fit(X, y, sample_weight=sample_weight)
        if self.oob_score:
            from sklearn.metrics import r2_score

            seen, prediction = self._out_of_bag()
            prediction = prediction + self._center
            self.oob_prediction_ = prediction[:, 0] if self._one_dimensional else prediction
            truth = np.asarray(y, dtype=np.float64).reshape(prediction.shape)
            self.oob_score_ = float(r2_score(truth[seen], prediction[seen]))
        return self

    def _read_problem(
        self, y: ArrayLike, sample_weight: ArrayLike | None, *, n_rows: int
    ) -> Problem:
        from sklearn.utils import check_array, check_consistent_length

        if y is None:
            raise ValueError(
                "RandomizedForestRegressor requires y to be passed, but the target y is None."
            )
        checked = check_array(y, ensure_2d=False, dtype=np.float64)
        if checked.ndim == 2 and checked.shape[1] == 1:
            import warnings

            from sklearn.exceptions import DataConversionWarning

            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. "
                "Please change the shape of y to (n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
            checked = checked[:, 0]
        check_consistent_length(checked, np.empty(n_rows))
        response = checked.reshape(n_rows, -1)
        weight = self._weights(sample_weight, n_rows)
        _check_size(response, weight)
        # Near zero the variance loses nothing to cancellation, whatever the level of y.
        center = np.average(response, axis=0, weights=weight)
        if not hasattr(self, "_grown") or not self.warm_start:
            self.n_outputs_ = response.shape[1]
            self._one_dimensional = checked.ndim == 1
            self._center = center
        return Problem(
            _core.Target(np.ascontiguousarray(response - self._center)),
            n_values=response.shape[1],
            center=self._center,
            weight=weight,
            weighted=sample_weight is not None,
        )

    def predict(self, X: RowsLike) -> FloatArray:
        """Return the mean over trees of the mean response where each row ends.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)

        Examples
        --------
        >>> model = RandomizedForestRegressor(10, random_state=0)
        >>> model.fit([["a"], ["b"]], [3.0, 5.0]).predict([["a"], ["c"]]).tolist()
        [3.0, 4.0]
        """
        values = self._predict_values(X)
        return values[:, 0] if self._one_dimensional else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _check_size(response: FloatArray, weight: FloatArray) -> None:
    """Refuse targets whose variance is beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (weight[:, None] * response**2).sum()
    if not np.isfinite(squares):
        raise ValueError(
            "y must be so small that the sum of its weighted squares is finite; got numbers up to "
            f"{np.abs(response).max():.3g}. Divide y by its largest value."
        )
