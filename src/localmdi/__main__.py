"""``python -m localmdi`` is the command ``localmdi``."""

import sys

from localmdi.cli import main

sys.exit(main())
