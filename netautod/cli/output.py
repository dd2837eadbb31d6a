"""The output of commands: names out of the database reach the terminal here, and none of them can
act on it.
"""

import os
import select
import sys

from netautod.core.text.printable import printable

READER_GONE = 141  # what a shell says of a command that SIGPIPE has ended


def is_reader_gone() -> bool:
    """Return whether what the standard output led to has ended, such as `head`, which has seen enough."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def drop_output() -> None:
    """Let what is written from here on lead nowhere: Python writes what it still holds at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str = "") -> None:
    """Print one line."""
    print(printable(text), flush=True)


def complain(text: str) -> None:
    """Print a line for each of the text, to where errors go."""
    for line in text.split("\n"):
        print(printable(f"netautod: {line}"), file=sys.stderr)
