"""The characters by which one line becomes several commands."""

import re
import shlex
from collections.abc import Sequence

_PLAIN = r"A-Za-z0-9 _./:,@%+=^-"
# From the left, as a shell reads: a quote within the other quotes begins nothing, so double quotes hold
# neither kind.
_SHELL = re.compile(rf"(?:[{_PLAIN}]|'[^']*'|\"[{_PLAIN}]*\")*")
_QUOTED = re.compile(r'"[^"]*"')


def in_shell(text: str) -> bool:
    """Return whether a shell takes the line as one command: what it reads stands in single quotes only."""
    return _SHELL.fullmatch(text) is not None


def divided(text: str, separators: Sequence[str], unquoted: Sequence[str]) -> str | None:
    """Return the first separator on the line: one of `separators` anywhere, or of `unquoted` outside double
    quotes.
    """
    rest = _QUOTED.sub("", text)
    if unquoted and '"' in rest:
        return "a quote that does not end"
    if not _protects(text):
        rest = text
    hits = [one for one in separators if one in text] + [one for one in unquoted if one in rest]
    return hits[0] if hits else None


def words_of(text: str, *, shell: bool, quotes: bool) -> list[str]:
    """Return the words that a device reads on the line, some of them without a value that has blanks.

    `quotes`: double quotes make such a value of several words.
    """
    if shell:  # in_shell() has seen that its quotes are pairs
        return shlex.split(text)
    rest = _QUOTED.sub(_without_blanks, text) if quotes and _protects(text) else text
    return rest.replace('"', "").split()


def _protects(text: str) -> bool:
    """Return whether double quotes protect what is in them: they are pairs, and nothing escapes them or
    quotes them in turn.
    """
    return text.count('"') % 2 == 0 and not any(sign in text for sign in "\\'")


def _without_blanks(quoted: re.Match[str]) -> str:
    return "" if " " in quoted[0].strip('" ') else quoted[0]
