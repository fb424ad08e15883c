"""Whatever a file does to the process that reads it, the command ends in one sentence."""

import os
import signal
import subprocess
import sys
import time

import pytest

from localmdi.io import child_process as barrier

if sys.platform != "linux":
    pytest.skip("limits of processes are Linux's", allow_module_level=True)

START = """
import os, signal, sys, time
from pathlib import Path
from localmdi.io import child_process as barrier
from localmdi.cli.app import _complain, sentence
from localmdi.io.child_process import reading, run_in_child
barrier._CPU_SECONDS, barrier._WAITING, barrier._MEMORY = 0.2, 3, 1 << 28
"""
END = """
def guarded():
    try:
        return work() or 0
    except Exception as error:
        _complain(sentence(error))
        return 1
def stopped(error):
    print("stopped", flush=True)
    return 128 + error.number
sys.exit(run_in_child(guarded, stopped=stopped, complain=_complain))
"""


def start(work, folder, **options):
    (folder / "a.parquet").write_bytes(b"0123456789")
    return subprocess.Popen(
        [sys.executable, "-c", START + work + END],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it makes the reader crash (SIGSEGV)"),
        ("os.write(2, b'last words\\n'); os.abort()", "it makes the reader crash (SIGABRT)"),
        ("while True: pass", "the reader does not come to an end"),
        ("time.sleep(60)", "the reader does not come to an end"),
        ("bytearray(1 << 29)", "needs more than 0.3 GiB of memory to be read"),
    ],
)
def test_one_sentence(tmp_path, inside, said):
    work = f"def work():\n  with reading(Path('a.parquet'), mute=True):\n    {inside}\n"
    process = start(work, tmp_path)
    out, complaint = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert complaint.startswith("localmdi: 'a.parquet' ")
    assert said in complaint
    assert complaint.count("\n") == 1


def test_after_reading_there_are_no_limits(tmp_path):
    work = (
        "def work():\n  for _ in range(3):\n    with reading(Path('a.parquet')): pass\n"
        "  bytearray(1 << 29)\n  end = time.process_time() + 0.5\n"
        "  while time.process_time() < end: pass\n  return 7\n"
    )
    process = start(work, tmp_path)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 7


def test_a_crash_elsewhere_is_not_blamed_on_a_file(tmp_path):
    process = start("def work(): os.kill(os.getpid(), signal.SIGSEGV)\n", tmp_path)
    _, complaint = process.communicate(timeout=60)
    assert "crashed (SIGSEGV); every file is either complete or unchanged" in complaint


WAIT = "def work():\n  print(os.getpid(), flush=True)\n  time.sleep(60)\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_reach_the_child_once(tmp_path, number, code):
    def heed():  # what the tests themselves may ignore, under nohup for example
        signal.signal(number, signal.SIG_DFL)

    for to_all in (False, True):
        process = start(WAIT, tmp_path, start_new_session=True, preexec_fn=heed)
        process.stdout.readline()
        # A terminal sends Ctrl-C to all processes of the command.
        (os.killpg if to_all else os.kill)(process.pid, number)
        out, _ = process.communicate(timeout=60)
        assert (out, process.returncode) == ("stopped\n", code)


def test_a_signal_where_python_drops_exceptions(tmp_path):
    """As in the import system: what a callback of a weak reference raises is printed, and lost."""
    work = (
        "import weakref\nclass Thing: pass\n"
        "def stop(_):\n  os.kill(os.getpid(), signal.SIGTERM)\n  time.sleep(0)\n"
        "def work():\n  thing = Thing()\n  kept = weakref.ref(thing, stop)\n  del thing\n"
        "  time.sleep(60)\n"
    )
    process = start(work, tmp_path)
    out, complaint = process.communicate(timeout=40)
    assert (out, complaint, process.returncode) == ("stopped\n", "", 143)


def test_other_lost_exceptions_are_still_shown(tmp_path):
    work = "class Thing:\n  def __del__(self): 1 / 0\ndef work():\n  Thing()\n"
    process = start(work, tmp_path)
    _, complaint = process.communicate(timeout=60)
    assert "ZeroDivisionError" in complaint
    assert process.returncode == 0


def test_the_child_ends_with_its_parent(tmp_path):
    process = start(WAIT, tmp_path)
    child = int(process.stdout.readline())
    process.kill()
    assert process.stdout.readline() == "stopped\n"
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}")


def test_a_killed_child(tmp_path):
    process = start(WAIT, tmp_path)
    os.kill(int(process.stdout.readline()), signal.SIGKILL)
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint.count("\n")) == (137, 1)
    assert "killed (SIGKILL)" in complaint


def test_outside_of_a_child_nothing_is_limited(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a")
    with barrier.reading(path, mute=True):
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)

    def fill():
        raise MemoryError

    with pytest.raises(ValueError, match=r"needs more than 4\.0 GiB"), barrier.reading(path):
        fill()


def test_the_limits_grow_with_the_file(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "a").write_bytes(bytes(1000))
    (path / "b").write_bytes(bytes(500))
    assert barrier.memory_allowance(path) == (4 << 30) + 4 * 1500
