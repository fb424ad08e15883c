"""The paper's forests for classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from localmdi import _core
from localmdi._criteria import criterion_names, find_criterion
from localmdi.trees.base import Problem, RandomizedForest
from localmdi.trees.parameters import balances_draws, check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localmdi.typing import AnyArray, ArrayLike, FloatArray, MaxFeatures, RowsLike


class RandomizedForestClassifier(
    ClassifierMixin,  # type: ignore[misc] # scikit-learn has no types
    RandomizedForest,
    BaseEstimator,  # type: ignore[misc] # the same
):
    """Totally randomized trees, and the best of K random splits, for classes.

    Categorical columns are split exhaustively, one child per value in the node; numeric ones at a
    cut drawn uniformly between the node's smallest and largest value. The local importances of the
    training rows are added up while the trees grow.

    With ``max_features=1`` a split is drawn without looking at y. If all columns are categorical,
    the importances of fully grown trees without a bootstrap then converge, as trees are added, to
    the Shapley values of Theorems 1 and 2 of the paper. Numeric cuts have no such limit, except in
    columns of two values, where the only cut is the exhaustive split.

    Parameters
    ----------
    n_estimators : int
        Number of trees; with `tol`, at most.
    max_features : int, float, "sqrt", "log2" or None
        K, the number of features drawn for a split, of which the best is taken by impurity
        decrease, ties with equal chances; a share of the features; None: all.
    draw : {"theory", "sklearn"}
        What K counts. "theory": features not yet split on the branch, constant ones included.
        "sklearn": all features; constant ones use up draws, and if all drawn ones are constant the
        draw goes on. The same for K = 1 and for all features.
    criterion : {"entropy", "log_loss", "gini"}
        The impurity; entropy is in bits.
    categorical_features : "from_dtype", None, mask, or list of positions or names
        Which columns are categories. "from_dtype": those of strings, objects, booleans and
        categorical dtypes. A missing value is a category of its own there. In numeric columns
        missing values go to a side that is drawn with the cut, and remembered.
    max_depth : int or None
        Maximum depth of a tree.
    min_samples_split, min_samples_leaf : int or float
        Minimum number, or share, of training rows in a node that is split, and in a leaf.
    min_weight_fraction_leaf : float
        Minimum share of the tree's weight in a leaf.
    min_impurity_decrease : float
        Minimum decrease of a split, times the node's share of the tree's weight.
    bootstrap : bool
        Whether each tree grows on rows drawn with replacement.
    max_samples : int, float or None
        How many rows to draw, or which share; None: as many as there are.
    oob_score : bool
        Whether to predict each row with the trees that did not draw it; with `honest`, that were
        grown on the other half.
    class_weight : dict, "balanced", "balanced_subsample" or None
        Weights of the classes, multiplied with ``sample_weight``. "balanced": every class weighs
        the same; "balanced_subsample": among the rows drawn for each tree.
    honest : bool or "gain"
        Whether to take ``local_importances_`` from rows that a tree was not grown on, so that noise
        is at zero: the gain of `honest_mdi`. Trees come in pairs: one grows on a random half of the
        rows and explains the others, the second the other way round. Not with `bootstrap` or
        `warm_start`.
    min_rows : int
        With `honest`, a path ends where fewer held-out rows arrive.
    warm_start : bool
        Whether a further ``fit`` with a larger `n_estimators` keeps the trees and adds to them. The
        result is that of one fit with as many trees.
    keep_forest : bool
        False discards each tree once its importances are added: memory does not depend on the
        number of trees, but the model cannot predict.
    tol : float or None
        Stop when the standard error over trees of every value of ``local_importances_`` is at most
        this, in the unit of the criterion; checked from 256 trees on.
    n_jobs : int or None
        Number of threads; the result has the same bits for any number.
    random_state : int, RandomState or None
        Seed. Tree number t depends on it and on t only.
    progress : bool
        Whether to show a tqdm bar while growing.

    Attributes
    ----------
    local_importances_ : LocalImportance
        Of the training rows; what ``local_mdi(self, X)`` gives. With `honest` the mean over the
        trees that the row was held out of, without its own label; NaN for rows of weight 0.
    feature_importances_ : ndarray of shape (n_features,)
        scikit-learn's: mean of the trees' normalised importances, with `honest`, too.
    forest_ : Forest
        The trees; those of `honest` have seen half of the rows each.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_estimators_ : int
        Number of trees grown.
    n_features_in_, feature_names_in_, n_outputs_, n_classes_
        As in scikit-learn.
    oob_score_, oob_decision_function_
        Accuracy and class shares of the rows out of the bag, with `oob_score`; NaN for rows that
        every tree drew.

    Examples
    --------
    >>> from localmdi.datasets import make_led
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> X, y = make_led()
    >>> model = RandomizedForestClassifier(5000, categorical_features=range(7), random_state=0)
    >>> importance = model.fit(X, y).local_importances_
    >>> importance.shape, importance.unit, round(importance.baseline, 3)
    ((10, 7), 'bits', 3.322)
    >>> importance.mean().values.round(1)
    array([0.4, 0.6, 0.5, 0.5, 0.7, 0.2, 0.4])
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters here
        self,
        n_estimators: int = 1000,
        *,
        max_features: MaxFeatures = 1,
        draw: Literal["theory", "sklearn"] = "theory",
        criterion: Literal["entropy", "log_loss", "gini"] = "entropy",
        categorical_features: ArrayLike | None = "from_dtype",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        class_weight: Mapping[Any, float] | Literal["balanced", "balanced_subsample"] | None = None,
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
        self.class_weight = class_weight
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
    ) -> RandomizedForestClassifier:
        """Grow the forest on rows and their classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training rows.
        y : array-like of shape (n_rows,)
            Their classes.
        sample_weight : array-like of shape (n_rows,) or None
            Weights of the rows. Rows of weight 0 grow no trees, but get their importances too.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True)
        >>> model = RandomizedForestClassifier(50, random_state=0).fit(X, y)
        >>> model.local_importances_.shape, model.score(X, y)
        ((178, 13), 1.0)
        """
        check_choice("criterion", self.criterion, among=criterion_names(target="classes"))
        self._fit(X, y, sample_weight=sample_weight)
        if self.oob_score:
            seen, shares = self._out_of_bag()
            self.oob_decision_function_ = shares
            best = self.classes_[shares[seen].argmax(axis=1)]
            self.oob_score_ = float(np.mean(best == np.asarray(y).ravel()[seen]))
        return self

    def _read_problem(
        self, y: ArrayLike, sample_weight: ArrayLike | None, *, n_rows: int
    ) -> Problem:
        from sklearn.utils import check_array, check_consistent_length, column_or_1d
        from sklearn.utils.class_weight import compute_sample_weight
        from sklearn.utils.multiclass import check_classification_targets

        if y is None:
            raise ValueError(
                "RandomizedForestClassifier requires y to be passed, but the target y is None."
            )
        checked = column_or_1d(check_array(y, ensure_2d=False, dtype=None), warn=True)
        check_classification_targets(checked)
        check_consistent_length(checked, np.empty(n_rows))
        classes, label = np.unique(checked, return_inverse=True)
        weight = self._weights(sample_weight, n_rows)
        class_weight = None if balances_draws(self.get_params()) else self.class_weight
        if class_weight is not None:
            # Without a bootstrap the subsample is the sample.
            preset = isinstance(class_weight, str) and class_weight == "balanced_subsample"
            share = compute_sample_weight("balanced" if preset else class_weight, checked)
            with np.errstate(over="ignore"):
                weight = self._weights(weight * share, n_rows)
        if not hasattr(self, "_grown") or not self.warm_start:
            self.classes_, self.n_classes_, self.n_outputs_ = classes, len(classes), 1
        criterion = _core.Criterion(find_criterion(self.criterion).kernel)
        return Problem(
            _core.Target(label.astype(np.uint32), len(classes), criterion),
            n_values=len(classes),
            center=np.zeros(len(classes)),
            weight=weight,
            classes=(classes,),
            weighted=sample_weight is not None or class_weight is not None,
        )

    def predict_proba(self, X: RowsLike) -> FloatArray:
        """Return the mean over trees of the class shares where each row ends.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)

        Examples
        --------
        >>> model = RandomizedForestClassifier(10, random_state=0)
        >>> model.fit([["a"], ["b"]], ["no", "yes"]).predict_proba([["a"], ["c"]])
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        return self._predict_values(X)

    def predict(self, X: RowsLike) -> AnyArray:
        """Return the class with the largest mean share.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> model = RandomizedForestClassifier(10, random_state=0)
        >>> model.fit([["a"], ["b"]], ["no", "yes"]).predict([["b"]]).tolist()
        ['yes']
        """
        shares = self._predict_values(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
