"""The strict reader of a platform's TOML file: every key has a type, an unknown key is an error."""

import re
import tomllib
from importlib.resources.abc import Traversable

from netautod.core.errors import InvalidInput


class TomlTable:
    """A table of the file; each reader checks its key and remembers that the key is known."""

    def __init__(self, values: dict[str, object], *, where: str) -> None:
        self._values = values
        self._where = where
        self._read_keys: set[str] = set()

    def wrong(self, problem: str) -> InvalidInput:
        """Return the error for this table, ready to raise."""
        return InvalidInput(f"{self._where}: {problem}")

    def has(self, key: str) -> bool:
        """Return whether the key is present."""
        return key in self._values

    def names(self) -> tuple[str, ...]:
        """Return all keys, in the order of the file."""
        return tuple(self._values)

    def text(self, key: str) -> str:
        """Return a string that must be present."""
        value = self.optional_text(key)
        if value is None:
            raise self.wrong(f"{key} is missing")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a string that is not empty, or None."""
        value = self._take(key)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.wrong(f"{key} must be a string that is not empty")
        return value

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """Return an array of strings; an absent one is empty, unless it is required."""
        value = self._take(key)
        if value is None and not required:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(f"{key} must be an array of strings")
        if required and not value:
            raise self.wrong(f"{key} must not be empty")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return a boolean, false when absent."""
        value = self._take(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false")
        return value is True

    def number(self, key: str, *, default: int) -> int:
        """Return a whole number from 1."""
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(f"{key} must be a whole number from 1")
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words."""
        value = self.text(key)
        if value not in allowed:
            raise self.wrong(f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def pattern(self, key: str, *, groups: tuple[str, ...] = ()) -> re.Pattern[str]:
        """Return a regular expression that must be present and have these named groups."""
        return self._compile(key, self.text(key), groups)

    def optional_pattern(self, key: str) -> re.Pattern[str] | None:
        """Return a regular expression, or None."""
        value = self.optional_text(key)
        return None if value is None else self._compile(key, value, ())

    def patterns(self, key: str, *, groups: tuple[str, ...] = ()) -> tuple[re.Pattern[str], ...]:
        """Return an array of regular expressions, each with these named groups; an absent one is empty."""
        return tuple(self._compile(key, value, groups) for value in self.texts(key))

    def line_patterns(self, key: str) -> tuple[re.Pattern[str], ...]:
        """Return regular expressions for a whole text: in it `^` and `$` are the ends of each line."""
        return tuple(self._compile(key, value, (), re.MULTILINE) for value in self.texts(key))

    def table(self, key: str) -> "TomlTable":
        """Return a table below this one; an absent one is empty."""
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(f"{key} must be a table")
        return TomlTable(value or {}, where=f"{self._where} [{key}]")

    def tables(self, key: str, *, required: bool = True) -> tuple["TomlTable", ...]:
        """Return an array of tables; one that is required must not be empty."""
        value = self._take(key)
        if value is None and not required:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(f"{key} must be an array of tables")
        if required and not value:
            raise self.wrong(f"{key} must not be empty")
        return tuple(TomlTable(item, where=f"{self._where} [{key} {n}]") for n, item in enumerate(value, 1))

    def refuse_unknown(self) -> None:
        """Raise InvalidInput for a key that no reader requested: a typo would be ignored otherwise."""
        unknown = [key for key in self._values if key not in self._read_keys]
        if unknown:
            raise self.wrong(f"unknown key {unknown[0]!r}")

    def _take(self, key: str) -> object:
        self._read_keys.add(key)
        return self._values.get(key)

    def _compile(
        self, key: str, value: str, groups: tuple[str, ...], flags: re.RegexFlag = re.NOFLAG
    ) -> re.Pattern[str]:
        try:
            pattern = re.compile(value, flags)
        except re.error as exc:
            raise self.wrong(f"{key} is not a regular expression: {exc} in {value!r}") from exc
        for group in groups:
            if group not in pattern.groupindex:
                raise self.wrong(f"{key} needs the group (?P<{group}>...)")
        return pattern


def read(path: Traversable) -> TomlTable:
    """Return the top table of the file at `path`. InvalidInput for one that is absent or not TOML."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise InvalidInput(f"platform file {path.name}: {exc.strerror or exc}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"platform file {path.name}: {exc}") from exc
    return TomlTable(values, where=path.name)
