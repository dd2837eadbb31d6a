"""How commands are declared: each has a parser of its own, with the flags that all of them share."""

import argparse
from collections.abc import Callable
from typing import TypeAlias

from netautod.app.configuration import Configuration

Run = Callable[[argparse.Namespace, Configuration], int]
Inner: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The commands behind one that may also stand alone, such as `netautod plugins`."""
# The flags that set a setting, and which one.
SETTINGS_FLAGS = {
    "data_dir": "data_dir",
    "mongodb_uri": "mongodb.uri",
    "host": "server.host",
    "port": "server.port",
}


class Commands:
    """The commands of `netautod`, or those of one of its groups (`netautod user ...`)."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._found = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(self, name: str, run: Run, help: str) -> argparse.ArgumentParser:
        """The parser of a new command; `run` returns the exit code."""
        made = self._found.add_parser(name, parents=[_common()], help=help, description=help)
        made.set_defaults(run=run)
        return made

    def group(self, name: str, help: str) -> "Commands":
        return Commands(self._found.add_parser(name, help=help))


def add_inner(inner: Inner, name: str, run: Run, help: str) -> argparse.ArgumentParser:
    """As `Commands.add`; the shared flags may stand before or behind the name."""
    made = inner.add_parser(name, parents=[_common(default=argparse.SUPPRESS)], help=help, description=help)
    made.set_defaults(run=run)
    return made


def _common(default: str | None = None) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, argument_default=default)
    common.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    common.add_argument("--data-dir", metavar="DIR", help="folder of everything the service keeps")
    common.add_argument("--mongodb-uri", metavar="URI", help="use this MongoDB instead of an own one")
    return common
