"""Print which of our Python files a call passes through, in the order it reaches them.

    python tools/trace_files.py                 both calls below, with their bars
    python tools/trace_files.py local_mdi       local_mdi(model, X)
    python tools/trace_files.py explain         localmdi explain DATA --target NAME --report PAGE

A file counts once a function of it runs; what only happens while modules are imported does not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BARS = {"local_mdi": 20, "explain": 45}


def files_passed(call: Callable[[], Any]) -> list[str]:
    """Return the files of localmdi whose functions run during the call."""
    import localmdi

    package = Path(localmdi.__file__).parent
    passed: dict[str, None] = {}

    def enter(*event: Any) -> None:
        code = event[0].f_code
        path = Path(code.co_filename)
        # Modules and class bodies run while something is imported, functions when it is used.
        is_import = code.co_name == "<module>" or "__qualname__" in code.co_names
        if event[1] == "call" and not is_import and path.is_relative_to(package):
            passed[str(path.relative_to(package))] = None

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    passed.pop("__init__.py", None)  # the lazy names
    return list(passed)


def prepare(name: str, folder: Path) -> Callable[[], Any]:
    """Return the call to trace."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    if name == "local_mdi":
        from sklearn.ensemble import ExtraTreesClassifier

        import localmdi

        model = ExtraTreesClassifier(10, random_state=0).fit(X, y)
        return lambda: localmdi.local_mdi(model, X)
    from localmdi.cli import main

    table = folder / "iris.csv"
    X.assign(species=y).to_csv(table, index=False)
    options = ["--target", "species", "--report", str(folder / "page.html"), "--quiet"]
    return lambda: main(["explain", str(table), *options])


def run(name: str) -> bool:
    """Print the files of one call; tell whether they keep to the bar."""
    with tempfile.TemporaryDirectory() as folder:
        call = prepare(name, Path(folder))

        def finish() -> None:
            try:
                call()
            except SystemExit as stop:
                if stop.code not in (0, None):
                    raise

        files = files_passed(finish)
    print(f"{name}: {len(files)} files, bar {BARS[name]}")
    print("".join(f"  {file}\n" for file in files), end="")
    return len(files) <= BARS[name]


if __name__ == "__main__":
    kept = [run(name) for name in sys.argv[1:] or BARS]
    sys.exit(not all(kept))
