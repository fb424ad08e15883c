"""Files stay small enough to read in one sitting."""

from architecture.source import (
    PYTHON_FOLDERS,
    ROOT,
    assert_none,
    cpp_files,
    python_files,
    relative,
)

FILES = [*python_files(*PYTHON_FOLDERS), *cpp_files()]


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_files_are_short():
    # One idea per file, and files large enough to hold it.
    assert_none([relative(path) for path in FILES if len(lines(path)) > 800])


def test_lines_fit_a_screen():
    long = [
        f"{relative(path)}:{number}"
        for path in FILES
        for number, line in enumerate(lines(path), 1)
        if len(line) > 100
    ]
    assert_none(long)


def test_bindings_are_a_table_of_contents():
    assert len(lines(ROOT / "cpp" / "bindings" / "module.cpp")) <= 200
