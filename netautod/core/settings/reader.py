"""Reads sections of settings from file < environment < flags, and checks each value and each section."""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from netautod.core.settings.field import Checked, SettingsError
from netautod.core.settings.table import ENVIRONMENT_PREFIX, Setting, rows_of, variable_of, variable_prefix

S = TypeVar("S")


class Reader:
    """What a file, the environment and flags (`section.name` -> value) say, read section by section.

    A section is read when its declaration is known; after the last one, `refuse_unknown` and
    `warn_of_variables` look at what no section has asked for. What is wrong is a SettingsError of one line
    that names the key. `renamed`: the keys of today by older ones, which are taken in their place;
    `warn_of_old_names` says so.
    """

    def __init__(
        self,
        *,
        file: Path | None,
        environment: Mapping[str, str],
        flags: Mapping[str, Any],
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self.file = file
        self._document = {} if file is None else _document(file)
        self._environment = {
            name: text for name, text in sorted(environment.items()) if name.startswith(ENVIRONMENT_PREFIX)
        }
        self._flags = flags
        self._keys: set[str] = set()  # of the file's top level that somebody has read
        self._variables: set[str] = set()
        self._secrets: list[str] = []  # keys of secrets that stand in the file itself
        self._old_names: list[str] = []
        for old, new in (renamed or {}).items():
            self._rename_in_file(old.split("."), new.split("."))
            self._rename_variable(variable_of(old), variable_of(new))

    def section(self, name: str, declared: type[S]) -> S:
        """The section `[name]`, its check passed."""
        content = self._document.get(name, {})
        self._keys.add(name)
        if not isinstance(content, dict):
            raise SettingsError(f"{self.file}: {name} must be a section ([{name}])")
        rows = {row.name: row for row in rows_of(name, declared)}
        for key in content:
            if key not in rows:
                raise SettingsError(f"{self.file}: unknown setting {name}.{key}")
        made = declared(**self._values(rows.values(), content))
        if isinstance(made, Checked):
            made.check()
        return made

    def top_level(self, declared: type[Any]) -> dict[str, Any]:
        """The settings without a section that `declared` has, by name, those that are set."""
        rows = {row.name: row for row in rows_of("", declared)}
        self._keys.update(rows)
        return self._values(rows.values(), self._document)

    def refuse_unknown(self, *, without: Collection[str] = ()) -> None:
        """Raises SettingsError for what nobody has read; sections named in `without` may stand there."""
        for name in self._document:
            if name not in self._keys and name not in without:
                raise SettingsError(f"{self.file}: unknown setting {name}")

    @property
    def secrets_in_file(self) -> tuple[str, ...]:
        """The keys of the secrets that the file holds, of those that were read."""
        return tuple(self._secrets)

    def has(self, name: str) -> bool:
        """Whether the file has this section."""
        return name in self._document

    def warn_of_variables(self, warn: Callable[[str], None], *, without: Collection[str] = ()) -> None:
        """Names each variable that nobody has read, except those of the sections in `without`."""
        known = tuple(variable_prefix(section) for section in without)
        for name in self._environment:
            if name not in self._variables and not name.startswith(known):
                warn(f"unknown environment variable {name} is ignored")

    def warn_of_old_names(self, warn: Callable[[str], None]) -> None:
        for text in self._old_names:
            warn(text)

    def _rename_in_file(self, old: Sequence[str], new: Sequence[str]) -> None:
        """Both are a section and a name. If both are set, the name of today counts."""
        content = self._document.get(old[0])
        if not isinstance(content, dict) or old[1] not in content:
            return
        value = content.pop(old[1])
        target = self._document.setdefault(new[0], {})
        if isinstance(target, dict):
            target.setdefault(new[1], value)
        self._old_names.append(f"{self.file}: {'.'.join(old)} is called {'.'.join(new)} now")

    def _rename_variable(self, old: str, new: str) -> None:
        if old in self._environment:
            self._environment.setdefault(new, self._environment.pop(old))
            self._old_names.append(f"the environment variable {old} is called {new} now")

    def _values(self, rows: Collection[Setting], content: Mapping[str, Any]) -> dict[str, Any]:
        """What is set, by name; a later source counts, and what an earlier one says must be right, too."""
        return {row.name: value for row in rows for value in self._said(row, content)}

    def _said(self, row: Setting, content: Mapping[str, Any]) -> Iterator[Any]:
        if row.name in content:
            if row.secret and content[row.name]:
                self._secrets.append(row.key)
            yield _checked(row, content[row.name], f"{self.file}: {row.key}")
        self._variables.add(row.variable)
        if row.variable in self._environment:
            yield _checked(row, _parsed(row, self._environment[row.variable]), row.variable)
        if row.key in self._flags:
            yield _checked(row, self._flags[row.key], f"flag for {row.key}")


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error


def _parsed(row: Setting, text: str) -> Any:
    """A variable's text as the TOML value it stands for; a wrong one stays text and is refused later."""
    if row.is_list:
        return [part.strip() for part in text.split(",") if part.strip()]
    if row.type is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text)
    if row.type in (int, float):
        try:
            return row.type(text)
        except ValueError:
            return text
    return text


def _checked(row: Setting, value: Any, where: str) -> Any:
    """The value in the setting's type. Raises SettingsError, which begins with `where`."""
    if row.is_list:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise SettingsError(f"{where} must be a list of texts")
        return tuple(value)
    if row.type is Path:
        if not isinstance(value, str | Path) or not str(value):
            raise SettingsError(f"{where} must be a path")
        return Path(value).expanduser().absolute()
    if row.type is float and type(value) is int:
        value = float(value)
    if type(value) is not row.type:
        wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[row.type]
        raise SettingsError(f"{where} must be {wanted}")
    if row.low is not None and not value >= row.low:
        raise SettingsError(f"{where} must be at least {row.low:g}")
    if row.high is not None and not value <= row.high:
        raise SettingsError(f"{where} must be at most {row.high:g}")
    return value
