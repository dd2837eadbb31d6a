"""The rows of a section of settings: key, type, default, help, bounds and the name of the variable."""

import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

ENVIRONMENT_PREFIX = "NETAUTOD_"
PLAIN_TYPES = (bool, int, float, str, Path)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting. `section` is empty for those without one."""

    section: str
    name: str
    type: Any
    default: Any
    help: str
    low: float | None
    high: float | None
    secret: bool
    key_file: bool

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def variable(self) -> str:
        return variable_of(self.key)

    @property
    def is_list(self) -> bool:
        return typing.get_origin(self.type) is tuple


def variable_prefix(section: str) -> str:
    """Return what the variables of a section begin with: `NETAUTOD_SERVER_`."""
    return ENVIRONMENT_PREFIX + (section.replace("-", "_").upper() + "_" if section else "")


def variable_of(key: str) -> str:
    """Return `NETAUTOD_SERVER_PORT` for `server.port`."""
    section, _, name = key.rpartition(".")
    return variable_prefix(section) + name.upper()


def rows_of(section: str, declared: type[Any]) -> Iterator[Setting]:
    """Yield the settings that a class declares, in their order. Fields without a help text are not
    settings."""
    hints = typing.get_type_hints(declared)
    for entry in fields(declared):
        if "help" in entry.metadata:
            factory = entry.default_factory
            yield Setting(
                section=section,
                name=entry.name,
                type=hints[entry.name],
                default=entry.default if factory is MISSING else factory(),
                help=entry.metadata["help"],
                low=entry.metadata.get("low"),
                high=entry.metadata.get("high"),
                secret=entry.metadata.get("secret", False),
                key_file=entry.metadata.get("key_file", False),
            )


def check_declaration(declared: Any) -> None:
    """Raise TypeError for anything but a frozen dataclass of fields that `setting` declared."""
    if not isinstance(declared, type) or not is_dataclass(declared):
        raise TypeError(f"a section is declared by a frozen dataclass, not by {declared!r}")
    if not getattr(declared, "__dataclass_params__").frozen:  # noqa: B009  # unknown to the type checker
        raise TypeError(f"{declared.__name__} is not frozen")
    hints = typing.get_type_hints(declared)
    for entry in fields(declared):
        if "help" not in entry.metadata:
            raise TypeError(f"{declared.__name__}.{entry.name} is not made by setting(...)")
        kind = hints[entry.name]
        if kind not in PLAIN_TYPES and kind != tuple[str, ...]:
            raise TypeError(f"{declared.__name__}.{entry.name}: a setting cannot be of type {kind}")
