"""`python -m netautod` is the command `netautod`."""

import sys

from netautod.cli.entry import main

sys.exit(main())
