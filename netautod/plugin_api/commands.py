"""The contract of commands that plugins register, and what these are given."""

import argparse
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from netautod.plugin_api.acting import UserServices


class CommandContext(Protocol):
    """The context of a command."""

    @property
    def arguments(self) -> argparse.Namespace:
        """Return what was given behind the name of the command, as its parser has read it."""
        ...

    def say(self, text: str = "") -> None:
        """Print one line, in which nothing can act on the terminal."""
        ...

    def complain(self, text: str) -> None:
        """Print it to where errors go."""
        ...

    def acting(self, organization: str | None = None) -> AbstractAsyncContextManager[UserServices]:
        """Open the services of the product on the configured database, with every right in the organization.

        Without its name there must be only one. Raises NotFound or InvalidInput.
        """
        ...


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: for a command that takes none."""


@dataclass(frozen=True, kw_only=True)
class PluginCommand:
    """A command `netautod NAME`: `name` begins with a letter and holds `a-z 0-9 -`, `help` is its line of the
    help.

    `add_arguments` adds what it takes beside the flags that every command has. `run` returns the exit code: 0
    or None done, 1 failed. What it raises becomes one line: exit code 2 for InvalidInput, 1 for all else.
    """

    name: str
    help: str
    run: Callable[[CommandContext], Awaitable[int | None]]
    add_arguments: Callable[[argparse.ArgumentParser], None] = no_arguments
