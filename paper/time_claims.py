"""What the paper says about computing times, held against measured ones."""

from __future__ import annotations

from dataclasses import dataclass

from paper.authors_code import NOTEBOOK
from paper.data import load
from paper.piece import AS_READ, NOT_REPRODUCED, Claim

__all__ = ["Seconds", "Statement", "statements"]

PREDICTION, LOCAL, GLOBAL = "predict_proba", "Local MDI", "Global MDI"
AUTHORS = "Local MDI (authors' algorithm)"
SAABAS, INTERPRETER = "Saabas (localmdi)", "Saabas (treeinterpreter)"
TREESHAP, SAGE, GROWING = "TreeSHAP (shap)", "SAGE (sage-importance)", "growing the forest"

# The paper says "much faster" and "strong advantage"; it gives no number.
_MUCH = 10


@dataclass(frozen=True)
class Seconds:
    """A computing time for all rows; `scaled` if only a part of the rows was explained."""

    value: float
    scaled: bool = False

    def __str__(self) -> str:
        digits = f"{self.value:.3g}" if self.value < 999.5 else f"{float(f'{self.value:.3g}'):,.0f}"
        return f"≈ {digits}" if self.scaled else digits


# Computing times by dataset, then by measure.
Times = dict[str, dict[str, Seconds]]


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper, and how one time must compare with another for it to hold.

    `datasets` are those it is tested on; `reading` says what the words are taken to mean, and
    `beside` what else is known about it.
    """

    source: str
    text: str
    printed: str
    reading: str
    pair: tuple[str, str]
    datasets: tuple[str, ...]
    at_most: float = 1 / _MUCH
    beside: str = ""

    def claim(self, times: Times) -> Claim:
        """Return the sentence with the measured ratios and the verdict."""
        ours, theirs = self.pair
        ratios = {
            load(name).title: times[name][ours].value / max(times[name][theirs].value, 1e-9)
            for name in self.datasets
        }
        return Claim(
            self.source,
            self.text,
            self.printed,
            f"{ours} / {theirs}: "
            + ", ".join(f"{title} {value:.2g}" for title, value in ratios.items())
            + self.beside,
            AS_READ if max(ratios.values()) <= self.at_most else NOT_REPRODUCED,
            reading=self.reading,
            because="a reading, because the paper names no number",
        )


def statements(times: Times) -> list[Statement]:
    """Return the paper's statements that can be tested with these times."""
    every = tuple(times)
    many_rows = tuple(name for name in times if len(load(name).X) >= 100)
    much = f"at most 1/{_MUCH} of the time on every dataset of 100 rows or more"
    found = [
        Statement(
            "Section 4.1",
            "Local MDI can be implemented very efficiently at no additional cost with respect to "
            "the computation of a prediction.",
            "no additional cost",
            "at most the time of predict_proba",
            (LOCAL, PREDICTION),
            every,
            at_most=1.0,
        ),
        Statement(
            "Section 5",
            "Local MDI results in a much more efficient and simpler estimation scheme than "
            "TreeSHAP.",
            "much more efficient",
            much,
            (LOCAL, TREESHAP),
            many_rows,
        ),
        *_saabas_statements(much, many_rows),
        Statement(
            "Section 5",
            "A strong advantage to global MDI over SAGE in terms of computing times.",
            "strong advantage",
            f"at most 1/{_MUCH} of the time",
            (GLOBAL, SAGE),
            tuple(name for name, of in times.items() if SAGE in of),
        ),
        Statement(
            "Section 7",
            "Local MDI importances do not require any extra computation with respect to the tree "
            "construction.",
            "no extra computation",
            "little: at most 1/4 of the time of growing",
            (LOCAL, GROWING),
            every,
            at_most=1 / 4,
        ),
    ]
    return [s for s in found if s.datasets and all(s.pair[0] in times[n] for n in s.datasets)]


def _saabas_statements(much: str, datasets: tuple[str, ...]) -> list[Statement]:
    text = "Saabas' importances are much faster to compute than TreeSHAP."
    packages = "the paper's packages, Python against C"
    return [
        Statement("Section 5", text, "much faster", f"{much}; {how}", pair, datasets, beside=beside)
        for how, pair, beside in (
            ("both compiled", (SAABAS, TREESHAP), ""),
            (packages, (INTERPRETER, TREESHAP), _notebook()),
        )
    ]


def _notebook() -> str:
    return (
        f"; the authors' notebook holds {NOTEBOOK['TreeSHAP']} s for TreeSHAP, "
        f"{NOTEBOOK['Saabas']} s for Saabas and {NOTEBOOK['Local MDI']} s for local MDI (digits, "
        f"K = 64): {NOTEBOOK['Saabas'] / NOTEBOOK['TreeSHAP']:.2g}"
    )
