"""The output of commands: names out of the database reach the terminal here, and none of them can
act on it.
"""

import sys

from netautod.core.text.printable import printable


def say(text: str = "") -> None:
    """Print one line."""
    print(printable(text), flush=True)


def complain(text: str) -> None:
    """Print a line for each of the text, to where errors go."""
    for line in text.split("\n"):
        print(printable(f"netautod: {line}"), file=sys.stderr)
