"""Questions that people ask a local result: where does it hold, what is open, what is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from localmdi.results.fields import dense
from localmdi.results.p_values import discoveries, one_sided_p
from localmdi.results.subgroups import find_subgroups
from localmdi.results.uncertainty import explain_uncertainty, most_uncertain

if TYPE_CHECKING:
    from localmdi.results.local import LocalImportance
    from localmdi.results.subgroups import Subgroups
    from localmdi.results.uncertainty import UncertainRow, UncertainRows
    from localmdi.typing import BoolArray, FloatArray, RowsLike

__all__ = ["Questions"]


class Questions:
    """The questions of `LocalImportance`, which is the only class that has them."""

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
            cast("LocalImportance", self),
            X,
            max_groups=max_groups,
            max_depth=max_depth,
            min_rows=min_rows,
        )

    def uncertain(self, k: int = 10) -> UncertainRows:
        """List the rows about which most is left open: those with the largest residuals.

        Of rows that fully grown trees have learned from nothing is left, however uncertain the
        forest is; use the result of ``honest_mdi(model, X, y, measure="drop")``.

        Parameters
        ----------
        k : int
            How many rows; cut to their number.

        Examples
        --------
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"))
        >>> result.uncertain(1).positions
        array([1])
        """
        return most_uncertain(cast("LocalImportance", self), k)

    def why_uncertain(
        self, row: int, *, n_neighbours: int = 3, confident: float = 0.5
    ) -> UncertainRow:
        """Say why a row is uncertain: what raised its uncertainty, and whom it is unlike.

        Features whose value is negative raised the uncertainty; others removed less than they do
        on average. Beside them stand confident rows that differ from this one in few columns. Two
        numbers differ if they are further apart than a tenth of what nine of ten rows span;
        columns that no tree asked about do not count. Needs the rows' own values (`with_data`).

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
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, -0.25]]), 1.0, n_trees=10,
        ...     residual=np.array([0.25, 1.0]), unit="bits", feature_names=("age", "dose"),
        ...     data=np.array([[61, 2], [61, 5]]))
        >>> result.why_uncertain(1)
        Row 1: 1 of 1 bit left, more than in 50 % of the rows
          dose = 5 raised it by 0.25 bits
          age = 61 removed 0.25 bits instead of 0.375
          confident rows that differ in few columns:
            row 0 (0.25 bits left): dose 2 instead of 5
        """
        return explain_uncertainty(
            cast("LocalImportance", self), row, n_neighbours=n_neighbours, confident=confident
        )

    def p_values(self) -> FloatArray:
        """Test for every row and feature whether the feature tells nothing about the row.

        One-sided, from the honest values and their errors; given the trees.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.1]]), unit="bits", n_trees=10,
        ...                          standard_error=np.array([[0.1, 0.1]]), error="labels",
        ...                          measure="gain", honest=True, feature_names=("age", "noise"))
        >>> result.p_values().round(3)
        array([[0.   , 0.162]])
        """
        result = cast("LocalImportance", self)
        return one_sided_p(
            dense(result.values),
            None if result.standard_error is None else dense(result.standard_error),
            error=result.error,
            honest=result.honest,
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
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.1]]), unit="bits", n_trees=10,
        ...                          standard_error=np.array([[0.1, 0.1]]), error="labels",
        ...                          measure="gain", honest=True, feature_names=("age", "noise"))
        >>> result.significant()
        array([[ True, False]])
        """
        return discoveries(self.p_values(), alpha)
