"""Möbius transform and pairwise interaction indices of a game (the paper's future work)."""

from __future__ import annotations

from math import comb, factorial
from typing import TYPE_CHECKING

import numpy as np

from localmdi.theory.contexts import coalition_sizes, flatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from localmdi.theory.game import Game
    from localmdi.typing import FloatArray

__all__ = ["interaction_index", "moebius"]


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
