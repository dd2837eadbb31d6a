"""The declaration of commands: each has a parser of its own, with the flags that all of them share."""

import argparse
from collections.abc import Callable
from typing import TypeAlias

from netautod.assembly.configuration import Configuration

Run = Callable[[argparse.Namespace, Configuration], int]
Inner: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The commands behind one that may also stand alone, such as `netautod plugins`."""
# In the order of `netautod --help`, with the modules that add them. Only the one of the command that is asked
# for is loaded: together they take 50 MB, which the process that watches the service would keep.
COMMANDS = {
    "serve": "serve",
    "help": "manual",
    "check-config": "check_config",
    "doctor": "doctor",
    "plugins": "plugins.listing",
    "platform": "plugins.platforms",
    "openapi": "openapi",
    "import": "data.import_devices",
    "import-configs": "data.import_configs",
    "export-configs": "data.export_configs",
    "backup": "data.backup",
    "restore": "data.restore",
    "rotate-keys": "data.keys",
    "secret": "data.secrets",
    "vault": "data.vault",
    "sync": "data.sync",
    "user": "people.users",
    "org": "people.organizations",
    "audit": "data.audit",
    "agent": "agents",
}
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
        """Return the parser of a new command; `run` returns the exit code."""
        made = self._found.add_parser(name, parents=[settings_flags()], help=help, description=help)
        made.set_defaults(run=run)
        return made

    def add_without_settings(
        self, name: str, run: Callable[[argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        """Return the parser of a new command that needs no settings and no installation."""
        made = self._found.add_parser(name, help=help, description=help)
        made.set_defaults(without_settings=run)
        return made

    def group(self, name: str, help: str) -> "Commands":
        return Commands(self._found.add_parser(name, help=help))


def add_inner(inner: Inner, name: str, run: Run, help: str) -> argparse.ArgumentParser:
    """Return a parser as `Commands.add` does; the shared flags may stand before or behind the name."""
    flags = settings_flags(default=argparse.SUPPRESS)
    made = inner.add_parser(name, parents=[flags], help=help, description=help)
    made.set_defaults(run=run)
    return made


def settings_flags(default: str | None = None) -> argparse.ArgumentParser:
    """Return the flags of every command, which say where the settings are."""
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=default)
    common.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    common.add_argument("--data-dir", metavar="DIR", help="folder of everything the service keeps")
    common.add_argument("--mongodb-uri", metavar="URI", help="use this MongoDB instead of the service's own")
    return common
