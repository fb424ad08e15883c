"""The workloads of ``benchmarks`` for asv, which follows their times from commit to commit.

``make bench`` compares us with others in one run; asv compares us with our own past.

    pip install asv virtualenv && asv machine --yes
    asv run --config benchmarks/asv.conf.json HEAD~5..HEAD
    asv continuous --config benchmarks/asv.conf.json main HEAD
    asv publish --config benchmarks/asv.conf.json && asv preview --config benchmarks/asv.conf.json
"""

import sys
from pathlib import Path

# asv imports this folder as a top-level package and puts only its parent on the path, where
# `benchmarks` itself cannot be found.
sys.path.append(str(Path(__file__).parents[2]))
