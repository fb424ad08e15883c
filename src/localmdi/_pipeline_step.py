"""An explainer as a step of scikit-learn's pipelines: rows in, their importances out."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._validation import default_names

if TYPE_CHECKING:
    from typing import Self

    from localmdi.forest import Forest
    from localmdi.results import LocalImportance
    from localmdi.typing import AnyArray, RowsLike

Output: TypeAlias = Literal["default", "pandas", "polars"]


class PipelineStep:
    """The methods of a fitted transformer, with scikit-learn's names and meanings."""

    _output: Output | None

    @property
    def forest(self) -> Forest:
        """The trees."""
        raise NotImplementedError

    def __call__(self, X: RowsLike) -> LocalImportance:
        """Explain rows."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        # Nothing here is fitted or changed, so that copies share the packed trees.
        return copy(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(sparse=True, string=True, allow_nan=True),
        )

    def fit(self, X: RowsLike, y: Any = None) -> Self:
        """Return the explainer as it is: its model is fitted already.

        Parameters
        ----------
        X, y
            Not used; a Pipeline passes them.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import Explainer
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
        >>> groups = make_pipeline(explainer, KMeans(3, random_state=0)).fit_predict(X)
        >>> sorted(np.unique(groups, return_counts=True)[1].tolist())  # rows told in the same way
        [46, 50, 54]
        """
        return self

    def transform(self, X: RowsLike) -> Any:
        """Return the importances of the rows of X, in the container that `set_output` chose.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The rows.

        Returns
        -------
        ndarray, pandas.DataFrame or polars.DataFrame, of shape (n_rows, n_features)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import Explainer
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> explainer.transform(X).shape
        (150, 4)
        """
        from sklearn import get_config

        result = self(X)
        output = self._output or get_config()["transform_output"]
        if output == "default":
            return result.values
        return replace(result, frame_type=output).to_frame()

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the columns that `transform` gives.

        Parameters
        ----------
        input_features
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray of object, shape (n_features,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import Explainer
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> Explainer(DecisionTreeClassifier().fit(X, y)).get_feature_names_out()[:1]
        array(['sepal length (cm)'], dtype=object)
        """
        names = self.forest.feature_names or default_names(self.forest.n_features)
        return np.array(names, dtype=object)

    def set_output(self, *, transform: Output | None = None) -> Self:
        """Choose the container of `transform`, as for scikit-learn's transformers.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            "default": arrays. None: no change; until something is chosen, the setting of
            ``sklearn.set_config(transform_output=...)`` counts.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from localmdi import Explainer
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y))
        >>> type(explainer.set_output(transform="polars").transform(X))
        <class 'polars.dataframe.frame.DataFrame'>
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                "transform must be 'default', 'pandas', 'polars' or None; "
                f"got {transform!r}. Use 'default' for arrays."
            )
        self._output = transform or self._output
        return self
