"""Rows of an imported file, and the result of an import."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

MOST_ROWS = 200_000
# An error is some 100 bytes of the answer, so that this is one of about 1 MB.
MOST_ERRORS = 10_000
MOST_BYTES = 16 * 1024 * 1024
# Of one row, in characters. No row may hold the loop for long, whatever it is made of.
ROW_LIMIT = 128 * 1024
TEXT_LIMIT = 500
NAME_LIMIT = 255


class ImportRow(NamedTuple):
    """A row of an import. `number` counts the data rows from 1. `value` is not validated; `problem`: it could
    not be read.
    """

    number: int
    value: Any
    problem: str | None = None


class RowFile(Protocol):
    """A file of rows, which can be read more than once. `source` is that of its devices.

    Both readings raise InvalidInput as soon as they see that the file as a whole cannot be read.
    """

    @property
    def source(self) -> str: ...

    def scan(self) -> Iterator[int]:
        """Yield the row numbers: reads everything and keeps nothing."""

    def rows(self) -> Iterator[ImportRow]: ...


@dataclass(frozen=True, kw_only=True)
class RowError:
    row: int
    name: str
    error: str

    def to_json(self) -> dict[str, Any]:
        return {"row": self.row, "name": self.name, "error": self.error}


@dataclass(frozen=True, kw_only=True)
class RowWarning:
    """A warning about something that is imported as it is; `row` is the first one that it is about."""

    row: int
    name: str
    warning: str

    def to_json(self) -> dict[str, Any]:
        return {"row": self.row, "name": self.name, "warning": self.warning}


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """The counts are exact. `errors` are those of the first rows that failed, in the order of the file.

    With more than MOST_ERRORS of them the last one says so, in the place of the first that is left out.
    `warnings` are there for a dry run only.
    """

    imported: int
    failed: int
    errors: Sequence[RowError]
    warnings: Sequence[RowWarning] = ()


class ImportTally:
    """A tally that counts the rows of one import, and keeps the first errors."""

    def __init__(self) -> None:
        self.imported = 0
        self.failed = 0
        self._errors: list[RowError] = []

    def add_failed(self, row: int, name: str, error: str) -> None:
        self.failed += 1
        if len(self._errors) <= MOST_ERRORS:  # one more error than is shown becomes the closing entry
            self._errors.append(RowError(row=row, name=name[:NAME_LIMIT], error=error[:TEXT_LIMIT]))

    def result(self, warnings: Sequence[RowWarning] = ()) -> ImportResult:
        errors = list(self._errors)
        if self.failed > MOST_ERRORS:
            left_out = self.failed - MOST_ERRORS
            text = f"only {MOST_ERRORS} errors are listed: this row and {left_out - 1} after it failed too"
            errors[-1] = RowError(row=errors[-1].row, name=errors[-1].name, error=text)
        return ImportResult(imported=self.imported, failed=self.failed, errors=errors, warnings=warnings)
