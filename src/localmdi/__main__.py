"""``python -m localmdi`` is the command ``localmdi``."""

import sys

from localmdi.cli import program

sys.exit(program())
