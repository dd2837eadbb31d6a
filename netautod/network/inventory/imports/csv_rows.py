"""Rows of a CSV file: a header row, then one device in each row.

Blank rows are skipped wherever they stand and are not counted. A known column is trimmed, and
an empty cell is the same as no cell; a row may end early. Other columns go into `metadata` under their name
as it stands in the header, if their cell is not empty. A formula is a text like any other. The file is
refused as a whole where its quoting is broken, since it is not known where the next row begins.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from netautod.core.errors import InvalidInput
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
WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")


class CsvFile:
    """A CSV file. Raises InvalidInput if the header row is not one."""

    source = "csv"

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._delimiter, header = _header(body)
        self._names = [cell.lower() if cell.lower() in KNOWN else cell for cell in header]

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
        records = _records(self._body, self._delimiter)
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
    """The lines of a file, with their ends. `size`: characters of the present row; the reader of rows resets
    it."""

    def __init__(self, body: bytes) -> None:
        self._text = open_text(body)
        self.size = 0
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        with decoding():
            line = self._text.readline(ROW_LIMIT + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.size += len(line)
        if "\0" in line:
            raise InvalidInput(f"The file is not a CSV: there is a NUL in line {self.number}")
        if self.size > ROW_LIMIT:
            text = f"a row is longer than {ROW_LIMIT} characters, or a quote is never closed"
            raise InvalidInput(f"The file is not a CSV: {text} (line {self.number})")
        return line


def _records(body: bytes, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of all rows that are not blank, the header row among them."""
    lines = _Lines(body)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.size = 0
        begins = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidInput(_complaint(error, begins)) from error
        if cells is None:
            return
        if not _is_blank(cells):
            yield cells


def _complaint(error: csv.Error, line: int) -> str:
    unclosed = "unexpected end of data" in str(error)
    reason = "a quote is never closed" if unclosed else "a quoted cell does not end at its closing quote"
    return f"The file is not a CSV: {reason} (in the row that begins in line {line})"


def _is_blank(cells: list[str]) -> bool:
    return all(not cell or cell.isspace() for cell in cells)


def _header(body: bytes) -> tuple[str, list[str]]:
    """Return the delimiter that makes most columns out of the first row, and their trimmed names."""
    best: tuple[int, str, list[str]] | None = None
    complaint: InvalidInput | None = None
    for delimiter in DELIMITERS:
        try:
            cells = next(_records(body, delimiter), None)
        except InvalidInput as error:  # a quoted name is broken under the wrong delimiter
            complaint = complaint or error
            continue
        if cells is None:
            raise InvalidInput("The file is empty; its first row must name the columns")
        names = [cell.strip() for cell in cells]
        known = sum(name.lower() in KNOWN for name in names)
        if best is None or known > best[0]:
            best = known, delimiter, names
    if best is None:
        assert complaint is not None
        raise complaint
    _require_columns(best[2])
    return best[1], best[2]


def _require_columns(names: list[str]) -> None:
    lowered = [name.lower() for name in names if name]
    missing = [name for name in REQUIRED if name not in lowered]
    if missing:
        raise InvalidInput(f"The header row lacks {', '.join(missing)}")
    # One pass: 20,000 names that fit into a row would stop everything for 20 s if each was sought in all.
    doubled = sorted(name for name, times in Counter(lowered).items() if times > 1)
    if doubled:
        raise InvalidInput(f"The header row names {doubled[0][:100]} more than once")
