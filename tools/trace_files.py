"""Print which of our Python files a call passes through, in the order it reaches them.

    python tools/trace_files.py                 all calls below, with their bars
    python tools/trace_files.py local_mdi       local_mdi(model, X)
    python tools/trace_files.py honest_mdi      honest_mdi(model, X, y)
    python tools/trace_files.py fit             RandomizedForestClassifier().fit(X, y)
    python tools/trace_files.py explain         localmdi explain DATA --target NAME --report PAGE
    python tools/trace_files.py --functions …   their functions too, in the same order

Counted are files and functions that run, and how often a call leads from one room to another; what
only happens while modules are imported does not count.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Walk(NamedTuple):
    """How many files and functions a call passes, and how often it changes the room."""

    files: int
    functions: int
    changes: int


BARS = {
    "local_mdi": Walk(14, 90, 18),
    "honest_mdi": Walk(19, 138, 27),
    "fit": Walk(10, 65, 13),
    "explain": Walk(45, 560, 400),
}


def functions_passed(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Return the file and name of every function of localmdi that is called, in order."""
    import localmdi

    package = Path(localmdi.__file__).parent
    passed: list[tuple[str, str]] = []
    files: dict[str, str | None] = {}
    importing = 0

    def enter(*event: Any) -> None:
        nonlocal importing
        code = event[0].f_code
        if code.co_name == "<module>":
            importing += (event[1] == "call") - (event[1] == "return")
        if event[1] != "call" or importing:
            return
        if code.co_filename not in files:
            path = Path(code.co_filename)
            inside = path.is_relative_to(package)
            files[code.co_filename] = str(path.relative_to(package)) if inside else None
        file = files[code.co_filename]
        # The lazy names of the package are no part of the way.
        if file is not None and file != "__init__.py":
            passed.append((file, f"{code.co_qualname}:{code.co_firstlineno}"))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return passed


def measure(passed: list[tuple[str, str]]) -> Walk:
    """Count files, functions and changes of room."""
    rooms = [Path(file).parts[0] for file, _ in passed]
    changes = sum(one != other for one, other in itertools.pairwise(rooms))
    return Walk(len({file for file, _ in passed}), len(set(passed)), changes)


def prepare(name: str, folder: Path) -> Callable[[], Any]:
    """Return the call to trace."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import ExtraTreesClassifier

    import localmdi

    X, y = load_iris(return_X_y=True, as_frame=True)
    if name == "local_mdi":
        model = ExtraTreesClassifier(10, random_state=0).fit(X, y)
        return lambda: localmdi.local_mdi(model, X)
    if name == "honest_mdi":
        # So many trees that no row was drawn for all of them.
        bagged = ExtraTreesClassifier(30, bootstrap=True, random_state=0).fit(X, y)
        return lambda: localmdi.honest_mdi(bagged, X, y)
    if name == "fit":
        forest = localmdi.RandomizedForestClassifier(10, random_state=0)
        return lambda: forest.fit(X, y)
    from localmdi.cli import main

    table = folder / "iris.csv"
    X.assign(species=y).to_csv(table, index=False)
    options = ["--target", "species", "--report", str(folder / "page.html"), "--quiet"]
    return lambda: main(["explain", str(table), *options])


def run(name: str, *, functions: bool) -> bool:
    """Print the way of one call; tell whether it keeps to the bars."""
    with tempfile.TemporaryDirectory() as folder:
        call = prepare(name, Path(folder))

        def finish() -> None:
            try:
                call()
            except SystemExit as stop:
                if stop.code not in (0, None):
                    raise

        passed = functions_passed(finish)
    found, bar = measure(passed), BARS[name]
    counts = ", ".join(
        f"{n:,} {what} (at most {most})"
        for n, most, what in zip(found, bar, ("files", "functions", "room changes"), strict=True)
    )
    print(f"{name}: {counts}")
    for file in dict.fromkeys(file for file, _ in passed):
        print(f"  {file}")
        if functions:
            for place in dict.fromkeys(place for other, place in passed if other == file):
                print(f"    {place.partition(':')[0]}")
    return all(n <= most for n, most in zip(found, bar, strict=True))


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--functions"]
    kept = [run(name, functions="--functions" in sys.argv) for name in names or BARS]
    sys.exit(not all(kept))
