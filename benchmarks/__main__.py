"""``python -m benchmarks [NAME ...]``: print the lines of the speed table, all or some of them."""

from __future__ import annotations

import sys

from benchmarks import explain, grow, growth, infinite, kinds, libraries
from benchmarks.timing import header
from benchmarks.workloads import WORKLOADS

EXPLAINED = [workload.name for workload in WORKLOADS]
PARTS = {
    "kinds": kinds.main,
    "growth": growth.main,
    "grow": grow.main,
    "infinite": infinite.main,
    "libraries": libraries.main,
}

names = sys.argv[1:]
if unknown := set(names) - {*EXPLAINED, *PARTS}:
    sys.exit(f"unknown: {', '.join(sorted(unknown))}; choose {', '.join([*EXPLAINED, *PARTS])}")
print(header(), flush=True)
if not names or set(names) & {*EXPLAINED}:
    explain.main([name for name in names if name in EXPLAINED])
for name, run in PARTS.items():
    if not names or name in names:
        run()
