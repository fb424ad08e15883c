"""Build the sdist, look at what is in it, and install it into an empty virtual environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CMakeLists.txt",
    "CONTRIBUTING.md",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "cpp",
    "pyproject.toml",
    "src",
}
SOURCES = (
    "src/localmdi/**/*.py",
    "src/localmdi/**/*.pyi",
    "cpp/include/**/*",
    "cpp/src/**/*",
    "cpp/bindings/*",
)


def build(folder: Path) -> Path:
    command = ["build", "--sdist", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)
    (sdist,) = folder.glob("localmdi-*.tar.gz")
    return sdist


def check_content(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top_level = {name.partition("/")[0] for name in names}
    if top_level != TOP_LEVEL:
        difference = sorted(top_level ^ TOP_LEVEL)
        sys.exit(f"the sdist must hold what a build needs and no more; it differs by {difference}")
    sources = {path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()}
    missing = sorted({str(path.relative_to(ROOT)) for path in sources} - names)
    if missing:
        sys.exit(f"sources are missing in the sdist: {missing}")


def install(sdist: Path, folder: Path) -> None:
    """Install with build isolation, as `pip install` does for a user, and run the install check."""
    environment = folder / "empty"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", sdist], check=True)
    check = shutil.copy(ROOT / "tools" / "check_install.py", folder)
    subprocess.run([python, "-I", check], check=True, cwd=folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist = build(folder)
        check_content(sdist)
        install(sdist, folder)


if __name__ == "__main__":
    main()
