"""The population side of the paper, exact, in pure NumPy: the oracle of everything else.

Read it with the paper at hand. It shares no code with the forests that it judges, and has its own
formulas on purpose. Equation numbers are those of the restatements in the paper's appendix
(Theorem 1 is Eq. 8, Theorem 2 is Eq. 11, so the sum rule is Eq. 6); misprints M1, M2, … are listed
in ``docs/theory/misprints.md``. Features are indices from 0, the output is "y", entropies are in
bits.
"""

from localmdi.theory.axioms import (
    Verdict,
    are_symmetric,
    is_efficient,
    is_monotonic,
    is_null_player,
    is_strongly_monotonic,
    is_symmetric,
    respects_null_players,
)
from localmdi.theory.contexts import MAX_ENTRIES
from localmdi.theory.distribution import Distribution
from localmdi.theory.game import (
    Game,
    degree_profile,
    global_game,
    interaction_index,
    local_game,
    moebius,
    prediction_game,
    shapley_value,
)
from localmdi.theory.impurity import (
    divergence,
    entropy,
    impurity,
    impurity_at,
    impurity_decrease,
    mean_impurity,
    mutual_information,
)
from localmdi.theory.population import (
    population_local_mdi,
    population_local_profile,
    population_mdi,
    population_profile,
)
from localmdi.theory.relevance import (
    Witness,
    is_locally_relevant,
    is_relevant,
    is_strongly_relevant,
    is_weakly_relevant,
    local_witnesses,
    relevant_contexts,
)

__all__ = [
    "MAX_ENTRIES",
    "Distribution",
    "Game",
    "Verdict",
    "Witness",
    "are_symmetric",
    "degree_profile",
    "divergence",
    "entropy",
    "global_game",
    "impurity",
    "impurity_at",
    "impurity_decrease",
    "interaction_index",
    "is_efficient",
    "is_locally_relevant",
    "is_monotonic",
    "is_null_player",
    "is_relevant",
    "is_strongly_monotonic",
    "is_strongly_relevant",
    "is_symmetric",
    "is_weakly_relevant",
    "local_game",
    "local_witnesses",
    "mean_impurity",
    "moebius",
    "mutual_information",
    "population_local_mdi",
    "population_local_profile",
    "population_mdi",
    "population_profile",
    "prediction_game",
    "relevant_contexts",
    "respects_null_players",
    "shapley_value",
]
