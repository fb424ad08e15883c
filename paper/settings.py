"""How large a reproduction to run: a quick one, or the one with the paper's own settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """The sizes that decide how long a reproduction takes.

    Attributes
    ----------
    name : str
        "quick" or "full".
    folder : Path
        Where figures, tables, the page and the cache go.
    n_trees : int
        Trees of the forests of every dataset but digits; 1000 in the paper.
    n_trees_digits : int
        Trees of the forests of digits; 1000 in the paper.
    n_rows_digits : int
        TreeSHAP explains the first rows of digits, this many; all 1797 in the paper.
    digits_max_features : tuple of int
        The values of K for digits.
    led_max_features : tuple of int
        The values of K for led.
    n_draws : int
        Draws of the led sample for the interval of its row in the table.
    sage_permutations : int
        SAGE stops at this many permutations, converged or not.
    sage_threshold : float
        SAGE has converged when the largest standard deviation is below this part of the gap
        between the largest and the smallest value.
    n_rows_timed : int
        The slow measures are timed on this many rows and on twice as many.
    n_processes : int
        Processes that compute row blocks at the same time.

    Examples
    --------
    >>> Settings.quick("out").is_full, Settings.full("out").n_trees_digits
    (False, 1000)
    """

    name: str
    folder: Path
    n_trees: int
    n_trees_digits: int
    n_rows_digits: int
    digits_max_features: tuple[int, ...]
    led_max_features: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
    n_draws: int = 100
    sage_permutations: int = 262144
    sage_threshold: float = 0.0025
    n_rows_timed: int = 8
    n_processes: int = 2

    @classmethod
    def quick(cls, folder: str | Path) -> Settings:
        """Return settings that take minutes: fewer rows and K where TreeSHAP is slow."""
        return cls(
            name="quick",
            folder=Path(folder),
            n_trees=1000,
            n_trees_digits=1000,
            n_rows_digits=40,
            digits_max_features=(1, 8, 64),
            n_draws=20,
            sage_permutations=65536,
            sage_threshold=0.005,
            n_rows_timed=3,
        )

    @classmethod
    def full(cls, folder: str | Path) -> Settings:
        """Return the paper's settings, which take hours because of TreeSHAP on digits."""
        return cls(
            name="full",
            folder=Path(folder),
            n_trees=1000,
            n_trees_digits=1000,
            n_rows_digits=1797,
            digits_max_features=(1, 2, 4, 8, 16, 32, 64),
        )

    @property
    def is_full(self) -> bool:
        """Whether these are the paper's sizes."""
        return self.name == "full"

    def trees(self, name: str) -> int:
        """Return the number of trees of the dataset's forests."""
        return self.n_trees_digits if name == "digits" else self.n_trees

    def rows(self, name: str, n_rows: int) -> int:
        """Return how many of the dataset's `n_rows` rows TreeSHAP explains: the first ones."""
        return min(n_rows, self.n_rows_digits) if name == "digits" else n_rows

    def note(self, name: str) -> str:
        """Return the sentence for a caption that says where the run was smaller than the paper's.

        Empty in full mode.
        """
        if self.is_full:
            return ""
        if name == "digits":
            return (
                f"Quick mode: {self.n_trees_digits} trees, TreeSHAP on the first "
                f"{self.n_rows_digits} rows of 1797, K in "
                f"{', '.join(map(str, self.digits_max_features))}."
            )
        return (
            f"Quick mode: {self.n_trees} trees, {self.n_draws} draws of the led sample, SAGE with "
            f"at most {self.sage_permutations} permutations."
        )
