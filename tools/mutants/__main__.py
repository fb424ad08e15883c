"""``make mutants``: change one operator or number of ours at a time; do our tests notice?

    PYTHONPATH=tools python -m mutants --python 260 --cpp 40 --seed 0

The sample is drawn by a hash of the seed and each mutant's name, so that it hardly changes when
the sources do. Everything happens in copies of the tree under ``build/mutants``. Mutants that were
killed are remembered there, so a run that was stopped goes on, and one after new tests tries the
survivors only; remove that folder to try all. Mutants that are the same program are in
``equivalent.toml``, with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import tomllib
from pathlib import Path
from queue import Empty, SimpleQueue

from mutants.covering import ROOMS, Covering
from mutants.cpp_sites import cpp_mutants
from mutants.cpp_trial import ROOMS as CPP_ROOMS
from mutants.cpp_trial import CppTrial
from mutants.python_sites import Mutant, python_mutants
from mutants.tree_copy import ROOT, Copy

SECONDS = 120  # of processor time for the tests of a stage, several times what they need
BUILD = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


def all_mutants(*, cpp: bool) -> list[Mutant]:
    """Return every mutant of the rooms."""
    make, patterns = python_mutants, [f"src/localmdi/{room}/**/*.py" for room in ROOMS]
    if cpp:
        make = cpp_mutants
        patterns = [f"cpp/include/localmdi/{room}/*.hpp" for room in CPP_ROOMS]
        patterns += [f"cpp/src/{room}/*.cpp" for room in CPP_ROOMS]
    files = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [
        mutant
        for path in files
        for mutant in make(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]


def sample(mutants: list[Mutant], n: int, *, seed: int) -> list[Mutant]:
    """Draw mutants by a hash of their names."""
    return sorted(mutants, key=lambda mutant: _digest(f"{seed} {mutant.name}"))[:n]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Record:
    """What killed each mutant, by its name, on disk after every trial."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self.killers: dict[str, str] = {}
        if path.exists():
            self.killers = json.loads(path.read_text(encoding="utf-8"))

    def killer(self, mutant: Mutant) -> str:
        return self.killers.get(mutant.name, "")

    def note(self, mutant: Mutant, killer: str) -> None:
        with self._lock:
            print(f"{f'killed by {killer}' if killer else 'SURVIVED'}: {mutant.name}", flush=True)
            self.killers[mutant.name] = killer
            self._path.write_text(json.dumps(self.killers, indent=1), encoding="utf-8")


def try_python(left: list[Mutant], record: Record, *, covering: Covering, jobs: int) -> None:
    """Try mutants in as many copies as there are jobs."""
    queue: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in left:
        queue.put(mutant)

    def work(copy: Copy) -> None:
        while True:
            try:
                mutant = queue.get_nowait()
            except Empty:
                return
            stages = covering.stages(mutant.path, mutant.line)
            record.note(mutant, copy.outcome(mutant, stages, seconds=SECONDS))

    copies = [Copy(BUILD / f"copy-{job}") for job in range(jobs)]
    for copy in copies:
        # What fails without a change would kill every mutant.
        killer = copy.run(covering.stages(left[0].path, left[0].line)[0], SECONDS)
        if killer:
            sys.exit(f"fails without any change: {killer}")
    threads = [threading.Thread(target=work, args=[copy]) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def try_cpp(left: list[Mutant], record: Record) -> None:
    """Try mutants one after the other: compilers use all cores anyway."""
    if left:
        trial = CppTrial(Copy(BUILD / "copy-cpp"))
        for mutant in left:
            record.note(mutant, trial.outcome(mutant))


def summary(
    kind: str, chosen: list[Mutant], *, record: Record, reasons: dict[str, str]
) -> list[str]:
    """Return a line of the table, then the survivors without a reason."""
    survivors = [mutant.name for mutant in chosen if not record.killer(mutant)]
    open_ones = [name for name in survivors if name not in reasons]
    explained = len(survivors) - len(open_ones)
    different = len(chosen) - explained
    killed = different - len(open_ones)
    score = killed / different if different else 1.0
    counts = (len(chosen), killed, explained, len(open_ones))
    return [f"| {kind} | " + " | ".join(map(str, counts)) + f" | {score:.1%} |", *open_ones]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=int, default=260, help="mutants of Python (default: 260)")
    parser.add_argument("--cpp", type=int, default=40, help="mutants of C++ (default: 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="Python trials at once (default: 2)")
    arguments = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    record = Record(BUILD / "killers.json")
    reasons = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    python = sample(all_mutants(cpp=False), arguments.python, seed=arguments.seed)
    cpp = sample(all_mutants(cpp=True), arguments.cpp, seed=arguments.seed)
    left = [mutant for mutant in [*python, *cpp] if not record.killer(mutant)]
    left = [mutant for mutant in left if mutant.name not in reasons]
    try_cpp([mutant for mutant in left if not mutant.path.endswith(".py")], record)
    left = [mutant for mutant in left if mutant.path.endswith(".py")]
    if left:
        covering = Covering.of(BUILD / "copy-map", BUILD / "covering.json")
        try_python(left, record, covering=covering, jobs=arguments.jobs)
    print("| mutants of | tried | killed | the same program | survived | score |")
    print("|---|---|---|---|---|---|")
    survivors = []
    for kind, chosen in (("Python", python), ("C++", cpp)):
        line, *names = summary(kind, chosen, record=record, reasons=reasons)
        print(line)
        survivors += names
    print(*survivors, sep="\n")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
