"""Cases in child processes with limits on memory and time; every way to fail is counted.

A child reads case after case and tells how each ended. When it dies or hangs, the case it was at
has failed, and another child goes on with the next one; so starting processes costs nothing.
"""

from __future__ import annotations

import faulthandler
import math
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from localmdi.io import child_process as barrier

MEMORY = 1 << 30
SECONDS = 20
CHILD_CASES = 500
LEAK = 64 << 20
READ, REFUSED, STOPPED = "read", "refused", "stopped at the barrier"


@dataclass
class Outcome:
    """How the cases of one reader ended."""

    reader: str
    counts: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self):
        return sum(self.counts.values())

    def line(self):
        """One row of the table."""
        ended = (self.counts[how] for how in (READ, REFUSED, STOPPED, "failed"))
        return f"| {self.reader} | {self.cases:,} | " + " | ".join(f"{n:,}" for n in ended) + " |"


HEADING = (
    "| reader | cases | read | refused in our words | stopped at the barrier | failed |\n"
    "|---|---|---|---|---|---|"
)


def run(target, *, cases, seed=0, seconds=None):
    """Read so many damaged files, or as many as the seconds allow."""
    outcome = Outcome(target.name)
    # The sound files are made once, and by programs that need more memory than a reader may take.
    target.draw(np.random.default_rng(seed))
    start = time.monotonic()
    end = math.inf if seconds is None else start + seconds
    with tempfile.TemporaryDirectory() as folder:
        done = 0
        while done < cases and time.monotonic() < end:
            numbers = range(done, min(cases, done + CHILD_CASES))
            done = _run_child(target, numbers, seed=seed, folder=folder, end=end, into=outcome)
    outcome.seconds = time.monotonic() - start
    return outcome


def _run_child(target, numbers, *, seed, folder, end, into):
    """Run cases until the child ends; return the number of the next case."""
    out, back = os.pipe()
    page = barrier.mmap.mmap(-1, barrier._SHARED_BYTES)
    child = os.fork()
    if child == 0:
        os.close(out)
        _work(target, numbers, seed=seed, folder=Path(folder), end=end, back=back, page=page)
    os.close(back)
    done, complaint = numbers.start, ""
    with os.fdopen(out, "rb") as told:
        while True:
            ready, _, _ = select.select([told], [], [], SECONDS * 3)
            line = told.readline().decode("utf-8", "replace") if ready else None
            if not line:
                break
            how, _, complaint = line.rstrip("\n").partition("\t")
            if how == "leak":
                into.failures.append(f"{target.name}: {complaint}")
                into.counts["failed"] += 1
                continue
            _count(into, how, f"case {done}: {complaint}")
            done += 1
        if line is None:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and not os.WEXITSTATUS(status):
        return done
    name = "hang" if line is None else f"{signal.Signals(os.WTERMSIG(status)).name}"
    _count(into, STOPPED if page[0] and line is not None else name, f"case {done}: {name}")
    return done + 1


def _count(outcome, how, what):
    if how in (READ, REFUSED, STOPPED):
        outcome.counts[how] += 1
    else:
        outcome.counts["failed"] += 1
        outcome.failures.append(f"{outcome.reader}: {what}")


def _work(target, numbers, *, seed, folder, end, back, page):
    """Read case after case; never return."""
    limit_child(page)
    before = None
    for number in numbers:
        if time.monotonic() > end:
            break
        how = _read_case(target, np.random.default_rng([seed, number]), folder)
        os.write(back, (how + "\n").encode("utf-8", "replace"))
        if number == numbers.start + 100:
            before = memory()
    if before is not None and memory() - before > LEAK:
        os.write(
            back, f"leak\t{memory() - before} bytes more after {len(numbers)} cases\n".encode()
        )
    os._exit(0)


def limit_child(page):
    """Give this process little memory and time, and mute its last words."""
    import resource

    faulthandler.disable()  # pytest's
    barrier._reading_now = page
    barrier._MEMORY, barrier._CPU_SECONDS, barrier._WAITING = MEMORY, SECONDS / 2, 2
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (4 * MEMORY, 4 * MEMORY))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    # pytest's own streams keep what is written, which would look like a leak.
    sys.stdout = sys.stderr = os.fdopen(quiet, "w", encoding="utf-8")


def _read_case(target, random, folder):
    name, content = target.draw(random)
    path = folder / name
    path.write_bytes(content)
    start = time.process_time()
    try:
        target.read(path)
    except target.refusals as error:
        if type(error) not in target.refusals and not isinstance(error, target.ours):
            return f"exception\t{type(error).__name__}: {str(error)[:200]!r}"
        how = REFUSED
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"exception\t{type(error).__name__} in {place.name}: {str(error)[:200]!r}"
    else:
        how = READ
    finally:
        path.unlink(missing_ok=True)
    if time.process_time() - start > SECONDS:
        return f"hang\t{SECONDS} s"
    return how


def memory():
    """The bytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
