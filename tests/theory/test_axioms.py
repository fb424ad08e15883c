"""The axioms as checks: true where they hold, a witness that can be verified where they fail."""

import numpy as np
import pytest

from localmdi.theory import (
    Game,
    are_symmetric,
    is_efficient,
    is_monotonic,
    is_null_player,
    is_strongly_monotonic,
    is_symmetric,
    respects_null_players,
    shapley_value,
)

# Players 0 and 1 are exchangeable, player 2 is null.
GAME = Game([0, 1, 1, 5, 0, 1, 1, 5])


def test_the_shapley_value_satisfies_all_four():
    value = shapley_value(GAME)
    assert value == pytest.approx([2.5, 2.5, 0])
    assert is_efficient(GAME, value)
    assert is_symmetric(GAME, value)
    assert respects_null_players(GAME, value)
    assert is_strongly_monotonic((GAME, value), (Game(2 * GAME.table), 2 * value))


def test_witness_of_each_axiom():
    assert is_efficient(GAME, [2, 2, 0]).witness == {"sum": 4.0, "v(V)": 5.0}
    assert is_symmetric(GAME, [3, 2, 0]).witness == {"players": (0, 1), "values": (3.0, 2.0)}
    assert respects_null_players(GAME, [2, 2, 1]).witness == {"player": 2, "value": 1.0}
    smaller = (Game(GAME.table / 2), [3.0, 1.0, 0.0])
    witness = is_strongly_monotonic((GAME, [2.5, 2.5, 0]), smaller).witness
    assert witness == {"player": 0, "greater_in": "first", "values": (2.5, 3.0)}
    witness = is_strongly_monotonic(smaller, (GAME, [2.5, 2.5, 0])).witness
    assert witness == {"player": 0, "greater_in": "second", "values": (3.0, 2.5)}


def test_each_axiom_is_independent_of_the_others():
    """Equal division breaks Null player only; a dictator breaks Symmetry only."""
    equal = np.full(3, 5 / 3)
    assert is_efficient(GAME, equal)
    assert is_symmetric(GAME, equal)
    assert not respects_null_players(GAME, equal)
    dictator = [5, 0, 0]
    assert is_efficient(GAME, dictator)
    assert not is_symmetric(GAME, dictator)
    assert respects_null_players(GAME, dictator)


def test_properties_of_games():
    assert is_monotonic(GAME)
    assert is_null_player(GAME, 2)
    assert are_symmetric(GAME, (1, 0))
    harmed = Game([0, 1, 1, 5, 0, 1, 1, 4])
    witness = is_monotonic(harmed).witness
    assert witness == {"player": 2, "coalition": (0, 1), "contribution": -1.0}
    assert is_null_player(harmed, 2).witness == witness
    witness = are_symmetric(Game([0, 1, 1, 5, 0, 1, 3, 5]), (0, 1)).witness
    assert witness == {"players": (0, 1), "coalition": (2,), "v": (1.0, 3.0)}


def test_tolerance():
    assert is_efficient(GAME, [2.5, 2.5, 1e-11])
    assert not is_efficient(GAME, [2.5, 2.5, 1e-11], tolerance=1e-12)


def test_errors():
    with pytest.raises(ValueError, match="one number per player"):
        is_efficient(GAME, [1, 2])
    with pytest.raises(ValueError, match="same players"):
        is_strongly_monotonic((GAME, [1, 1, 1]), (Game([0, 1]), [1]))
