"""How a row of the table of settings is declared, and the error of a wrong one."""

from dataclasses import field
from typing import TypeVar

from netautod.core.errors import NetautodError

T = TypeVar("T")


class SettingsError(NetautodError):
    """A settings file, variable or flag is wrong; the command ends with exit code 2."""


def setting(
    default: T, help: str, *, low: float | None = None, high: float | None = None, secret: bool = False
) -> T:
    """One row of the table; `low` and `high` bound a number, both included; a secret is not in the repr."""
    metadata = {"help": help, "low": low, "high": high}
    made: T = field(default=default, metadata=metadata, repr=not secret)
    return made
