"""`python -m netautod` is the command `netautod`."""

import sys

from netautod.cli import main

sys.exit(main())
