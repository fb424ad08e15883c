"""Example 1 of the paper: every printed number, and what they show."""

import pytest

from localmdi.theory import mutual_information, population_mdi
from theorems.laws import example_1

# I(Y;X1), I(Y;X1|X2), I(Y;X2), I(Y;X2|X1): as printed, and with six digits.
PRINTED = {1: (0.091, 0.269, 0.002, 0.180), 2: (0.002, 0.243, 0.016, 0.258)}
SIX_DIGITS = {
    1: (0.090516, 0.269152, 0.001809, 0.180444),
    2: (0.001809, 0.243486, 0.016333, 0.258011),
}
IMPORTANCE = {1: (0.090516, 0.180444), 2: (0.243486, 0.016333)}


@pytest.mark.parametrize("output", [1, 2])
def test_conditional_mutual_informations(output):
    law = example_1(output)
    ours = [mutual_information(law, m, given) for m, given in ((0, ()), (0, 1), (1, ()), (1, 0))]
    assert tuple(round(number, 3) for number in ours) == PRINTED[output]
    assert ours == pytest.approx(SIX_DIGITS[output], abs=5e-7)


@pytest.mark.parametrize("output", [1, 2])
@pytest.mark.parametrize("draw", ["theory", "sklearn"])
def test_importances_with_k_2(output, draw):
    importance = population_mdi(example_1(output), 2, draw=draw)
    assert importance == pytest.approx(IMPORTANCE[output], abs=5e-7)


def test_the_single_tree_of_k_2():
    """Y_1 is split on X_1 first, Y_2 on X_2 first."""
    first, second = example_1(1), example_1(2)
    assert population_mdi(first, 2) == pytest.approx(
        [mutual_information(first, 0), mutual_information(first, 1, 0)]
    )
    assert population_mdi(second, 2) == pytest.approx(
        [mutual_information(second, 0, 1), mutual_information(second, 1)]
    )
