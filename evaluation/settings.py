"""How large an evaluation to run: a quick one of minutes, or a full one of up to an hour."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """The sizes that decide how long an evaluation takes.

    Attributes
    ----------
    name : str
        "quick" or "full".
    folder : Path
        Where figures, tables, the page and the cache go.
    n_trees : int
        Trees of every forest that is explained.
    n_train, n_rows : int
        Training rows of the simulated problems, and new rows that are explained.
    tuning_seeds, seeds : tuple of int
        Seeds on which leaf sizes and `min_rows` are chosen, and the others, which give all numbers.
    n_other_seeds : int
        All sections but `invase`, and in a full run `difficulties`, take the first of `seeds`, this
        many.
    slow_seeds : int
        Interventional TreeSHAP and LMDI+ run on the first of `seeds` only, this many; in a quick
        run on Syn1 to Syn6 only.
    slow_trees : int
        LMDI+ takes the first trees of its forest, this many.
    n_background : int
        Background rows of interventional TreeSHAP; SAGE takes a quarter of them.
    sage_permutations : int
        SAGE stops at this many permutations.
    n_refits : int
        Forests for each question of stability.
    n_shuffles : int
        Times that labels are shuffled.
    real_data, real_sizes : tuples
        Real covariates, and how many rows of them train.
    n_digits : int
        TreeSHAP explains the first rows of digits, this many.
    sample_sizes, tree_counts : tuple of int
        N and T of the comparison with the infinite forest.
    n_draws : int
        Samples drawn for each N.
    n_processes : int
        Processes that compute at the same time.

    Examples
    --------
    >>> settings = Settings.quick("out")
    >>> set(settings.seeds) & set(settings.tuning_seeds)
    set()
    """

    name: str
    folder: Path
    n_trees: int
    n_train: int
    n_rows: int
    tuning_seeds: tuple[int, ...]
    seeds: tuple[int, ...]
    n_other_seeds: int
    slow_seeds: int
    slow_trees: int
    n_background: int
    sage_permutations: int
    n_refits: int
    n_shuffles: int
    real_data: tuple[str, ...]
    real_sizes: tuple[int, ...]
    n_digits: int
    sample_sizes: tuple[int, ...]
    tree_counts: tuple[int, ...]
    n_draws: int
    n_processes: int = 2

    @classmethod
    def quick(cls, folder: str | Path) -> Settings:
        """Return sizes that take minutes on two cores."""
        return cls(
            name="quick",
            folder=Path(folder),
            n_trees=100,
            n_train=2000,
            n_rows=100,
            tuning_seeds=(100, 101),
            seeds=(0, 1, 2, 3, 4),
            n_other_seeds=3,
            slow_seeds=2,
            slow_trees=20,
            n_background=50,
            sage_permutations=128,
            n_refits=4,
            n_shuffles=4,
            real_data=("diabetes", "breast cancer"),
            real_sizes=(150, 400),
            n_digits=100,
            sample_sizes=(50, 100, 200, 400, 800, 1600),
            tree_counts=(1, 4, 16, 64, 256),
            n_draws=50,
        )

    @classmethod
    def full(cls, folder: str | Path) -> Settings:
        """Return sizes that take up to an hour: more seeds, rows, trees and digits.

        Interventional TreeSHAP and LMDI+ are most of the cost, so their own sizes stay small.
        """
        return cls(
            name="full",
            folder=Path(folder),
            n_trees=150,
            n_train=2000,
            n_rows=150,
            tuning_seeds=(100, 101),
            seeds=tuple(range(12)),
            n_other_seeds=8,
            slow_seeds=3,
            slow_trees=20,
            n_background=50,
            sage_permutations=256,
            n_refits=5,
            n_shuffles=20,
            real_data=("diabetes", "breast cancer", "digits"),
            real_sizes=(150, 400, 1000),
            n_digits=1797,
            sample_sizes=(50, 100, 200, 400, 800, 1600, 3200, 6400),
            tree_counts=(1, 4, 16, 64, 256),
            n_draws=80,
        )

    @property
    def other_seeds(self) -> tuple[int, ...]:
        """The seeds of most sections; see `n_other_seeds`."""
        return self.seeds[: self.n_other_seeds]

    @property
    def is_full(self) -> bool:
        """Whether these are the large sizes."""
        return self.name == "full"
