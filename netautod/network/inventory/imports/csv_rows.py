"""Rows of a CSV file: a header row, then one device in each row.

A first line `sep=;`, as Excel reads and writes it, names the delimiter and is no row.
Blank rows are skipped wherever they stand and are not counted. A known column is trimmed, and
an empty cell is the same as no cell; a row may end early. Other columns go into `metadata` under their name
as it stands in the header, if their cell is not empty. A formula is a text like any other. The file is
refused as a whole where its quoting is broken, since it is not known where the next row begins.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from netautod.core.errors import InvalidInput
from netautod.core.text.printable import printable
from netautod.network.inventory.imports.file_text import decoding, open_text
from netautod.network.inventory.imports.models import ROW_LIMIT, ImportRow

DELIMITERS = (",", ";", "\t")
REQUIRED = ("name", "host", "device_type")
OPTIONAL = (
    "port",
    "protocol",
    "manufacturer",
    "model",
    "platform",
    "site",
    "description",
    "serial_number",
    "asset_tag",
    "tags",
)
KNOWN = frozenset((*REQUIRED, *OPTIONAL))
# Excel takes the line unquoted; a table calculation that writes it as a row may quote it and fill it up.
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t "]*', re.IGNORECASE)
QUOTED_CHARACTERS = 100
WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")


class CsvFile:
    """A CSV file. Raises InvalidInput if the header row is not one."""

    source = "csv"

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._header = _header(body)
        self._names = [cell.lower() if cell.lower() in KNOWN else cell for cell in self._header.names]

    def scan(self) -> Iterator[int]:
        for number, _ in self._records():
            yield number

    def rows(self) -> Iterator[ImportRow]:
        for number, cells in self._records():
            if _is_blank(cells[len(self._names) :]):
                yield ImportRow(number, self._value(cells))
            else:
                name = dict(zip(self._names, cells, strict=False)).get("name", "")
                yield ImportRow(number, {"name": name}, "the row has more cells than the header row")

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        records = _Records(self._body, self._header.delimiter)
        next(records)  # the header
        return enumerate(records, start=1)

    def _value(self, cells: list[str]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        metadata: dict[str, str] = {}
        for name, cell in zip(self._names, cells, strict=False):
            if name not in KNOWN:
                if cell:
                    metadata[name] = cell
            elif text := cell.strip():
                value[name] = text
        if "port" in value and WHOLE_NUMBER.fullmatch(value["port"]):
            value["port"] = int(value["port"])
        if "tags" in value:
            value["tags"] = [tag.strip() for tag in value["tags"].split("|") if tag.strip()]
        if metadata:
            value["metadata"] = metadata
        return value


class _Lines:
    """The lines of a file, with their ends, without one that names the `separator`.

    `size`: characters of the present row, and `first` its first line; the reader of rows resets the size.
    """

    def __init__(self, body: bytes) -> None:
        self._text = open_text(body)
        self.size = 0
        self.number = 0
        self.first = ""
        self.separator = self._read_separator()

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        with decoding():
            line = self._text.readline(ROW_LIMIT + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.first = self.first if self.size else line
        self.size += len(line)
        if "\0" in line:
            raise InvalidInput(f"The file is not a CSV: there is a NUL in line {self.number}")
        if self.size > ROW_LIMIT:
            text = f"a row is longer than {ROW_LIMIT} characters, or a quote is never closed"
            raise InvalidInput(f"The file is not a CSV: {text} (line {self.number})")
        return line

    def _read_separator(self) -> str | None:
        with decoding():
            line = self._text.readline(ROW_LIMIT + 1)
        found = SEPARATOR_LINE.fullmatch(line.rstrip("\r\n"))
        if found is None:
            self._text.seek(0)
            return None
        self.number = 1
        if found[1] not in DELIMITERS:
            text = f"{_quoted(line)} in line 1 names a delimiter that is no comma, semicolon or tab"
            raise InvalidInput(f"The file is not a CSV: {text}")
        return found[1]


class _Records:
    """The cells of all rows that are not blank, the header row among them. `line`: where the last row began,
    and `text` its first line.
    """

    def __init__(self, body: bytes, delimiter: str) -> None:
        self._lines = _Lines(body)
        self._reader = csv.reader(self._lines, delimiter=delimiter, strict=True)
        self.line = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[str]:
        while True:
            self._lines.size = 0
            self.line = self._lines.number + 1
            try:
                cells = next(self._reader)
            except csv.Error as error:
                raise InvalidInput(_complaint(error, self.line)) from error
            if not _is_blank(cells):
                return cells

    @property
    def text(self) -> str:
        return self._lines.first


def _complaint(error: csv.Error, line: int) -> str:
    unclosed = "unexpected end of data" in str(error)
    reason = "a quote is never closed" if unclosed else "a quoted cell does not end at its closing quote"
    return f"The file is not a CSV: {reason} (in the row that begins in line {line})"


def _is_blank(cells: list[str]) -> bool:
    return all(not cell or cell.isspace() for cell in cells)


@dataclass(frozen=True, kw_only=True)
class _Header:
    """The header row as one delimiter splits it: trimmed names, and where and how it stands in the file."""

    delimiter: str
    names: list[str]
    line: int
    text: str

    @property
    def known(self) -> int:
        return sum(name.lower() in KNOWN for name in self.names)

    def check(self) -> None:
        lowered = [name.lower() for name in self.names if name]
        missing = [name for name in REQUIRED if name not in lowered]
        if missing:
            raise InvalidInput(f"The header row lacks {', '.join(missing)}: {self._shown()}")
        # One pass: 20,000 names that fit into a row would stop everything for 20 s if each was sought in all.
        doubled = sorted(name for name, times in Counter(lowered).items() if times > 1)
        if doubled:
            raise InvalidInput(f"The header row names {doubled[0][:100]} more than once: {self._shown()}")

    def _shown(self) -> str:
        return f"line {self.line} is {_quoted(self.text)}"


def _header(body: bytes) -> _Header:
    """Return the header row by the delimiter that the file names, else by the one that makes most columns
    of it.
    """
    found: list[_Header] = []
    complaint: InvalidInput | None = None
    separator = _Lines(body).separator
    for delimiter in DELIMITERS if separator is None else (separator,):
        records = _Records(body, delimiter)
        try:
            cells = next(records, None)
        except InvalidInput as error:  # a quoted name is broken under the wrong delimiter
            complaint = complaint or InvalidInput(f"{error.text}: {_quoted(records.text)}")
            continue
        if cells is None:
            raise InvalidInput("The file is empty; its first row must name the columns")
        names = [cell.strip() for cell in cells]
        found.append(_Header(delimiter=delimiter, names=names, line=records.line, text=records.text))
    if not found:
        assert complaint is not None
        raise complaint
    best = max(found, key=lambda header: header.known)
    best.check()
    return best


def _quoted(line: str) -> str:
    """Return the beginning of a line in quotes, with an escape for what does not show."""
    line = line.rstrip("\r\n")
    rest = "..." if len(line) > QUOTED_CHARACTERS else ""
    return f'"{printable(line[:QUOTED_CHARACTERS])}{rest}"'
