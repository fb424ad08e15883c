"""Examples 1 and 2 of the appendix: strong monotonicity fails for K = 2, local MDI below zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import localmdi as lm
from paper.piece import EXACT, NOT_REPRODUCED, Claim, Piece, Table
from paper.printed import EXAMPLE_1, EXAMPLE_2

if TYPE_CHECKING:
    from paper.piece import Verdict
    from paper.settings import Settings
    from paper.store import Store

__all__ = ["example_1", "example_2", "run"]

_FIRST = "Appendix B, Example 1"
_SECOND = "Appendix B, Example 2"


def example_1() -> dict[str, tuple[float, float]]:
    """Return the quantities of Example 1 for its two outputs.

    Examples
    --------
    >>> [round(value, 6) for value in example_1()["I(Y;X_1|X_2)"]]
    [0.269152, 0.243486]
    """
    outputs = [_law([[0.1, 0.5], [0.9, 0.4]]), _law([[0.1, 0.8], [0.7, 0.3]])]
    information = lm.theory.mutual_information
    trees = [lm.theory.population_mdi(law, 2) for law in outputs]
    rows = {
        "I(Y;X_1)": [information(law, 0) for law in outputs],
        "I(Y;X_1|X_2)": [information(law, 0, given=1) for law in outputs],
        "I(Y;X_2)": [information(law, 1) for law in outputs],
        "I(Y;X_2|X_1)": [information(law, 1, given=0) for law in outputs],
        "Imp^{K=2}(X_1)": [tree[0] for tree in trees],
        "Imp^{K=2}(X_2)": [tree[1] for tree in trees],
    }
    return {what: (float(first), float(second)) for what, (first, second) in rows.items()}


def example_2() -> dict[str, float]:
    """Return the quantities of Example 2.

    Examples
    --------
    >>> round(example_2()["Imp(X_1, 0)"], 6)
    -0.188722
    """
    law = _law([0.5, 0.0])
    return {
        "H(Y)": lm.theory.entropy(law, "y"),
        "H(Y|X_1=0)": lm.theory.impurity_at(law, {0: 0}),
        "H(Y|X_1=1)": lm.theory.impurity_at(law, {0: 1}),
        "Imp(X_1, 0)": float(lm.theory.population_local_mdi(law, (0,))[0]),
    }


def run(settings: Settings, store: Store) -> Piece:
    """Compare every number of both examples with the printed one."""
    first, second = example_1(), example_2()
    rows = [
        (_FIRST, f"{what}, Y_{i + 1}", EXAMPLE_1[what][i], values[i])
        for what, values in first.items()
        for i in (0, 1)
    ]
    rows += [(_SECOND, what, EXAMPLE_2[what], value) for what, value in second.items()]
    claims = [
        Claim(source, what, printed, f"{value:.6f}", _verdict(printed, value), in_table=True)
        for source, what, printed, value in rows
    ]
    return Piece(
        name="examples",
        title="Examples 1 and 2",
        tables=(
            Table(
                "examples",
                "Every number of the two examples, computed exactly from the joint laws the paper "
                "defines; entropies in bits.",
                ("example", "quantity", "printed", "ours", "verdict"),
                tuple((c.source, c.text, c.printed, c.ours, c.verdict) for c in claims),
            ),
        ),
        claims=(*claims, _monotonicity(first), _negative(second)),
    )


def _law(chances: list[float] | list[list[float]]) -> lm.theory.Distribution:
    """Return the law of equiprobable binary inputs with these probabilities of Y = 1."""
    one = np.array(chances)
    return lm.theory.Distribution(np.stack([1 - one, one], axis=-1) / one.size)


def _verdict(printed: str, value: float) -> Verdict:
    digits = len(printed.partition(".")[2])
    return EXACT if f"{value:.{digits}f}" == printed else NOT_REPRODUCED


def _monotonicity(values: dict[str, tuple[float, float]]) -> Claim:
    more = all(a >= b for a, b in (values["I(Y;X_1)"], values["I(Y;X_1|X_2)"]))
    first, second = values["Imp^{K=2}(X_1)"]
    return Claim(
        _FIRST,
        "Although X_1 brings more information about Y_1 than about Y_2 in all contexts, it is more "
        "important to Y_2 than to Y_1.",
        "strong monotonicity is violated for K = 2",
        f"more information in all contexts: {'yes' if more else 'no'}; "
        f"importance {first:.3f} for Y_1, {second:.3f} for Y_2",
        EXACT if more and first < second else NOT_REPRODUCED,
    )


def _negative(values: dict[str, float]) -> Claim:
    value = values["Imp(X_1, 0)"]
    return Claim(
        "Section 4.1 and Example 2",
        "Unlike global MDI, local MDI can be negative.",
        "Imp(X_1, 0) < 0",
        f"{value:.6f}",
        EXACT if value < 0 else NOT_REPRODUCED,
    )
