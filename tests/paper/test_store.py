"""The cache: goes on after an interruption, repairs itself, and is the same for two processes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from paper.forests import Recipe
from paper.rivals import TreeShapRows
from paper.store import Store


@dataclass(frozen=True)
class Squares:
    """Squares of the row numbers; every computed block leaves a line in the log."""

    log: Path
    stops_at: int | None = None
    power: int = 2
    label: str = "squares"

    def key(self):
        return {"power": self.power}

    def prepare(self):
        def rows(start, stop):
            if start == self.stops_at:
                raise KeyboardInterrupt
            with self.log.open("a") as file:
                file.write(f"{start}\n")
            return np.arange(start, stop, dtype=float)[:, np.newaxis] ** self.power

        return rows

    @property
    def computed(self):
        return [int(line) for line in self.log.read_text().split()] if self.log.exists() else []


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def blocks(tmp_path):
    return sorted((tmp_path / "cache").glob("*/*.npz"))


def test_rows_in_order_and_computed_once(store, log):
    work = Squares(log)
    first = store.rows(work, 10, block=4)
    np.testing.assert_array_equal(first[:, 0], np.arange(10) ** 2)
    np.testing.assert_array_equal(store.rows(work, 10, block=4), first)
    assert work.computed == [0, 4, 8]


def test_an_interrupted_run_goes_on_where_it_was(store, log):
    with pytest.raises(KeyboardInterrupt):
        store.rows(Squares(log, stops_at=8), 20, block=4)
    assert Squares(log).computed == [0, 4]
    values = store.rows(Squares(log), 20, block=4)
    assert Squares(log).computed == [0, 4, 8, 12, 16]
    np.testing.assert_array_equal(values[:, 0], np.arange(20) ** 2)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other rows"])
def test_a_damaged_block_is_computed_again(store, log, damage, tmp_path):
    expected = store.rows(Squares(log), 12, block=4)
    victim = blocks(tmp_path)[1]
    content = bytearray(victim.read_bytes())
    if damage == "cut":
        victim.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        # Into the middle of the stored numbers: only a checksum can tell.
        at = bytes(content).index(np.array([16.0]).tobytes())
        content[at] ^= 1
        victim.write_bytes(content)
    elif damage == "empty":
        victim.write_bytes(b"")
    else:
        np.savez(victim, values=np.zeros((3, 1)))
    np.testing.assert_array_equal(store.rows(Squares(log), 12, block=4), expected)
    assert Squares(log).computed == [0, 4, 8, 4]


def test_a_half_written_file_is_no_entry(store, log, tmp_path):
    expected = store.rows(Squares(log), 4, block=4)
    (block,) = blocks(tmp_path)
    block.rename(block.with_name(f"{block.name}.1.tmp"))
    np.testing.assert_array_equal(store.rows(Squares(log), 4, block=4), expected)
    assert Squares(log).computed == [0, 0]


def test_what_the_key_says_is_what_counts(store, log):
    squares = store.rows(Squares(log), 4, block=4)
    cubes = store.rows(Squares(log, power=3), 4, block=4)
    np.testing.assert_array_equal(cubes, squares**1.5)
    store.rows(Squares(log.with_name("another")), 4, block=4)
    assert Squares(log).computed == [0, 0]
    assert Squares(log.with_name("another")).computed == []


def test_each_work_gives_its_first_row(store, log):
    ones = store.each([Squares(log, power=0), Squares(log, power=1)], label="two")
    assert [value.tolist() for value in ones] == [[1.0], [0.0]]


def test_two_processes_give_what_one_gives(tmp_path):
    work = TreeShapRows(Recipe("led", max_features=2, n_trees=10), "tree_path_dependent")
    one = Store(tmp_path / "one").rows(work, 10, block=3)
    two = Store(tmp_path / "two", n_processes=2).rows(work, 10, block=3)
    assert one.shape == (10, 7)
    np.testing.assert_array_equal(one, two)


def test_row_blocks_do_not_change_the_rows(tmp_path):
    work = TreeShapRows(Recipe("led", max_features=1, n_trees=10), "tree_path_dependent")
    whole = Store(tmp_path / "whole").rows(work, 10, block=16)
    np.testing.assert_array_equal(Store(tmp_path / "parts").rows(work, 10, block=1), whole)
