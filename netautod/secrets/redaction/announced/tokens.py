"""The words and quoted texts of a line: where each ends, and which of them can only stand behind a value."""

import re

from netautod.secrets.redaction.announced.kinds import kind_of
from netautod.secrets.redaction.announced.vocabulary import FOLLOWING, PAIRS, QUALIFIERS

TOKEN = re.compile(
    r'\\{1,3}"(?P<escaped>.*?)(?:\\{1,3}"|$)|"(?P<double>(?:[^"\\]|\\.)*)(?:"|$)|\'(?P<single>[^\']*)\''
    r"|(?P<bare>\S+)"
)
ENDS = re.compile(r"[\s;,})\]>/]*(?:(?:##|/\*|<!--).*)?$")
TAIL = re.compile(r"[;,})\]\r]+$")


def plain_of(token: re.Match[str]) -> str:
    for name in ("double", "single", "escaped"):
        if token[name] is not None:
            return token[name].strip().lower()
    return token[0].rstrip(";,\r").lower()


def after_pair(line: str, at: int, plain: str) -> int:
    """Return the end of the argument, if the word has one and more follows."""
    if plain not in PAIRS:
        return at
    begin = blank_end(line, at)
    argument = None if begin is None else TOKEN.match(line, begin)
    if argument is None or ENDS.match(line, argument.end()) or kind_of(plain_of(argument)) is not None:
        return at
    return argument.end()


def blank_end(line: str, at: int) -> int | None:
    blank = re.compile(r"[\s,]+").match(line, at)
    return None if blank is None else blank.end()


def ends_value(line: str, at: int) -> bool:
    """Return whether the word at `at` can only stand behind a value: `community read-write group x`."""
    begin = blank_end(line, at)
    following = None if begin is None else TOKEN.match(line, begin)
    if following is None:
        return False
    plain = plain_of(following)
    if plain in ("ro", "rw", "{"):
        return True
    if ENDS.match(line, following.end()):
        return False
    return plain in FOLLOWING and plain not in QUALIFIERS and plain not in PAIRS
