"""The Shapley value of a game (Eq. 1), and its terms by the size of the coalition."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from localmdi.theory.contexts import coalition_sizes

if TYPE_CHECKING:
    from localmdi.theory.game import Game
    from localmdi.typing import FloatArray

__all__ = ["degree_profile", "shapley_value"]


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
