"""TU-games (V, v) of Section 2, and the games of a law whose Shapley values are MDI importances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import all_contexts, by_coalition, contexts_of, flatten
from localmdi.theory.impurity import impurity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import ArrayLike, FloatArray

__all__ = ["Game", "global_game", "local_game", "prediction_game"]


class Game:
    """A characteristic function v: 2^V → R with v(∅) = 0, as a table.

    Parameters
    ----------
    table : array-like of shape (2^p,)
        v(S) for every coalition S; bit i of the index is feature i.

    Attributes
    ----------
    table : ndarray
        The values, read-only.
    n_players : int
        The number p of features.

    Examples
    --------
    Two players who earn only together:

    >>> game = Game([0.0, 0.0, 0.0, 1.0])
    >>> game([0, 1]), game([1])
    (1.0, 0.0)
    >>> game.marginal_contributions(0).tolist()
    [0.0, 1.0]
    """

    def __init__(self, table: ArrayLike) -> None:
        values = np.array(table, dtype=np.float64)
        players = values.size.bit_length() - 1
        if values.ndim != 1 or values.size < 2 or values.size != 2**players:
            raise ValueError(
                "a game's table must hold v(S) for all 2^p coalitions, p >= 1, but has shape "
                f"{values.shape}."
            )
        if values[0] != 0 or not np.isfinite(values).all():
            raise ValueError(
                f"a game must be finite with v(∅) = 0, but v(∅) = {values[0]:.12g}: subtract it."
            )
        values.flags.writeable = False
        self.table: FloatArray = values
        self.n_players: int = players

    @property
    def cube(self) -> FloatArray:
        """The table as an array of shape (2, …, 2): index 1 on axis i means that i is in S.

        Examples
        --------
        >>> Game([0, 1, 2, 5]).cube[1, 0].item()
        1.0
        """
        return self.table.reshape((2,) * self.n_players, order="F")

    def __call__(self, coalition: Iterable[int]) -> float:
        """Return v(S) of a coalition given as feature indices."""
        members = set(coalition)
        if not members <= set(range(self.n_players)):
            raise ValueError(
                f"players are 0 to {self.n_players - 1}, but the coalition {sorted(members)} was "
                "given."
            )
        return float(self.table[sum(1 << member for member in members)])

    def marginal_contributions(self, m: int) -> FloatArray:
        """Return MC_m(S) = v(S ∪ {m}) − v(S) for the 2^(p−1) coalitions S without m.

        The order is that of a game on the other players: bit i is the i-th player other than m.

        Examples
        --------
        >>> Game([0, 1, 2, 5]).marginal_contributions(1).tolist()
        [2.0, 4.0]
        """
        if not 0 <= m < self.n_players:
            raise ValueError(f"players are 0 to {self.n_players - 1}, but {m} was given.")
        without, with_m = np.moveaxis(self.cube, m, 0)
        gains: FloatArray = flatten(with_m - without)
        return gains

    def __repr__(self) -> str:
        return f"Game(n_players={self.n_players}, v(V)={self.table[-1]:.6g})"


def global_game(law: Distribution, criterion: Criterion = "entropy") -> Game:
    """Return v(S) = I(Y;S) (Section 3.1), or i(Y) − E_S[i(Y|S)] for another impurity (Appendix F).

    Parameters
    ----------
    law : Distribution
        Feasible while ∏(|X_j| + 1)·|Y| ≤ 2^25, for instance 15 binary features and Y.
    criterion : {"entropy", "gini", "variance"} or callable
        The impurity.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> global_game(xor).table.tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    contexts = all_contexts(law.table)
    weighted = contexts.sum(axis=-1) * impurity(contexts, criterion, y_values=law.y_values)
    mean = flatten(by_coalition(weighted))
    return Game(mean[0] - mean)


def local_game(law: Distribution, x: Sequence[Any], criterion: Criterion = "entropy") -> Game:
    """Return v_loc(S; x) = H(Y) − H(Y|S = x_S) (Section 4.3), or the same with another impurity.

    Parameters
    ----------
    law : Distribution
        Feasible while its table and 2^p·|Y| have at most 2^25 entries.
    x : sequence of p categories
        An instance with P(V = x) > 0.
    criterion : {"entropy", "gini", "variance"} or callable
        The impurity.

    Examples
    --------
    Example 2 of the paper, at x = 0:

    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> local_game(law, [0])
    Game(n_players=1, v(V)=-0.188722)
    """
    contexts = contexts_of(law.table, law.encode(x))
    node = flatten(impurity(contexts, criterion, y_values=law.y_values))
    return Game(node[0] - node)


def prediction_game(law: Distribution, x: Sequence[Any], *, y: Any) -> Game:
    """Return v(S) = P(Y = y | S = x_S) − P(Y = y), the game of Saabas and TreeSHAP (Section 5).

    The model is the Bayes classifier, restricted to S by the conditional law.

    Parameters
    ----------
    law : Distribution
    x : sequence of p categories
        An instance with P(V = x) > 0.
    y : label
        The class whose probability is explained; one of `law.classes`.

    Examples
    --------
    >>> from localmdi.theory import Distribution
    >>> law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    >>> prediction_game(law, [1], y=0).table.tolist()
    [0.0, 0.25]
    """
    if y not in law.classes:
        raise ValueError(f"y must be one of {law.classes}, but {y!r} was given.")
    contexts = contexts_of(law.table, law.encode(x))
    chance = flatten(contexts[..., law.classes.index(y)] / contexts.sum(axis=-1))
    return Game(chance - chance[0])
