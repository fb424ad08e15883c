"""TU-games (V, v) of Section 2: those of a law, whose Shapley values are MDI importances.

The Shapley value (Eq. 1), its terms by the size of the coalition, and pairwise interactions (the
paper's future work).
"""

from __future__ import annotations

from math import comb, factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi.theory.contexts import (
    all_contexts,
    by_coalition,
    coalition_sizes,
    contexts_of,
    flatten,
)
from localmdi.theory.impurity import node_impurity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from localmdi.theory.distribution import Distribution
    from localmdi.theory.impurity import Criterion
    from localmdi.typing import ArrayLike, FloatArray


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
    weighted = contexts.sum(axis=-1) * node_impurity(law, contexts, criterion=criterion)
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
    node = flatten(node_impurity(law, contexts, criterion=criterion))
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


def shapley_value(game: Game) -> FloatArray:
    """Return Σ_S |S|!(p−|S|−1)!/p! · MC_m(S) for every player m (Equation 1).

    Parameters
    ----------
    game : Game

    Returns
    -------
    ndarray of shape (p,)

    Examples
    --------
    The glove game: player 0 has the left glove, players 1 and 2 have right ones.

    >>> from localmdi.theory import Game
    >>> (6 * shapley_value(Game([0, 0, 0, 1, 0, 1, 0, 1]))).round(12).tolist()
    [4.0, 1.0, 1.0]
    """
    p = game.n_players
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)])
    per_coalition = weight[coalition_sizes(p - 1)]
    return np.array([per_coalition @ game.marginal_contributions(m) for m in range(p)])


def degree_profile(game: Game) -> FloatArray:
    """Return the Shapley value's terms by degree: entry [m, k] collects the coalitions of size k.

    Of a global or a local game these are the terms of Eq. 5 or Eq. 11 with |B| = k: how much a
    feature tells at depth k of a totally randomized tree. Rows sum to the Shapley value.

    Parameters
    ----------
    game : Game

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    A feature of an exclusive or tells nothing at the root, and half of a bit below:

    >>> from localmdi.theory import Game
    >>> degree_profile(Game([0, 0, 0, 1])).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    p = game.n_players
    sizes = coalition_sizes(p - 1)
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)])
    sums = [np.bincount(sizes, game.marginal_contributions(m), minlength=p) for m in range(p)]
    return np.asarray(np.array(sums) * weight)


def moebius(game: Game) -> FloatArray:
    """Return the dividends a(S) with v(T) = Σ_{S ⊆ T} a(S), in the order of the game's table.

    Parameters
    ----------
    game : Game

    Returns
    -------
    ndarray of shape (2^p,)

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> moebius(Game([0, 1, 2, 7])).tolist()
    [0.0, 1.0, 2.0, 4.0]
    """
    cube = game.cube.copy()
    for player in range(game.n_players):
        without, with_player = np.moveaxis(cube, player, 0)
        with_player -= without
    dividends: FloatArray = flatten(cube)
    return dividends


def interaction_index(game: Game, index: str = "SII") -> FloatArray:
    """Return the interaction of every pair: weighted sums of Δ_ij(S) over S without i and j.

    Δ_ij(S) = v(S+i+j) − v(S+i) − v(S+j) + v(S) is positive for synergy (an exclusive or) and
    negative for redundancy (copies).

    Parameters
    ----------
    game : Game
    index : {"SII", "STII", "FSII", "Banzhaf"}
        Shapley interaction index; Shapley–Taylor of order two (with v({i}) of every player, the
        pairs sum to v(V)); Faith-Shap of order two; Banzhaf interaction index.

    Returns
    -------
    ndarray of shape (p, p)
        Symmetric; the diagonal is NaN.

    Examples
    --------
    >>> from localmdi.theory import Distribution, global_game
    >>> xor = Distribution.from_counts([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> copies = Distribution.from_counts([[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    >>> interaction_index(global_game(xor)).tolist()
    [[nan, 1.0], [1.0, nan]]
    >>> interaction_index(global_game(copies)).tolist()
    [[nan, -1.0], [-1.0, nan]]
    """
    p = game.n_players
    result = np.full((p, p), np.nan)
    if p < 2:
        return result
    weight = np.array([_weight_of(index)(s, p) for s in range(p - 1)])
    per_coalition = weight[coalition_sizes(p - 2)]
    for i in range(p):
        for j in range(i):
            (neither, only_j), (only_i, both) = np.moveaxis(game.cube, (i, j), (0, 1))
            synergy = flatten(both - only_i - only_j + neither)
            result[i, j] = result[j, i] = per_coalition @ synergy
    return result


def _weight_of(index: str) -> Callable[[int, int], float]:
    weights: dict[str, Callable[[int, int], float]] = {
        "SII": lambda s, p: factorial(s) * factorial(p - s - 2) / factorial(p - 1),
        "STII": lambda s, p: 2 / (p * comb(p - 1, s)),
        "FSII": lambda s, p: 6 * factorial(s + 1) * factorial(p - s - 1) / factorial(p + 1),
        "Banzhaf": lambda s, p: 0.5 ** (p - 2),
    }
    if index not in weights:
        raise ValueError(f"index must be one of {sorted(weights)}, but {index!r} was given.")
    return weights[index]
