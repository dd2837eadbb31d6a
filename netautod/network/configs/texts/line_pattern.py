"""Finds the lines that match a plain text or a regular expression, in a time linear in the text.

The engine of regular expressions is RE2 (PyPI: google-re2, from the repository of RE2 itself): it has neither
backtracking nor back-references and look-around, so that no pattern of a user can take exponential time, and
it says why it refuses one. Its syntax: https://github.com/google/re2/wiki/Syntax
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import re2

from netautod.core.errors import InvalidInput

NEW_LINE = b"\n"
EACH_LINE = "(?m)"  # ^ and $ are those of a line
MEMORY_BYTES = 4 << 20  # of one compiled pattern; RE2 refuses what needs more


@dataclass(frozen=True, kw_only=True)
class LineQuery:
    """A search for lines: `text` as a user gave it; plain texts are found in any case, patterns say `(?i)`
    themselves.
    """

    text: str
    is_pattern: bool


class LineMatcher(Protocol):
    def lines(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the number (from 1) and the content of each line of a UTF-8 text that matches anywhere in
        it."""
        ...


def matcher_of(wanted: LineQuery) -> LineMatcher:
    """Return a matcher. Raises InvalidInput with RE2's reason for a pattern that it refuses."""
    return _Pattern(wanted.text) if wanted.is_pattern else _Plain(wanted.text)


class _Plain:
    def __init__(self, text: str) -> None:
        self._text = text.casefold()

    def lines(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        folded = text.decode().casefold()  # which neither makes nor takes line feeds
        if self._text not in folded:
            return
        lines = split(text)
        for number, line in enumerate(folded.split("\n")[: len(lines)]):
            if self._text in line:
                yield number + 1, lines[number]


class _Pattern:
    def __init__(self, text: str) -> None:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MEMORY_BYTES
        options.never_nl = True  # no match goes beyond its line
        try:
            self._compiled: Any = re2.compile(f"{EACH_LINE}{text}", options)
        except re2.error as error:
            raise InvalidInput(f"regex: {_reason(error)}") from error

    def lines(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        at, number, counted = 0, 1, 0
        end = len(text) - text.endswith(NEW_LINE)  # what follows the last line feed is no line
        while at <= end and (found := self._compiled.search(text, at, end)) is not None:
            start = text.rfind(NEW_LINE, 0, found.start()) + 1
            stop = text.find(NEW_LINE, found.start(), end)
            stop = end if stop < 0 else stop
            number += text.count(NEW_LINE, counted, start)
            counted = start
            yield number, text[start:stop]
            at = stop + 1


def split(text: bytes) -> list[bytes]:
    """Return the lines; what follows the last line feed is none."""
    return text.removesuffix(NEW_LINE).split(NEW_LINE)


def _reason(error: Exception) -> str:
    """Return RE2's reason, which it gives as bytes, with the pattern as it was compiled."""
    reason = error.args[0] if error.args else "it is refused"
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return text.replace(EACH_LINE, "", 1)
