"""Declarations of the fields of a settings section, and the error of a wrong one."""

import ipaddress
from collections.abc import Iterable
from dataclasses import field
from typing import Protocol, TypeVar, runtime_checkable

from netautod.core.errors import NetautodError

T = TypeVar("T")


class SettingsError(NetautodError):
    """A settings file, variable or flag is wrong; the command ends with exit code 2."""


@runtime_checkable
class Checked(Protocol):
    """A section with rules that go beyond one field."""

    def check(self) -> None:
        """Check the section once all fields are read. Raises SettingsError with one line that names the
        key."""
        ...


def setting(
    default: T,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
    key_file: bool = False,
) -> T:
    """Declare one field of a section. `low` and `high` bound a number, both included; a secret is not in the
    repr.

    The field is a bool, int, float, str, Path or tuple[str, ...]; `help` is a sentence. `key_file`: the path
    of a file with a secret in it, which others should not be able to read.
    """
    metadata = {"help": help, "low": low, "high": high, "secret": secret, "key_file": key_file}
    made: T = field(default=default, metadata=metadata, repr=not secret)
    return made


def check_networks(key: str, networks: Iterable[str]) -> None:
    """Raise SettingsError for an entry that is neither an IP address nor a network."""
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError as error:
            raise SettingsError(f"{key}: {network!r} is not an address or network") from error
