"""``python -m benchmarks [NAME ...]``: print the lines of the speed table, all or some of them."""

from __future__ import annotations

import argparse

from benchmarks import cliffs, cluster, explain, grow, growth, infinite, kinds, libraries, peers
from benchmarks.timing import header
from benchmarks.workloads import WORKLOADS

EXPLAINED = [workload.name for workload in WORKLOADS]
PARTS = {
    "kinds": kinds.main,
    "growth": growth.main,
    "grow": grow.main,
    "infinite": infinite.main,
    "libraries": libraries.main,
    "peers": peers.main,
    "cliffs": cliffs.main,
    "cluster": lambda: cluster.main(options.rows),
}

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*EXPLAINED, *PARTS]))
parser.add_argument("--rows", type=int, default=5_000_000, help="rows of cluster")
options = parser.parse_args()
names = options.names
if unknown := set(names) - {*EXPLAINED, *PARTS}:
    parser.error(f"unknown: {', '.join(sorted(unknown))}; choose {', '.join([*EXPLAINED, *PARTS])}")
print(header(), flush=True)
if not names or set(names) & {*EXPLAINED}:
    explain.main([name for name in names if name in EXPLAINED])
for name, run in PARTS.items():
    if not names or name in names:
        run()
