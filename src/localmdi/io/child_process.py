"""A command runs in a child of the program, so that a file can do no more than end it.

pyarrow, skops, scikit-learn and CatBoost read files in compiled code that trusts them: there are
tables and models that make it crash, loop or ask for all memory. No check before the reader could
know them all. So the program forks before it imports anything, the child does the work, and the
parent says in one sentence how it ended. While the child reads a file from outside (`reading`), it
has a bound on its memory and its time.

Where there is no fork (Windows), a command runs in the program itself, without these bounds.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


# What reading a file, or one batch of it, may take: a fixed allowance, and more for large files.
_MEMORY = 4 << 30
_MEMORY_PER_BYTE = 4
_CPU_SECONDS = 60.0
_BYTES_PER_CPU_SECOND = 1e6
# A reader that waits for something that never comes uses no processor time.
_WAITING = 10

_SHARED_BYTES = 4096
_REPEAT_SECONDS = 0.5
_LOST_SECONDS = 0.01
_PR_SET_PDEATHSIG = 1
_FAILED = 1

# What the child reads; None outside of a child, where nothing is limited.
_reading_now: mmap.mmap | None = None
# The signal that asked the child to stop.
_stopped_by: int | None = None


class Stopped(BaseException):
    """The command was asked to stop, by Ctrl-C or another signal.

    Not a KeyboardInterrupt, of which click would make something of its own.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_in_child(
    work: Callable[[], int],
    *,
    stopped: Callable[[BaseException], int],
    complain: Callable[[str], None],
) -> int:
    """Do the work in a child process; return the exit code, in the parent and in the child.

    Parameters
    ----------
    work : callable
        Returns the exit code.
    stopped : callable
        Says that the work was stopped, and returns the exit code.
    complain : callable
        Prints one sentence, if the child did not end by itself.
    """
    if not hasattr(os, "fork"):
        return work()
    page = mmap.mmap(-1, _SHARED_BYTES)
    parent = os.getpid()
    caught = {
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        # Shells start background jobs with Ctrl-C ignored, nohup with SIGHUP ignored.
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    # Until both processes know what to do with them, signals wait.
    signal.pthread_sigmask(signal.SIG_BLOCK, caught)
    child = os.fork()
    if child == 0:
        try:
            _prepare_child(page, parent, caught=caught)
            return work()
        except (KeyboardInterrupt, Stopped) as error:
            return stopped(error)
        finally:
            _ignore(caught)
    for number in caught:
        signal.signal(number, _forwarder(child))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, caught)
    _, status = os.waitpid(child, 0)
    _ignore(caught)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    ended_by = os.WTERMSIG(status)
    name = page[:].rstrip(b"\0").decode("utf-8", "replace")
    complain(_how_it_ended(ended_by, name))
    return 128 + ended_by if ended_by in (*caught, signal.SIGKILL) else _FAILED


def stopped_by() -> int | None:
    """Return the signal that asked this command to stop, if one did.

    Compiled modules that are being imported turn `Stopped` into errors of their own.
    """
    return _stopped_by


def memory_allowance(path: Path) -> int:
    """Return how many bytes of memory reading a file may take."""
    return _MEMORY + _MEMORY_PER_BYTE * _size_of(path)


@contextmanager
def reading(path: Path, *, mute: bool = False) -> Iterator[None]:
    """Read a file from outside, with bounds on memory and time if this is the child.

    Parameters
    ----------
    path : Path
        The file, or a directory of files.
    mute : bool
        Whether what compiled code prints on stderr, such as the last words before an abort, is
        thrown away.
    """
    page = _reading_now
    size = _size_of(path)
    memory = memory_allowance(path)
    try:
        if page is None:
            yield
            return
        seconds = _CPU_SECONDS + size / _BYTES_PER_CPU_SECOND
        name = path.name.encode("utf-8", "replace")[: _SHARED_BYTES - 1]
        page[: len(name)] = name
        # Both signals end a process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * _WAITING)
        try:
            with _memory_limit(memory), _muted(mute):
                yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            page[:] = bytes(_SHARED_BYTES)
    except MemoryError as error:
        raise ValueError(
            f"{path.name!r} needs more than {memory / 2**30:.1f} GiB of memory to be read, too "
            "much for its size. Save it again, a table in smaller parts."
        ) from error


def _prepare_child(page: mmap.mmap, parent: int, *, caught: set[signal.Signals]) -> None:
    """Make this process the one that works."""
    import resource

    global _reading_now  # one process, one page
    _reading_now = page
    stopper = _Stopper()
    sys.unraisablehook = stopper.ask_again
    for number in caught:
        signal.signal(number, stopper)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, caught)
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        _end_with_parent(parent)
        # What the machine does not have is an error here, and not the end of other processes.
        memory = _kernel_bytes("/proc/meminfo", "MemTotal:", "SwapTotal:")
        _lower_data_limit(memory)


def _end_with_parent(parent: int) -> None:
    """Stop when the parent is killed: nobody is left to be told how this ends."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise Stopped(signal.SIGTERM)


class _Stopper:
    """A handler that stops the work; what is half written is thrown away on the way out."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        global _stopped_by
        now = time.monotonic()
        before = self._last.get(number, -_REPEAT_SECONDS)
        self._last[number] = now
        # A terminal sends Ctrl-C to both processes, and the parent passes it on.
        if now - before < _REPEAT_SECONDS:
            return
        _stopped_by = number
        raise Stopped(number)

    def ask_again(self, lost: sys.UnraisableHookArgs) -> None:
        """Stop a little later where Python would print `Stopped` and go on.

        It does so in destructors and in callbacks of weak references, which imports have many of.
        """
        if not isinstance(lost.exc_value, Stopped):
            sys.__unraisablehook__(lost)
            return
        self._last.clear()
        # From another thread: sent from here, the signal might be heard before the callback ends.
        later = threading.Timer(_LOST_SECONDS, os.kill, [os.getpid(), lost.exc_value.number])
        later.daemon = True
        later.start()


def _ignore(numbers: set[signal.Signals]) -> None:
    """Hear no signals any more: the work is done, and the interpreter takes a moment to end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def _forwarder(child: int) -> Callable[[int, FrameType | None], None]:
    def forward(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    return forward


def _how_it_ended(number: int, name: str) -> str:
    signal_name = signal.Signals(number).name
    if number in (signal.SIGPROF, signal.SIGALRM):
        return f"{name!r} cannot be read: the reader does not come to an end. Save it again."
    if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        return f"ended by {signal_name}; every file is either complete or unchanged."
    if number == signal.SIGKILL:
        return (
            "killed (SIGKILL), by somebody or for lack of memory; every file is either complete "
            "or unchanged."
        )
    if name:
        return f"{name!r} cannot be read: it makes the reader crash ({signal_name}). Save it again."
    return f"crashed ({signal_name}); every file is either complete or unchanged. Please report it."


def _size_of(path: Path) -> int:
    if not path.is_dir():
        return path.stat().st_size
    return sum(part.stat().st_size for part in path.rglob("*") if part.is_file())


@contextmanager
def _memory_limit(extra: int) -> Iterator[None]:
    """Let the process have so many bytes more; only Linux counts what is really asked for."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    _lower_data_limit(_kernel_bytes("/proc/self/status", "VmData:") + extra)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _lower_data_limit(limit: int) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    given = [limit, *(value for value in (soft, hard) if value != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(given), hard))


def _kernel_bytes(table: str, *names: str) -> int:
    """Return the sum of some entries of a table of the kernel, which counts in kilobytes."""
    lines = Path(table).read_text(encoding="ascii", errors="replace").splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(names))


@contextmanager
def _muted(wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
