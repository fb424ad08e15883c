"""The table of a game: order of coalitions, marginal contributions, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from localmdi.theory import (
    Distribution,
    Game,
    global_game,
    local_game,
    mutual_information,
    prediction_game,
)


def test_bit_i_of_the_index_is_feature_i():
    rng = np.random.default_rng(0)
    table = rng.random((2, 3, 2, 3))
    law = Distribution(table / table.sum())
    game = global_game(law)
    for index in range(8):
        known = [j for j in range(3) if index >> j & 1]
        assert game.table[index] == pytest.approx(mutual_information(law, known), abs=1e-12)
        assert game(known) == game.table[index]


def test_order_of_marginal_contributions():
    game = Game([0, 1, 2, 4, 8, 16, 32, 64])
    # Player 1 joins {}, {0}, {2}, {0, 2}.
    assert_allclose(game.marginal_contributions(1), [2 - 0, 4 - 1, 32 - 8, 64 - 16])


@pytest.mark.parametrize("table", [[0.0], [0, 1, 2], [[0, 1], [2, 3]]])
def test_a_table_of_another_length_is_refused(table):
    with pytest.raises(ValueError, match="all 2\\^p coalitions"):
        Game(table)


def test_other_errors():
    with pytest.raises(ValueError, match="v\\(∅\\) = 0, but v\\(∅\\) = 1"):
        Game([1, 2])
    game = Game([0, 1, 1, 3])
    with pytest.raises(ValueError, match="players are 0 to 1"):
        game([2])
    with pytest.raises(ValueError, match="players are 0 to 1"):
        game.marginal_contributions(2)
    with pytest.raises(ValueError, match="read-only"):
        game.table[1] = 5
    law = Distribution.from_conditional([[0.5, 0.5], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"y must be one of \(0, 1\), but 2"):
        prediction_game(law, [0], y=2)
    with pytest.raises(ValueError, match="must be one of"):
        local_game(law, [2])


def test_sizes_are_enforced():
    law = Distribution.from_counts(np.ones((2,) * 16 + (2,), dtype=int))
    with pytest.raises(ValueError, match=r"3\^16 = 86,093,442 entries"):
        global_game(law)
    assert local_game(law, [0] * 16).n_players == 16
