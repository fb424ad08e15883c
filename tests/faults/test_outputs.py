"""Outputs that cannot be written: one clear line, the documented exit code, and no litter."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import localmdi as lm
from faults.commands import OLD, names_in, on_small_disk, prepare, small_disks, start
from localmdi.report import write_report

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="devices and limits are Linux's")


@pytest.fixture
def folder(tmp_path):
    prepare(tmp_path, n_rows=2000)
    return tmp_path


def ended(folder, *arguments, **options):
    process, _ = start(folder, *arguments, **options)
    complaint = process.communicate(timeout=300)[1]
    assert complaint.count("\n") == 1, complaint
    assert complaint.startswith("localmdi: ")
    return process.returncode, complaint


def limit_files():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_disk_that_is_full(folder, name):
    (folder / name).write_bytes(OLD)
    before = names_in(folder)
    code, complaint = ended(folder, "-o", name, preexec_fn=limit_files)
    assert code == 1
    assert "File too large" in complaint
    assert (folder / name).read_bytes() == OLD
    assert names_in(folder) == before


@pytest.mark.parametrize("name", ["old.csv", "new.parquet", "page.html"])
def test_a_small_disk(folder, name):
    if not small_disks():
        pytest.skip("this system lets no user mount a disk of their own")
    command = ["explain", "rows.parquet", "--model", "f.lmdi", "--quiet", "--jobs", "1"]
    option = "--report" if name.endswith("html") else "-o"
    done = on_small_disk(folder, *command, option, f"small/{name}")
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("localmdi: ")
    assert done.stderr.endswith("No space left on device.\n")
    assert done.stderr.count("\n") == 1
    assert done.stdout.splitlines() == ["./old.csv 13"]


@pytest.mark.parametrize("kind", ["directory", "pipe", "device", "loop", "input", "model"])
def test_outputs_that_are_no_files(folder, kind):
    out = folder / {"input": "rows.parquet", "model": "f.lmdi"}.get(kind, "out.csv")
    if kind == "directory":
        out.mkdir()
    elif kind == "pipe":
        os.mkfifo(out)
    elif kind == "device":
        out.symlink_to("/dev/full")
    elif kind == "loop":
        out.symlink_to("out.csv")
    before, mode = names_in(folder), out.lstat().st_mode
    option = "--save-model" if kind == "model" else "-o"
    code, _ = ended(folder, option, out.name)
    assert code == 2
    assert names_in(folder) == before
    assert stat.S_IFMT(out.lstat().st_mode) == stat.S_IFMT(mode)


def test_a_symbolic_link_stays_one(folder):
    (folder / "real.csv").write_bytes(OLD)
    (folder / "out.csv").symlink_to("real.csv")
    process, _ = start(folder, "-o", "out.csv")
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0
    assert (folder / "out.csv").is_symlink()
    assert (folder / "real.csv").read_bytes().startswith(b'"_row"')


def test_a_symbolic_link_to_nowhere(folder):
    (folder / "out.csv").symlink_to("gone/real.csv")
    code, complaint = ended(folder, "-o", "out.csv")
    assert (code, f"the folder '{folder}/gone' does not exist" in complaint) == (2, True)


def test_a_full_stdout(folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        code, complaint = ended(folder, stdout=full)
    assert (code, complaint) == (1, "localmdi: No space left on device.\n")


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_streams(folder, closed):
    def close():
        for number in closed:
            os.close(number)

    options = {"stdout": None, "stderr": None} if closed == (0, 1, 2) else {}
    process, _ = start(folder, "-o", "out.csv", preexec_fn=close, **options)
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert (folder / "out.csv").read_bytes().startswith(b'"_row"')


def test_a_folder_that_may_not_be_written_to(folder):
    if os.getuid() == 0:
        # Root may write everywhere but where the file system itself says no.
        code, complaint = ended(folder, "-o", "/proc/out.csv")
        assert (code, "/proc" in complaint) == (1, True)
        return
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    code, complaint = ended(folder, "-o", "closed/out.csv")
    assert (code, "is not writable" in complaint) == (2, True)


def result():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4))
    return lm.RandomizedForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)


def test_saving_on_a_full_disk(tmp_path):
    writers = {
        "forest.lmdi": "model.forest_.save(path)",
        "local.lmdi": "model.local_importances_.save(path)",
        "report.html": "write_report(model.local_importances_, path)",
    }
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from faults.test_outputs import limit_files, result\n"
        "from localmdi.report import write_report\n"
        "model = result(); limit_files()\n"
    )
    for name, call in writers.items():
        (tmp_path / name).write_bytes(OLD)
        program += (
            f"path = Path({name!r})\ntry: {call}\nexcept OSError as error: print(error.errno)\n"
        )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(__file__))},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["27"] * len(writers), done.stderr
    assert names_in(tmp_path) == sorted(writers)
    assert all((tmp_path / name).read_bytes() == OLD for name in writers)


@pytest.mark.parametrize("kind", ["directory", "pipe", "device", "loop"])
def test_saving_to_what_is_no_file(tmp_path, kind):
    path = tmp_path / "out"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/full" if kind == "device" else "out")
    model = result()
    local = model.local_importances_
    for save in (model.forest_.save, local.save, lambda path: write_report(local[:5], path)):
        with pytest.raises(ValueError, match="must name a regular file"):
            save(path)
    assert names_in(tmp_path) == ["out"]
