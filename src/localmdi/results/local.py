"""The result of a local measure: one value per row and feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from localmdi._criteria import unit_of
from localmdi._quality import quality_of_scores
from localmdi.results.axes import (
    RowsByLabel,
    group_columns,
    join_fields,
    known_groups,
    list_parts,
    select_fields,
    split_key,
    sum_fields,
)
from localmdi.results.fields import check_fields, dense
from localmdi.results.frames import (
    TopFeatures,
    add_columns,
    beside_values,
    matrix_to_arrow,
    matrix_to_frame,
    matrix_to_shap,
    top_of_rows,
)
from localmdi.results.global_ import GlobalImportance, mean_by_label, mean_of_rows
from localmdi.results.own_data import group_data, match_data, take_own
from localmdi.results.p_values import discoveries, one_sided_p
from localmdi.results.shown import Plotted, bars_html, describe_local
from localmdi.results.storage import STORED, save_result
from localmdi.results.subgroups import find_subgroups
from localmdi.results.uncertainty import explain_uncertainty, most_uncertain

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from localmdi._quality import Quality
    from localmdi.results.axes import Choice
    from localmdi.results.fields import Matrix
    from localmdi.results.frames import FrameType
    from localmdi.results.subgroups import Subgroups
    from localmdi.results.uncertainty import UncertainRow, UncertainRows
    from localmdi.typing import (
        AnyArray,
        ArrayLike,
        BoolArray,
        ErrorOf,
        FloatArray,
        ResultMeasure,
        RowsLike,
    )


@dataclass(frozen=True, eq=False, repr=False)
class LocalImportance(Plotted):
    """How much uncertainty each feature removed for each row.

    For every row ``values.sum(1) == baseline - residual`` up to rounding: from the impurity at the
    root down to what is left at the leaf. Positive values removed uncertainty, negative added it.
    Measures whose values do not add up to such a difference have no baseline and no residual.

    Parameters
    ----------
    values : ndarray or csr_array of float64, shape (n_rows, n_features)
        Mean over trees of the impurity decreases on the row's path, by split feature. Arrays are
        kept as read-only views.
    baseline : float, ndarray of float64 of shape (n_rows,), or None
        Mean over trees of the root's impurity.
    residual : ndarray of float64, shape (n_rows,), or None
        Mean over trees of the impurity of the leaf that the row reached; None if and only if
        `baseline` is.
    unit : str
        "bits", "gini", "variance", "mae" or "poisson".
    feature_names : sequence of str
        One name per column.
    n_trees : int
        Number of trees; 0 if the values do not come from finitely many.
    data : array, sparse array, data frame or None
        The explained rows, when kept.
    row_weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows in `mean`; None: equal.
    standard_error : like values, or None
        Standard error of every value over the trees.
    mean_standard_error : ndarray of float64, shape (n_features,), or None
        Standard error over the trees of the mean over rows. Rows share trees, so it must come from
        the same pass; it is lost when rows are selected or joined.
    row_labels : pandas.Index, ndarray or None
        Labels of the rows.
    frame_type : {"pandas", "polars", "pyarrow"} or None
        Type of the explained frame; None for arrays.
    method : str or None
        How the values were computed, where there is a choice.
    measure : {"drop", "gain", "loss", "saabas"}
        What a split credits to its feature. "drop": the drop of the impurity from the node to the
        child that the row enters (Definition 1 of the paper). "gain": the divergence between the
        distributions of child and node, which is never negative (Kullback-Leibler for entropy,
        squared distance for Gini, squared difference of means for variance). Both have the same
        mean over the training rows. "loss": the feature's part in the loss of the prediction, from
        the prior (`baseline`) to what is left (`residual`). "saabas": how the prediction moved,
        from `saabas`.
    honest : bool
        Whether the impurities come from rows that the trees were not grown on.
    error_kind : {"trees", "labels", "both", "sample", "refits"}
        What `standard_error` measures: the choice of the trees, the labels of the held-out rows
        given the trees, both, the choice of the rows, or all of it, by fitting again.
    caveat : str or None
        What to know before reading the values, where there is something.
    direction : ndarray of float64 like values, or None
        Which way, and how far, each feature moved the share of the predicted class or the
        predicted number, where that was asked for.
    prediction : ndarray of shape (n_rows,), or None
        What is predicted for each row: of measure="loss" by the trees that have not seen it, of
        others where the direction was asked for.
    groups : dict of str to tuple of str, or None
        Column of X → the features that the model's Pipeline made of it alone, for
        ``group("auto")``.
    scores : dict of str to ndarray of shape (n_rows,), or None
        Of measure="loss": figures of the rows' predictions, whose means `quality` returns.

    Examples
    --------
    >>> import numpy as np
    >>> LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
    ...                 unit="bits", feature_names=("age", "dose"), n_trees=10)
    LocalImportance: 1 row, 2 features, 10 trees, in bits
      baseline 1, mean residual 0.25
      largest by mean value:
        age   0.5
        dose  0.25
    """

    values: Matrix
    baseline: float | FloatArray | None = None
    _: KW_ONLY
    residual: FloatArray | None = None
    unit: str
    feature_names: tuple[str, ...]
    n_trees: int
    data: Any = None
    row_weight: FloatArray | None = None
    standard_error: Matrix | None = None
    mean_standard_error: FloatArray | None = None
    row_labels: Any = None
    frame_type: FrameType = None
    method: str | None = None
    measure: ResultMeasure = "drop"
    honest: bool = False
    error_kind: ErrorOf = "trees"
    caveat: str | None = None
    direction: FloatArray | None = None
    prediction: AnyArray | None = None
    groups: Mapping[str, tuple[str, ...]] | None = None
    scores: Mapping[str, FloatArray] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.baseline is None) != (self.residual is None):
            ends = ("baseline", "residual")
            absent, given = ends if self.baseline is None else ends[::-1]
            raise ValueError(
                f"{absent} must be given together with {given}, or both be None; got {given} only. "
                "A measure whose credits do not add up to a fixed total has neither."
            )

    @classmethod
    def _of_kernel(cls, known: Mapping[str, Any], **given: Any) -> LocalImportance:
        """Return a result whose fields a kernel and its packing made, without checking them.

        For rows that are explained one at a time, where the checks would take as long as a forest
        of 100 trees. `known` are fields that many results share.
        """
        result = cls.__new__(cls)
        own = result.__dict__
        own.update(_DEFAULTS)
        own.update(known)
        own.update(given)
        for name in ("values", "residual", "standard_error"):
            array = own[name]
            if array is not None:
                own[name] = view = array.view()
                view.setflags(write=False)
        return result

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of features.

        Examples
        --------
        >>> import numpy as np
        >>> LocalImportance(np.zeros((3, 1)), 1.0, residual=np.ones(3), unit="bits",
        ...                 feature_names=("age",), n_trees=10).shape
        (3, 1)
        """
        n_rows, n_features = self.values.shape
        return n_rows, n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(dense(self.values), dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return describe_local(self)

    def _repr_html_(self) -> str:
        has_rows = 0 not in self.shape
        return bars_html(self, self.mean() if has_rows else None, head="mean over rows")

    def __getitem__(self, key: Choice | tuple[Choice, Choice]) -> LocalImportance:
        """Select rows, ``result[rows]``, or rows and features, ``result[rows, features]``.

        Rows are an int (which keeps the two dimensions), a slice, a mask or a list of ints;
        features a name, a list of names, or positions in the same ways. `baseline` and `residual`
        stay what they are, the impurities at root and leaf: without some of the features the
        values no longer add up to their difference, and `additivity_error` shows what is left out.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.75, 0.0]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 0.25]), unit="bits", feature_names=("age", "dose"))
        >>> result[0].values
        array([[0.5 , 0.25]])
        >>> result[:, "age"].values
        array([[0.5 ],
               [0.75]])
        """
        rows, columns = split_key(key, len(self), names=self.feature_names)
        return replace(self, **select_fields(self, rows, columns=columns))

    @property
    def loc(self) -> RowsByLabel:
        """Select rows by label: ``result.loc[labels]`` or ``result.loc[labels, features]``.

        Labels are one, a list, a slice that includes both ends, or a mask, as in pandas; without
        labels they are the positions. Features are chosen as in ``result[rows, features]``.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.75, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), row_labels=np.array(["anna", "bert"]))
        >>> result.loc["bert"].values
        array([[0.75, 0.  ]])
        >>> result.loc[["bert", "anna"], "dose"].row_labels
        array(['bert', 'anna'], dtype='<U4')
        """
        return RowsByLabel(self)

    def to_frame(self, *, extra: bool = False, direction: bool = False) -> Any:
        """Return one column per feature, in the type of the explained frame.

        pandas, with the row labels as index, for pandas frames and arrays; polars and pyarrow for
        theirs. CSR values become sparse pandas columns; polars and pyarrow have none, so select
        the features of wide results first, or use `top`.

        Parameters
        ----------
        extra : bool
            Whether to add ``_baseline``, ``_residual`` and ``_prediction``, where they are known.
        direction : bool
            Whether to add ``age_direction`` for a feature ``age``, and so on: how it moved the
            prediction, for results of ``local_mdi(..., direction=True)``.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
        >>> result.to_frame()
           age  dose
        0  0.5  0.25
        >>> result.to_frame(extra=True)
           age  dose  _baseline  _residual
        0  0.5  0.25        1.0       0.25
        """
        frame = matrix_to_frame(
            self.values,
            self.feature_names,
            row_labels=self.row_labels,
            frame_type=self.frame_type,
        )
        beside = beside_values(self, extra=extra, direction=direction)
        return add_columns(frame, beside) if beside else frame

    def to_arrow(self) -> Any:
        """Return a pyarrow table with one (dense) column per feature, without row labels.

        Examples
        --------
        >>> import numpy as np
        >>> LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]), n_trees=10,
        ...                 unit="bits", feature_names=("age", "dose")).to_arrow().column_names
        ['age', 'dose']
        """
        return matrix_to_arrow(self.values, self.feature_names)

    def to_shap(self) -> Any:
        """Return a `shap.Explanation` for shap's plots.

        Its values are ours, unchanged. shap adds them to the base value, and ours remove
        uncertainty; so the base value is minus the baseline, and a plot ends at minus the
        residual. Where shap writes ``E[f(X)]`` read "minus the uncertainty at the root", and for
        ``f(x)`` "minus the uncertainty left at the leaf", in `unit`, e.g. bits; 0 is certainty.
        Without a baseline the base value is 0, and a plot ends at the sum of the row's values.
        CSR values are made dense: select rows or features of wide results first. Text in `data`
        becomes numbers, which shap colours by, and stays text in ``display_data``.

        shap writes "SHAP value" on every axis; what stands there is in ``output_names``, for
        ``shap.plots.beeswarm(explanation, show=False).set_xlabel(explanation.output_names)``.

        Examples
        --------
        >>> import numpy as np
        >>> explanation = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...     n_trees=10, unit="bits", feature_names=("age", "dose")).to_shap()
        >>> explanation.base_values + explanation.values.sum(axis=1)
        array([-0.25])
        >>> explanation.output_names
        'uncertainty removed (bits)'
        """
        return matrix_to_shap(
            self.values,
            self.feature_names,
            baseline=self.baseline,
            data=take_own(self, slice(None), columns=slice(None)),
            label=unit_of(self.unit).value_label(self.measure, honest=self.honest),
        )

    def top(self, k: int = 10) -> TopFeatures:
        """Return the k features with the largest absolute values of each row.

        Equal values go by column; k is cut to the number of features. CSR values are not made
        dense.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.25, -0.5]]), 1.0, residual=np.array([1.25]),
        ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
        >>> result.top(1).names, result.top(1).values
        (array([['dose']], dtype=object), array([[-0.5]]))
        """
        indices, values = top_of_rows(self.values, k)
        return TopFeatures(
            indices,
            values,
            feature_names=self.feature_names,
            row_labels=self.row_labels,
            frame_type=self.frame_type,
        )

    def group(
        self, mapping: Mapping[str, Sequence[str]] | Literal["auto"] = "auto"
    ) -> LocalImportance:
        """Add up the values of features that belong together, e.g. after one-hot encoding.

        Parameters
        ----------
        mapping : dict of str to sequence of str, or "auto"
            Group name → names of its features. "auto": the columns that the Pipeline of the model
            got; what it made of several columns stays as it is. A group takes the place of its
            first feature; others stay as they are. Its standard error is the sum of its members'
            errors, the most that it can be; in `data` stands what the members hold, of indicators
            which one is 1 (not for sparse rows). With ``attach_data(X)`` it is what X holds.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...                          unit="bits", feature_names=("sex_f", "sex_m"), n_trees=10)
        >>> result.group({"sex": ["sex_f", "sex_m"]}).to_frame()
            sex
        0  0.75
        """
        if isinstance(mapping, str):
            mapping = known_groups(self, mapping)
        names, column = group_columns(self.feature_names, mapping)
        return replace(
            self,
            feature_names=names,
            data=group_data(self, names, column=column),
            groups=None,
            **sum_fields(self, column, n_groups=len(names)),
        )

    def attach_data(self, X: RowsLike) -> LocalImportance:
        """Return the result with the rows' own values, which displays and reports show.

        Every function of localmdi keeps them; a result that was loaded from a file has none.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The explained rows: an array with one column per feature, or a frame with a column of
            each feature's name, in any order and among others.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
        >>> result.attach_data(pd.DataFrame({"dose": [2], "age": [61]})).data
           age  dose
        0   61     2
        """
        return replace(self, data=match_data(self, X))

    @overload
    def mean(self, by: None = None) -> GlobalImportance: ...
    @overload
    def mean(self, by: ArrayLike) -> dict[Hashable, GlobalImportance]: ...
    def mean(
        self, by: ArrayLike | None = None
    ) -> GlobalImportance | dict[Hashable, GlobalImportance]:
        """Return the mean over rows, weighed by `row_weight`.

        Parameters
        ----------
        by : array-like of shape (n_rows,), optional
            Labels of the rows, none missing: gives one mean per label. The standard error is
            known for the mean of all rows only, and if it was computed in the same pass.

        Returns
        -------
        GlobalImportance, or dict of label to GlobalImportance
            Labels in sorted order, or in order of appearance if they cannot be sorted.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.75, 0.0]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 0.25]), unit="bits", feature_names=("age", "dose"))
        >>> result.mean().values
        array([0.625, 0.125])
        >>> result.mean(by=["b", "a"])["a"].values
        array([0.75, 0.  ])
        """
        return mean_of_rows(self) if by is None else mean_by_label(self, by)

    @classmethod
    def concat(cls, parts: Iterable[LocalImportance]) -> LocalImportance:
        """Join results of different rows of one model.

        Parameters
        ----------
        parts : iterable of LocalImportance
            With the same feature names, unit, number of trees, frame type, measure and
            `honest`, all dense or all sparse, with equal float baselines, with arrays, or all
            without. Data, row labels and standard errors are kept if all parts have them.

        Examples
        --------
        >>> import numpy as np
        >>> part = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...                        unit="bits", feature_names=("age", "dose"), n_trees=10)
        >>> LocalImportance.concat([part, part]).shape
        (2, 2)
        """
        parts = list_parts(parts, cls)
        return replace(parts[0], **join_fields(parts)) if len(parts) > 1 else parts[0]

    def additivity_error(self) -> float:
        """Return the largest ``|values.sum(1) - (baseline - residual)|``: rounding only.

        An error for results without a baseline, whose values add up to no fixed total.

        Examples
        --------
        >>> import numpy as np
        >>> LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]), n_trees=10,
        ...                 unit="bits", feature_names=("age", "dose")).additivity_error()
        0.0
        """
        if self.baseline is None or self.residual is None:
            raise ValueError(
                "additivity needs a result with a baseline and a residual; got one of measure "
                f"{self.measure!r} without. Its values add up to no fixed total."
            )
        gap = self.values.sum(axis=1) - (self.baseline - self.residual)
        return float(np.abs(gap).max(initial=0.0))

    def quality(self) -> Quality:
        """Return how well the rows are predicted, of a result of measure="loss".

        The means, weighted by `row_weight`, of what is known about each row: accuracy, Brier score
        and log loss in bits, or R² and the error, each beside that of the prior. The loss that the
        result divides is among them: it is the mean of `residual`.

        Returns
        -------
        Quality

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from localmdi import honest_mdi
        >>> X, y = load_iris(return_X_y=True)
        >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
        >>> account = honest_mdi(model, X, y, measure="loss")
        >>> account.quality().figures["accuracy"] == model.oob_score_
        True
        """
        if self.scores is None:
            raise ValueError(
                f"quality needs a result of measure='loss' with labels; got {self.measure!r} "
                "without. Use honest_mdi(model, X, y, measure='loss')."
            )
        return quality_of_scores(self.scores, self.row_weight)

    def subgroups(
        self,
        X: RowsLike | None = None,
        *,
        max_groups: int = 6,
        max_depth: int = 3,
        min_rows: int | None = None,
    ) -> Subgroups:
        """Find the subgroups of rows whose explanations differ most, and describe them in words.

        A small tree predicts the values of all features at once from what is known about the
        rows. It is a way to look at the values, not a test: other rows would give other rules,
        and a rule says nothing about causes.

        Parameters
        ----------
        X : array, sparse matrix, data frame or None
            What to describe the rows by, e.g. columns that the model does not have; None: the
            rows that were explained. Numbers, dates, text and missing values.
        max_groups : int
            Most subgroups.
        max_depth : int
            Most conditions that make a rule.
        min_rows : int or None
            Fewest rows of a subgroup; None: a twentieth of the rows, and at least 10.

        Returns
        -------
        Subgroups
            Each row is in one subgroup. The same rows always give the same ones.

        Examples
        --------
        >>> import localmdi as lm
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import ExtraTreesRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = ExtraTreesRegressor(50, max_depth=4, random_state=0).fit(X, y)
        >>> lm.local_mdi(model, X).subgroups(max_groups=3)
        Subgroups: 3 of 442 rows, in variance
          they account for 38 % of how the explanations differ
          bmi > 24.4 and s5 ≤ 4.3 (41 rows)
            s5 1,395 instead of 880, bmi 406 instead of 894, s4 282 instead of 209
          bmi ≤ 24.4 (168 rows)
            bmi 1,329 instead of 894, s4 305 instead of 209, s5 964 instead of 880
          bmi > 24.4 and s5 > 4.3 (233 rows)
            bmi 666 instead of 894, s5 730 instead of 880, s4 127 instead of 209
        """
        return find_subgroups(
            self,
            X,
            max_groups=max_groups,
            max_depth=max_depth,
            min_rows=min_rows,
        )

    def most_uncertain(self, k: int = 10) -> UncertainRows:
        """List the rows about which most is left open: those with the largest residuals.

        Fully grown trees leave nothing of the rows that they were grown on; use the result of
        ``honest_mdi(model, X, y, measure="loss")``, whose residual is the forest's own loss.

        Parameters
        ----------
        k : int
            How many rows; cut to their number.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"))
        >>> result.most_uncertain(1).positions
        array([1])
        """
        return most_uncertain(self, k)

    def explain_uncertainty(
        self, row: int, *, n_neighbours: int = 3, confident: float = 0.5
    ) -> UncertainRow:
        """Say why a row is uncertain: what raised its uncertainty, and whom it is unlike.

        Features whose value is negative raised the uncertainty; others removed less than they do
        on average. Beside them stand confident rows that differ from this one in few columns. Two
        numbers differ if they are further apart than a tenth of what nine of ten rows span;
        columns that no tree asked about do not count. Needs the rows' own values (`attach_data`).

        Parameters
        ----------
        row : int
            Position of the row.
        n_neighbours : int
            Number of confident rows to show.
        confident : float
            Which rows are confident: those about which at most this share of what is left about
            this row is left.

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"),
        ...     data=np.array([[61, 2], [61, 5]]))
        >>> result.explain_uncertainty(1)
        Row 1: 1 of 1 bit left, more than in 50 % of the rows
          dose = 5 raised it by 0.25 bits
          age = 61 removed 0.25 bits instead of 0.375
          confident rows that differ in few columns:
            row 0 (0.25 bits left): dose 2 instead of 5
        """
        return explain_uncertainty(self, row, n_neighbours=n_neighbours, confident=confident)

    def p_values(self) -> FloatArray:
        """Test for every row and feature whether the feature tells nothing about the row.

        One-sided, from the honest values and their errors; given the trees.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.1]]), unit="bits", n_trees=10,
        ...                          standard_error=np.array([[0.1, 0.1]]), error_kind="labels",
        ...                          measure="gain", honest=True, feature_names=("age", "noise"))
        >>> result.p_values().round(3)
        array([[0.   , 0.162]])
        """
        errors = None if self.standard_error is None else dense(self.standard_error)
        return one_sided_p(
            dense(self.values), errors, error_kind=self.error_kind, honest=self.honest
        )

    def significant(self, alpha: float = 0.05) -> BoolArray:
        """Return which features tell something about each row, at a false-discovery rate.

        Among the features named for a row, at most a share of `alpha` is expected to be noise
        (Benjamini and Hochberg's procedure over the features).

        Parameters
        ----------
        alpha : float
            The false-discovery rate.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> result = LocalImportance(np.array([[0.5, 0.1]]), unit="bits", n_trees=10,
        ...                          standard_error=np.array([[0.1, 0.1]]), error_kind="labels",
        ...                          measure="gain", honest=True, feature_names=("age", "noise"))
        >>> result.significant()
        array([[ True, False]])
        """
        return discoveries(self.p_values(), alpha)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file that `load_importance` reads, without pickle.

        Not saved: `data`, which you have. Row labels must be integers or strings, or None.

        Examples
        --------
        >>> import numpy as np, pathlib, tempfile
        >>> from localmdi.results import load_importance
        >>> result = LocalImportance(np.array([[0.5, 0.25]]), 1.0, residual=np.array([0.25]),
        ...                          unit="bits", feature_names=("age", "dose"), n_trees=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "result.lmdi"
        ...     result.save(path)
        ...     load_importance(path).shape
        (1, 2)
        """
        save_result(path, self)


# What a field is if it is not given.
_DEFAULTS = {
    field.name: field.default for field in fields(LocalImportance) if field.default is not MISSING
}
STORED["local"] = LocalImportance
