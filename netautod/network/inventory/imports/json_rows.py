"""Rows of a JSON file: an array of objects, read one by one, so that neither memory nor a turn grows with it.

A syntax error refuses the file as a whole, wherever it stands; a row of another shape, or with a value that
could not be stored, is an error of that row.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.network.inventory.imports.file_text import decoding, open_text
from netautod.network.inventory.imports.models import ROW_LIMIT, ImportRow

PART = 64 * 1024
SPACE = re.compile(r"[ \t\n\r]*")
INVALID = "The file is not valid JSON"


class JsonFile:
    source = "manual"

    def __init__(self, body: bytes) -> None:
        self._body = body
        if _Text(body).next_character() != "[":
            raise InvalidInput("The file must be a JSON array of rows")

    def scan(self) -> Iterator[int]:
        for number, _ in self._values():
            yield number

    def rows(self) -> Iterator[ImportRow]:
        for number, value in self._values():
            yield ImportRow(number, value, _problem(value))

    def _values(self) -> Iterator[tuple[int, Any]]:
        text, number = _Text(self._body), 0
        text.take("[")
        if text.next_character() != "]":
            while True:
                number += 1
                yield number, text.value(number)
                if text.next_character() != ",":
                    break
                text.take(",")
        text.take("]")
        if text.next_character():
            raise InvalidInput(f"{INVALID}: something follows the array")


class _Text:
    """A part of the text, and how far it has been read."""

    def __init__(self, body: bytes) -> None:
        self._stream = open_text(body)
        self._text = ""
        self._at = 0
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def next_character(self) -> str:
        """Return the next character that is no white space, which stays; empty at the end."""
        while True:
            match = SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, character: str) -> None:
        if self.next_character() != character:
            raise InvalidInput(f"{INVALID}: {character} is expected instead of {self._rest()}")
        self._at += 1

    def value(self, number: int) -> Any:
        """Return the whole value that begins here; more text is read as long as it may go on."""
        self.next_character()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                end = len(self._text)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"{INVALID}: a value in row {number} cannot be read") from error
            if end - self._at > ROW_LIMIT:
                text = f"row {number} is longer than {ROW_LIMIT} characters or not valid JSON"
                raise InvalidInput(f"The file cannot be read: {text}")
            if end < len(self._text):  # at the end of what we have, a number may have more digits
                self._at = end
                return found
            if not self._more():
                raise InvalidInput(f"{INVALID}: row {number} is broken or not complete")

    def _more(self) -> bool:
        with decoding():
            part = self._stream.read(PART)
        self._text = self._text[self._at :] + part
        self._at = 0
        return bool(part)

    def _rest(self) -> str:
        return repr(self._text[self._at : self._at + 20]) if self.next_character() else "the end"


def _problem(value: Any) -> str | None:
    """Return what keeps the value from being stored, be it a device or not."""
    try:
        json_values.check(value)
    except InvalidInput as error:
        return error.text
    return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
