"""Reads sections of settings from file < environment < flags, and checks each value and each section."""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from netautod.core.settings.field import Checked, SettingsError
from netautod.core.settings.secret_sources import (
    FILE_SUFFIX,
    VAULT_PREFIX,
    credential,
    read_secret,
    vault_name,
)
from netautod.core.settings.table import ENVIRONMENT_PREFIX, Setting, rows_of, variable_of, variable_prefix

S = TypeVar("S")
DEFAULT, FILE, ENVIRONMENT, FLAG, SECRET_FILE, CREDENTIAL, VAULT = (
    "default",
    "settings file",
    "environment",
    "flag",
    "file of its own",
    "credential",
    "vault",
)
PLAIN = (FILE, ENVIRONMENT, FLAG)
"""The sources whose text may be the name of a secret in the vault."""


@dataclass(frozen=True, kw_only=True)
class SourceValue:
    """The value that one source gives a setting. `where` begins an error, `origin` is the kind of the
    source."""

    origin: str
    where: str
    value: Any = field(repr=False)


class Reader:
    """A reader of settings from a file, the environment and flags (`section.name` -> value), section by
    section.

    A section is read when its declaration is known. After the last one, `refuse_unknown` and
    `warn_of_variables` check what no section has read. A wrong value is a SettingsError of one line that
    names the key. A secret may also stand in a file that `NAME_file` names, and in a systemd credential named
    by its key. `renamed` maps older keys to those of today, which are read in their place;
    `warn_of_old_names` reports it.
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
        self._credentials = {"CREDENTIALS_DIRECTORY": environment.get("CREDENTIALS_DIRECTORY", "")}
        self._flags = flags
        self._keys: set[str] = set()  # of the file's top level that were read
        self._variables: set[str] = set()
        self._secrets: list[str] = []  # keys of secrets that stand in the file itself
        self._secret_files: list[Path] = []
        self._origins: dict[str, str] = {}
        self._in_vault: dict[str, str] = {}
        self._old_names: list[str] = []
        for old, new in (renamed or {}).items():
            self._rename_in_file(old.split("."), new.split("."))
            self._rename_variable(variable_of(old), variable_of(new))

    def section(self, name: str, declared: type[S]) -> S:
        """Return the section `[name]`, checked unless some of its secrets are in the vault, since it is
        incomplete then.
        """
        content = self._document.get(name, {})
        self._keys.add(name)
        if not isinstance(content, dict):
            raise SettingsError(f"{self.file}: {name} must be a section ([{name}])")
        rows = {row.name: row for row in rows_of(name, declared)}
        allowed = {*rows, *_file_names(rows)}
        for key in content:
            if key not in allowed:
                raise SettingsError(f"{self.file}: unknown setting {name}.{key}")
        made = declared(**self._values(rows.values(), content))
        if isinstance(made, Checked) and not any(row.key in self._in_vault for row in rows.values()):
            made.check()
        return made

    def top_level(self, declared: type[Any]) -> dict[str, Any]:
        """Return the settings without a section that `declared` has and that are set, by name."""
        rows = {row.name: row for row in rows_of("", declared)}
        self._keys.update(rows, _file_names(rows))
        return self._values(rows.values(), self._document)

    def refuse_unknown(self, *, without: Collection[str] = ()) -> None:
        """Raise SettingsError for a setting that no section has read. Sections named in `without` may stand
        there.
        """
        for name in self._document:
            if name not in self._keys and name not in without:
                raise SettingsError(f"{self.file}: unknown setting {name}")

    @property
    def secrets_in_file(self) -> tuple[str, ...]:
        """The keys of the secrets that the file holds, of those that were read."""
        return tuple(self._secrets)

    @property
    def secret_files(self) -> tuple[Path, ...]:
        """The files of single secrets that were read."""
        return tuple(self._secret_files)

    def origin(self, key: str) -> str:
        """Return where the value of a setting comes from: one of the constants."""
        return self._origins.get(key, DEFAULT)

    @property
    def in_vault(self) -> Mapping[str, str]:
        """The secrets that are in the vault: their names there, by key."""
        return self._in_vault

    def has(self, name: str) -> bool:
        """Return whether the file has this section."""
        return name in self._document

    def warn_of_variables(self, warn: Callable[[str], None], *, without: Collection[str] = ()) -> None:
        """Warn of each variable that no section has read, except those of the sections in `without`."""
        known = tuple(variable_prefix(section) for section in without)
        for name in self._environment:
            if name not in self._variables and not name.startswith(known):
                warn(f"unknown environment variable {name} is ignored")

    def warn_of_old_names(self, warn: Callable[[str], None]) -> None:
        for text in self._old_names:
            warn(text)

    def _rename_in_file(self, old: Sequence[str], new: Sequence[str]) -> None:
        """Move a value from its old key to the new one; both are a section and a name. If both are set, the
        new key counts.
        """
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
        """Return the values that are set, by name. A later source wins; an earlier one must be right, too."""
        own = {row.name for row in rows}
        found = {}
        for row in rows:
            for given in self._sources(row, content, f"{row.name}{FILE_SUFFIX}" not in own):
                name = vault_name(given.value) if row.secret and given.origin in PLAIN else None
                value = given.value if name is None or not row.is_list else [f"{VAULT_PREFIX}{name}"]
                found[row.name] = _checked(row, value, given.where)
                self._note(row, given, name)
        return found

    def _note(self, row: Setting, given: SourceValue, name: str | None) -> None:
        """Record where a value comes from. `name` is that of a secret in the vault."""
        self._in_vault.pop(row.key, None)
        self._origins[row.key] = given.origin if name is None else VAULT
        if name is not None:
            self._in_vault[row.key] = name
        elif row.secret and given.origin == FILE and given.value:
            self._secrets.append(row.key)

    def _sources(
        self, row: Setting, content: Mapping[str, Any], may_have_file: bool
    ) -> Iterator[SourceValue]:
        where = f"{self.file}: {row.key}"
        with_file = row.secret and may_have_file
        if row.name in content:
            yield SourceValue(origin=FILE, where=where, value=content[row.name])
        if with_file and f"{row.name}{FILE_SUFFIX}" in content:
            _refuse_both(row.name in content, where)
            yield self._in_file(row, content[f"{row.name}{FILE_SUFFIX}"], f"{where}{FILE_SUFFIX}")
        found = credential(self._credentials, row.key) if row.secret else None
        if found is not None:
            text = read_secret(found, f"the credential {row.key}")
            yield SourceValue(origin=CREDENTIAL, where=f"the credential {row.key}", value=_parsed(row, text))
        yield from self._of_environment(row, with_file)
        if row.key in self._flags:
            yield SourceValue(origin=FLAG, where=f"flag for {row.key}", value=self._flags[row.key])

    def _of_environment(self, row: Setting, with_file: bool) -> Iterator[SourceValue]:
        self._variables.add(row.variable)
        if row.variable in self._environment:
            value = _parsed(row, self._environment[row.variable])
            yield SourceValue(origin=ENVIRONMENT, where=row.variable, value=value)
        if not with_file:
            return
        variable = f"{row.variable}{FILE_SUFFIX.upper()}"
        self._variables.add(variable)
        if variable in self._environment:
            _refuse_both(row.variable in self._environment, row.variable, FILE_SUFFIX.upper())
            yield self._in_file(row, self._environment[variable], variable)

    def _in_file(self, row: Setting, path: Any, where: str) -> SourceValue:
        if not isinstance(path, str) or not path:
            raise SettingsError(f"{where} must be a path")
        file = Path(path).expanduser().absolute()
        self._secret_files.append(file)
        return SourceValue(origin=SECRET_FILE, where=where, value=_parsed(row, read_secret(file, where)))


def _file_names(rows: Mapping[str, Setting]) -> Iterator[str]:
    """Yield the names of the settings that name files with secrets."""
    return (f"{name}{FILE_SUFFIX}" for name, row in rows.items() if row.secret)


def _refuse_both(both: bool, where: str, suffix: str = FILE_SUFFIX) -> None:
    if both:
        raise SettingsError(f"{where} and {where.rpartition(': ')[2]}{suffix} are both set")


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error


def _parsed(row: Setting, text: str) -> Any:
    """Return the TOML value that a variable's text stands for; a wrong one stays text and is refused
    later."""
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
    """Return the value in the setting's type. Raises SettingsError, which begins with `where`."""
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
