"""``python -m benchmarks [workload ...]``: print every line of the speed table that exists."""

from __future__ import annotations

import sys

from benchmarks import explain, grow, growth, infinite
from benchmarks.timing import header

print(header(), flush=True)
explain.main(sys.argv[1:])
if not sys.argv[1:]:
    growth.main()
    grow.main()
    infinite.main()
