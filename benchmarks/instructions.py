"""``make bench-check``: instructions of fixed workloads, beside those on record.

A busy machine blurs times but not counts: what takes 3 % more instructions than on record is a
change of the code, or of the compiler. Counts of another compiler say nothing, so they are
compared only with those of their own.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_suffix(".json")
TOLERANCE = 0.03


def main(program: str, *options: str) -> str | None:
    """Count, and compare or write; return what is wrong, if anything is."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing is counted.")
        return None
    compiler = output(program)
    on_record = json.loads(RECORD.read_text()) if RECORD.exists() else {"compiler": None}
    is_writing = "--write" in options
    if not is_writing and on_record["compiler"] != compiler:
        print(
            f"The counts on record are those of {on_record['compiler']}; this is {compiler}. "
            "Nothing is compared."
        )
        return None
    counts = {name: count(program, name) for name in output(program, "--list").split()}
    if is_writing:
        RECORD.write_text(json.dumps({"compiler": compiler, "counts": counts}, indent=2) + "\n")
        print(f"Wrote {RECORD.name}.")
        return None
    return compare(counts, on_record["counts"])


def output(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def count(program: str, workload: str) -> int:
    """Return the instructions inside the measured function of a workload."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*valgrind, "--toggle-collect=*measured_*", program, workload]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    found = re.search(r"Collected : (\d+)", report)
    if found is None:
        raise RuntimeError(f"callgrind printed no count for {workload}:\n{report}")
    return int(found[1])


def compare(counts: dict[str, int], before: dict[str, int]) -> str | None:
    """Print all counts beside those on record; return which have moved too far."""
    moved = []
    for name, now in counts.items():
        change = now / before[name] - 1 if name in before else float("inf")
        print(f"{name:>16}: {now:>12,} instructions, {change:+.1%}")
        if abs(change) > TOLERANCE:
            moved.append(name)
    if not moved:
        return None
    return (
        f"More than {TOLERANCE:.0%} off the record: {', '.join(moved)}. Find out why; if the "
        "change is meant, record it with make bench-check COUNTS=--write."
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
