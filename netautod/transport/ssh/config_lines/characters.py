"""The characters by which one line becomes several commands."""

import re
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
    if '"' in rest or "\\" in text:  # what does not pair, or may be escaped, protects nothing
        rest = text
    hits = [one for one in separators if one in text] + [one for one in unquoted if one in rest]
    return hits[0] if hits else None
