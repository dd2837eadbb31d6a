"""The command line of a switch for one terminal: asks for name and password, pages, shows its window."""

import getpass
import os
import sys
from pathlib import Path


def main(user: str, password: str, config: Path) -> None:
    _say("\nAuthorized access only\n")
    for _ in range(3):
        name = input("Username: ")
        if getpass.getpass("Password: ") == password and name == user:
            return _serve(config.read_text())
        _say("% Login invalid\n")
    return None


def _serve(config: str) -> None:
    paged = True
    while True:
        command = input("sw1#").strip()
        if command == "exit":
            return
        if command == "terminal length 0":
            paged = False
        elif command == "show running-config":
            _show(config, paged=paged)
        elif command == "show terminal":
            size = os.get_terminal_size()
            _say(f"Length: {size.lines} lines, Width: {size.columns} columns, Type: {os.environ['TERM']}")
        elif command and not command.startswith("terminal "):
            _say("% Invalid input detected")


def _show(config: str, *, paged: bool) -> None:
    for number, line in enumerate(config.splitlines(), 1):
        _say(line)
        if paged and number % 20 == 0:
            input(" --More-- ")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
