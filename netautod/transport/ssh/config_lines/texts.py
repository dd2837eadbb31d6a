"""Texts within a configuration: a banner between delimiters, a certificate of several lines.

A device reads their lines as text, and what follows as commands again: so each must end where we say.
"""

import re
from dataclasses import dataclass

# `^C` is how devices show the control character that ends a text.
_DELIMITED = re.compile(r"(\^C|[^\w\s])(?:(?!\1).)+\1\s*")


class Refused(Exception):
    """Raised with what is wrong with a line."""


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """A text of several lines: `begin` and `end` match its first and last line, `line` all between."""

    begin: re.Pattern[str]
    line: re.Pattern[str]
    end: re.Pattern[str]

    def after(self, line: str) -> "TextBlock | None":
        """Return the block if it goes on behind the line, None at its end; Refused for any other line."""
        if self.end.fullmatch(line):
            return None
        if not self.line.fullmatch(line):
            raise Refused("it is no line of the text that a line before it begins")
        return self


def is_delimited(text: str) -> bool:
    """Return whether the text ends with the character that it begins with, which it has nowhere else."""
    return _DELIMITED.fullmatch(text) is not None


def quoted(word: str) -> str:
    """Return the first word of a line for a reason; what is behind it may be a secret."""
    return repr(word if len(word) <= 40 else f"{word[:40]}...")
