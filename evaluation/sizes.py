"""``python -m evaluation.sizes``: how often the test of the global gain names noise.

Every design draws rows, fits a forest and asks ``honest_global_mdi(...).significant()``. Two
features tell something about the answer, or none, and all others nothing. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import localmdi as lm
from localmdi.exceptions import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DESIGNS", "Design", "Size", "measure"]

ALPHA = 0.05
FIRST_SEED = 40_000


class Drawn(NamedTuple):
    """Rows, and what ``fit`` and ``honest_global_mdi`` get besides."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Design:
    """A kind of data, and the forest that is fitted to it.

    Attributes
    ----------
    draw : callable
        Returns rows by a generator of random numbers.
    model : type
        The forest.
    options : dict
        Its parameters.
    n_telling : int
        How many of the first features tell something: the first one much, the second little.
    held_out : bool
        Whether a second draw is held out, and tested on.
    """

    draw: Callable[[np.random.Generator], Drawn]
    model: type = RandomForestClassifier
    options: dict[str, Any] = field(default_factory=dict)
    n_telling: int = 2
    held_out: bool = False


def _rows(rng: np.random.Generator, *, n: int = 300, p: int = 10) -> np.ndarray:
    return rng.normal(size=(n, p))


def _classes(
    rng: np.random.Generator, X: np.ndarray, *, rate: float = 0.5, slopes: Sequence[float] = (2, 1)
) -> np.ndarray:
    """Return classes of which about this share is 1."""
    score = X[:, : len(slopes)] @ np.array(slopes)
    start = np.quantile(score + rng.logistic(size=len(X)), 1.0 - rate)
    y = (score + rng.logistic(size=len(X)) > start).astype(int)
    y[:2] = 0, 1
    return y


def _plain(rng: np.random.Generator, **options: Any) -> Drawn:
    X = _rows(rng, **options)
    return Drawn(X, _classes(rng, X))


def _nothing(rng: np.random.Generator) -> Drawn:
    return Drawn(_rows(rng), rng.integers(0, 2, 300))


def _rare(rng: np.random.Generator, *, rate: float, n: int, p: int) -> Drawn:
    X = _rows(rng, n=n, p=p)
    return Drawn(X, _classes(rng, X, rate=rate))


def _weighted(rng: np.random.Generator) -> Drawn:
    X = _rows(rng)
    return Drawn(X, _classes(rng, X), weight=rng.choice([1.0, 2.0, 4.0], 300))


def _many_values(rng: np.random.Generator) -> Drawn:
    X = _rows(rng)
    X[:, 2] = np.arange(300)
    X[:, 3] = rng.permutation(300)
    X[:, 4:6] = rng.integers(0, 200, (300, 2))
    X[:, 6:] = rng.integers(0, 2, (300, 4))
    return Drawn(X, _classes(rng, X))


def _correlated(rng: np.random.Generator) -> Drawn:
    X = _rows(rng)
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    X[:, 2:] = np.sqrt(0.9) * rng.normal(size=(300, 1)) + np.sqrt(0.1) * X[:, 2:]
    return Drawn(X, _classes(rng, X))


def _four_classes(rng: np.random.Generator) -> Drawn:
    X = _rows(rng)
    score = np.stack([2 * X[:, 0], -2 * X[:, 0], 1.5 * X[:, 1], np.zeros(300)], axis=1)
    return Drawn(X, (score + rng.gumbel(size=score.shape)).argmax(axis=1))


def _numbers(rng: np.random.Generator, *, heavy: bool = False, n_targets: int = 1) -> Drawn:
    X = _rows(rng)
    shape = (300, n_targets)
    error = rng.standard_t(3, shape) if heavy else rng.normal(size=shape)
    slopes = np.linspace(1.0, 0.5, n_targets)
    y = (X[:, 0] + 0.4 * X[:, 1])[:, None] * slopes + error
    return Drawn(X, y[:, 0] if n_targets == 1 else y)


def _two_labels(rng: np.random.Generator) -> Drawn:
    X = _rows(rng)
    return Drawn(X, np.stack([_classes(rng, X), _classes(rng, X, slopes=(0, 2))], axis=1))


def _patients(rng: np.random.Generator) -> Drawn:
    """Return two rows of each patient, much alike, who have one answer."""
    X = _rows(rng, n=150)
    y = _classes(rng, X)
    rows = np.repeat(X, 2, axis=0) + 0.1 * rng.normal(size=(300, X.shape[1]))
    return Drawn(rows, np.repeat(y, 2), groups=np.repeat(np.arange(150), 2))


_BITS = {"criterion": "entropy"}
_LEAVES = {"min_samples_leaf": 5}

DESIGNS: dict[str, Design] = {
    "nothing tells anything, Gini": Design(_nothing, n_telling=0),
    "nothing tells anything, entropy": Design(_nothing, options=_BITS, n_telling=0),
    "two classes, Gini, leaf 1": Design(_plain),
    "two classes, Gini, leaf 5": Design(_plain, options=_LEAVES),
    "two classes, entropy, leaf 1": Design(_plain, options=_BITS),
    "two classes, entropy, leaf 5": Design(_plain, options=_BITS | _LEAVES),
    "50 noise features": Design(lambda rng: _plain(rng, p=52)),
    "50 noise features, entropy": Design(lambda rng: _plain(rng, p=52), options=_BITS),
    "10 % positives": Design(lambda rng: _rare(rng, rate=0.1, n=400, p=10)),
    "10 % positives, entropy": Design(lambda rng: _rare(rng, rate=0.1, n=400, p=10), options=_BITS),
    "2 % positives": Design(lambda rng: _rare(rng, rate=0.02, n=600, p=10)),
    "2 % positives, entropy": Design(lambda rng: _rare(rng, rate=0.02, n=600, p=10), options=_BITS),
    "10 % positives, balanced": Design(
        lambda rng: _rare(rng, rate=0.1, n=400, p=10), options={"class_weight": "balanced"}
    ),
    "10 % positives, balanced_subsample": Design(
        lambda rng: _rare(rng, rate=0.1, n=400, p=10),
        options={"class_weight": "balanced_subsample"},
    ),
    "3 % positives, balanced": Design(
        lambda rng: _rare(rng, rate=0.03, n=600, p=10), options={"class_weight": "balanced"}
    ),
    "3 % positives, balanced_subsample": Design(
        lambda rng: _rare(rng, rate=0.03, n=600, p=10),
        options={"class_weight": "balanced_subsample"},
    ),
    "weights 1, 2, 4": Design(_weighted),
    "ids, 200 levels, binary": Design(_many_values),
    "ids, 200 levels, binary, entropy": Design(_many_values, options=_BITS),
    "correlated": Design(_correlated),
    "four classes": Design(_four_classes),
    "four classes, entropy, leaf 5": Design(_four_classes, options=_BITS | _LEAVES),
    "extra trees, bootstrap": Design(
        _plain, model=ExtraTreesClassifier, options={"bootstrap": True}
    ),
    "numbers, leaf 1": Design(_numbers, model=RandomForestRegressor),
    "numbers, leaf 5": Design(_numbers, model=RandomForestRegressor, options=_LEAVES),
    "numbers, t3 errors": Design(
        lambda rng: _numbers(rng, heavy=True), model=RandomForestRegressor
    ),
    "three numbers": Design(
        lambda rng: _numbers(rng, n_targets=3), model=RandomForestRegressor, options=_LEAVES
    ),
    "two targets of classes": Design(_two_labels, options=_BITS),
    "patients with two rows, groups=": Design(_patients),
    "held out": Design(_plain, held_out=True),
}


class Size(NamedTuple):
    """What the test did with one design.

    Attributes
    ----------
    size : float
        How often noise has a p-value of at most ALPHA.
    family : float
        How often any noise is named (Holm).
    error : float
        Of `family`, two standard errors.
    much, little : float
        How often the features are named that tell much, and little.
    refused, warned : int
        How often the question was refused, and how often a warning was given.
    """

    size: float
    family: float
    error: float
    much: float
    little: float
    refused: int
    warned: int

    @property
    def holds(self) -> bool:
        """Whether the family-wise error is at most ALPHA, or above it by chance."""
        return not self.family > ALPHA + self.error


def measure(
    name: str, *, n_repetitions: int, first_seed: int = FIRST_SEED, n_trees: int = 100
) -> Size:
    """Return how one design came out.

    Examples
    --------
    >>> found = measure("numbers, leaf 5", n_repetitions=2, n_trees=10)
    >>> found.refused, found.much
    (0, 1.0)
    """
    design, telling = DESIGNS[name], DESIGNS[name].n_telling
    p, named, warned = [], [], 0
    for seed in range(first_seed, first_seed + n_repetitions):
        # Designs share no draws: what one comes out with by chance the others do not.
        rng = np.random.default_rng([seed, crc32(name.encode())])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                importance = _ask(design, rng, n_trees=n_trees)
            except UnsupportedModelError:
                continue
        warned += bool(said)
        p.append(importance.p_values())
        named.append(importance.significant(ALPHA))
    if not p:
        return Size(*[np.nan] * 5, refused=n_repetitions, warned=0)
    every, found = np.array(p), np.array(named)
    family = float(found[:, telling:].any(axis=1).mean())
    much, little = found[:, :2].mean(axis=0) if telling else (np.nan, np.nan)
    return Size(
        float((every[:, telling:] <= ALPHA).mean()),
        family,
        2.0 * float(np.sqrt(ALPHA * (1.0 - ALPHA) / len(p))),
        float(much),
        float(little),
        n_repetitions - len(p),
        warned,
    )


def _ask(design: Design, rng: np.random.Generator, *, n_trees: int) -> lm.GlobalImportance:
    X, y, weight, groups = design.draw(rng)
    model = design.model(n_trees, random_state=int(rng.integers(2**31)), **design.options)
    model.fit(X, y, sample_weight=weight)
    if design.held_out:
        new = design.draw(rng)
        return lm.honest_global_mdi(model, new.X, new.y, held_out=True)
    return lm.honest_global_mdi(model, X, y, sample_weight=weight, groups=groups)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and print the table; 1 if a design does not hold."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.sizes", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100, metavar="N", help="of each design")
    parser.add_argument("--trees", type=int, default=100, metavar="N", help="of each forest")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of the first repetition")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="designs at a time")
    parser.add_argument("--only", nargs="+", choices=DESIGNS, metavar="DESIGN", help="one of all")
    given = parser.parse_args(arguments)
    names = given.only or list(DESIGNS)
    last = given.seed + given.repetitions - 1
    print(f"Seeds {given.seed} to {last}, {given.trees} trees, significant({ALPHA}).\n")
    print("| design | size | FWER | much | little | refused | warned |\n" + "|---" * 7 + "|")
    found = Parallel(n_jobs=given.jobs, return_as="generator")(
        delayed(measure)(
            name, n_repetitions=given.repetitions, first_seed=given.seed, n_trees=given.trees
        )
        for name in names
    )
    hold = []
    for name, size in zip(names, found, strict=True):
        hold.append(size.holds)
        print(_line(name, size), flush=True)
    print(f"\nFWER at most {ALPHA} + 2 standard errors in {sum(hold)} of {len(hold)} designs.")
    return 0 if all(hold) else 1


def _line(name: str, size: Size) -> str:
    cells = [f"{value:.3f}" if np.isfinite(value) else "-" for value in size[:2]]
    cells += [f"{value:.2f}" if np.isfinite(value) else "-" for value in size[3:5]]
    marked = name if size.holds else f"**{name}**"
    return f"| {marked} | {' | '.join(cells)} | {size.refused} | {size.warned} |"


if __name__ == "__main__":
    sys.exit(main())
