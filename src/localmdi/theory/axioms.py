"""The four axioms of Section 2, and the properties of games behind them, as checks.

Each returns a `Verdict`: true when the statement holds, otherwise it shows where it fails.
Numbers are compared up to an absolute `tolerance`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localmdi.theory.game import Game
    from localmdi.typing import ArrayLike, FloatArray

TOLERANCE = 1e-10


@dataclass(frozen=True)
class Verdict:
    """Whether a statement holds; if not, a witness.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> verdict = is_efficient(Game([0, 1, 2, 5]), [1.0, 2.0])
    >>> bool(verdict), verdict.witness
    (False, {'sum': 3.0, 'v(V)': 5.0})
    """

    holds: bool
    witness: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds


def is_monotonic(game: Game, *, tolerance: float = TOLERANCE) -> Verdict:
    """Check v(S) ≤ v(T) for S ⊆ T; the witness is a player and a coalition it harms.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> is_monotonic(Game([0, 1, 1, 0.5])).witness
    {'player': 0, 'coalition': (1,), 'contribution': -0.5}
    """
    for m in range(game.n_players):
        gains = game.marginal_contributions(m)
        worst = int(np.argmin(gains))
        if gains[worst] < -tolerance:
            return _harm(game, m, index=worst)
    return Verdict(True)


def is_null_player(game: Game, m: int, *, tolerance: float = TOLERANCE) -> Verdict:
    """Check MC_m(S) = 0 for all S; the witness is a coalition to which m contributes.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> is_null_player(Game([0, 0, 0, 1]), 0).witness
    {'player': 0, 'coalition': (1,), 'contribution': 1.0}
    """
    gains = game.marginal_contributions(m)
    worst = int(np.argmax(np.abs(gains)))
    return Verdict(True) if abs(gains[worst]) <= tolerance else _harm(game, m, index=worst)


def are_symmetric(game: Game, players: tuple[int, int], *, tolerance: float = TOLERANCE) -> Verdict:
    """Check v(S+i) = v(S+j) for all S without i and j; the witness is such an S.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> bool(are_symmetric(Game([0, 1, 1, 3]), (0, 1)))
    True
    """
    i, j = sorted(players)
    (_, only_j), (only_i, _) = np.moveaxis(game.cube, (i, j), (0, 1))
    gap = np.abs(only_i - only_j).reshape(-1, order="F")
    worst = int(np.argmax(gap))
    if gap[worst] <= tolerance:
        return Verdict(True)
    others = [k for k in range(game.n_players) if k not in (i, j)]
    coalition = _members(worst, others)
    values = (game((*coalition, i)), game((*coalition, j)))
    return Verdict(False, {"players": (i, j), "coalition": coalition, "v": values})


def is_efficient(game: Game, value: ArrayLike, *, tolerance: float = TOLERANCE) -> Verdict:
    """Check Efficiency: the values of all players sum to v(V).

    Examples
    --------
    >>> from localmdi.theory import Game, shapley_value
    >>> game = Game([0, 1, 2, 5])
    >>> bool(is_efficient(game, shapley_value(game)))
    True
    """
    total = float(_values(game, value).sum())
    if abs(total - game.table[-1]) <= tolerance:
        return Verdict(True)
    return Verdict(False, {"sum": total, "v(V)": float(game.table[-1])})


def is_symmetric(game: Game, value: ArrayLike, *, tolerance: float = TOLERANCE) -> Verdict:
    """Check Symmetry: symmetric players have equal values.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> is_symmetric(Game([0, 1, 1, 3]), [1.0, 2.0]).witness
    {'players': (0, 1), 'values': (1.0, 2.0)}
    """
    values = _values(game, value)
    for i, j in combinations(range(game.n_players), 2):
        unequal = abs(values[i] - values[j]) > tolerance
        if unequal and are_symmetric(game, (i, j), tolerance=tolerance):
            pair = (float(values[i]), float(values[j]))
            return Verdict(False, {"players": (i, j), "values": pair})
    return Verdict(True)


def respects_null_players(game: Game, value: ArrayLike, *, tolerance: float = TOLERANCE) -> Verdict:
    """Check Null player: who never contributes gets nothing.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> respects_null_players(Game([0, 1, 0, 1]), [0.5, 0.5]).witness
    {'player': 1, 'value': 0.5}
    """
    for m, paid in enumerate(_values(game, value)):
        if abs(paid) > tolerance and is_null_player(game, m, tolerance=tolerance):
            return Verdict(False, {"player": m, "value": float(paid)})
    return Verdict(True)


def is_strongly_monotonic(
    first: tuple[Game, ArrayLike], second: tuple[Game, ArrayLike], *, tolerance: float = TOLERANCE
) -> Verdict:
    """Check Strong monotonicity on two (game, value) pairs, in both directions.

    If player m contributes at least as much in one game as in the other to every coalition, its
    value there must not be lower.

    Examples
    --------
    >>> from localmdi.theory import Game
    >>> more, less = Game([0, 1, 1, 3]), Game([0, 1, 1, 2])
    >>> is_strongly_monotonic((more, [0.5, 2.5]), (less, [1.0, 1.0])).witness
    {'player': 0, 'greater_in': 'first', 'values': (0.5, 1.0)}
    """
    if first[0].n_players != second[0].n_players:
        raise ValueError(
            f"the games must have the same players, but have {first[0].n_players} and "
            f"{second[0].n_players}."
        )
    values = [_values(game, value) for game, value in (first, second)]
    for m in range(first[0].n_players):
        gains = first[0].marginal_contributions(m) - second[0].marginal_contributions(m)
        for name, sign in (("first", 1.0), ("second", -1.0)):
            contributes_more = bool(np.all(sign * gains >= -tolerance))
            if contributes_more and sign * (values[0][m] - values[1][m]) < -tolerance:
                pair = (float(values[0][m]), float(values[1][m]))
                return Verdict(False, {"player": m, "greater_in": name, "values": pair})
    return Verdict(True)


def _values(game: Game, value: ArrayLike) -> FloatArray:
    values = np.asarray(value, dtype=np.float64)
    if values.shape != (game.n_players,):
        raise ValueError(
            f"value must hold one number per player, shape ({game.n_players},), but has shape "
            f"{values.shape}."
        )
    return values


def _harm(game: Game, m: int, *, index: int) -> Verdict:
    others = [k for k in range(game.n_players) if k != m]
    gain = float(game.marginal_contributions(m)[index])
    coalition = _members(index, others)
    return Verdict(False, {"player": m, "coalition": coalition, "contribution": gain})


def _members(index: int, players: Sequence[int]) -> tuple[int, ...]:
    return tuple(player for bit, player in enumerate(players) if index >> bit & 1)
