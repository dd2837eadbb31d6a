"""Texts of devices and documents in the form that a model gets: redacted, cut, numbered, marked as data."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from netautod.core.loop.pace import in_thread_if_large

MOST_CHARACTERS = 24_000  # of one tool's result
MOST_LINE = 2_000
REPLACEMENT = "\ufffd"
_BREAKS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


class Presenter:
    """A presenter of texts; `redact` hides what may be a secret in a text of any platform."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    async def lines(self, text: str) -> list[str]:
        """Return the lines without secrets and control characters, as many as a model can take."""
        return await in_thread_if_large(len(text), self._lines, text)

    async def hidden(self, text: str) -> str:
        """Return the text without secrets and control characters."""
        return await in_thread_if_large(len(text), lambda: self._redact(cleaned(text)))

    def _lines(self, text: str) -> list[str]:
        found, left = list[str](), MOST_CHARACTERS
        # Clean first: a control character within a secret would hide it from the patterns.
        lines = self._redact(cleaned(text)).split("\n")
        if lines[-1:] == [""]:
            lines.pop()
        for number, line in enumerate(lines):
            left -= min(len(line), MOST_LINE) + 1
            if left < 0:
                found.append(f"[cut: {len(lines) - number} more lines]")
                break
            found.append(line if len(line) <= MOST_LINE else f"{line[:MOST_LINE]} [cut]")
        return found


def cleaned(text: str) -> str:
    """Return the text without control characters, except line feeds and tabs."""
    return "".join(map(_shown, _BREAKS.sub("\n", text)))


def marked(call_id: str, source: str, lines: Sequence[str], first_line: int) -> str:
    """Mark a text as data, each line behind its number, so that none of them can look like the end of the
    data.
    """
    head = f'<data tool_call_id="{call_id}" source="{_plain(source)}">'
    body = [f"{number}| {line}" for number, line in enumerate(lines, start=first_line)]
    return "\n".join([head, *body, "</data>"])


def _plain(source: str) -> str:
    return " ".join(re.sub(r'[<>"]', " ", source).split())


def _shown(character: str) -> str:
    if character in "\n\t":
        return character
    # Category C: control, format, surrogate, private use, unassigned. They may hide or reorder what is read.
    return REPLACEMENT if unicodedata.category(character).startswith("C") else character
