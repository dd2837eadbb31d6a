"""The sections of settings that plugins declare, each under the name of its plugin."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from netautod.core.settings.field import SettingsError
from netautod.core.settings.table import Setting, check_declaration, rows_of

NAME = re.compile(r"[A-Za-z0-9_-]+")  # what TOML allows without quotes, and a variable can be made of


class DeclaredSections(Mapping[str, type[Any]]):
    """The declaring classes by the name of the section; `core` are the settings of the service itself."""

    def __init__(self, core: Iterable[Setting]) -> None:
        rows = list(core)
        self._declared: dict[str, type[Any]] = {}
        self._core = {row.section or row.name for row in rows}
        self._keys_by_variable = {row.variable: row.key for row in rows}

    def add(self, name: str, declared: Any) -> None:
        """Add a section. Raises SettingsError for what is taken, TypeError for a class that declares no
        section.
        """
        self.check_name(name)
        if name in self._declared:
            raise SettingsError(f"the section [{name}] is declared twice")
        check_declaration(declared)
        variables = {row.variable: row.key for row in rows_of(name, declared)}
        for variable in variables:
            if variable in self._keys_by_variable:
                raise SettingsError(f"{variable} is the variable of {self._keys_by_variable[variable]}")
        self._keys_by_variable |= variables
        self._declared[name] = declared

    def check_name(self, name: str) -> None:
        """Raise SettingsError for what no plugin's section can be called."""
        if name in self._core:
            raise SettingsError(f"[{name}] is a setting of the service itself")
        if not NAME.fullmatch(name):
            raise SettingsError(f"a section cannot be named {name!r}")

    def __getitem__(self, name: str) -> type[Any]:
        return self._declared[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)
