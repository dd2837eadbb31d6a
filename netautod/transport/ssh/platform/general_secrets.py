"""The general rules that find secrets in one line of any platform, without what must stay visible."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from netautod.secrets.redaction.announced import positions
from netautod.secrets.redaction.announced.places import HINT, placed
from netautod.secrets.redaction.announced.programs import CALL, of_programs
from netautod.secrets.redaction.announced.values import SUSPECT, Span, announced
from netautod.secrets.redaction.patterns import HIDDEN, TOKEN_LOOKS

TOKEN_DIGITS = 8
_TOKEN = re.compile(rf"<secret(?::[0-9a-f]{{{TOKEN_DIGITS}}})?>")
_BLANK = re.compile(r"\s")
# A longer line is looked at piece by piece: one expression holds the interpreter until it is done. Pieces lap
# over each other, so that what announces a secret stands in one piece with it.
PIECE, LAP = 4096, 512


def general_secrets(line: str, visible: Sequence[re.Pattern[str]] = ()) -> Iterator[Span]:
    """Yield where each secret begins and ends; `visible` is what the platform lists as readable."""
    shown = [match.span("visible") for item in visible for match in item.finditer(line[:PIECE])]
    for start, end in chain(announced(line), _placed(line)):
        if not is_shown(line[start:end]) and not any(start < last and first < end for first, last in shown):
            yield start, end


def is_clean(line: str, visible: Sequence[re.Pattern[str]] = ()) -> bool:
    """Return whether the general rules find no secret; for most lines that costs one search each."""
    suspect = any(
        rule.search(line) is not None for rule in (SUSPECT, HINT, positions.HINT, CALL, TOKEN_LOOKS)
    )
    return not suspect or next(general_secrets(line, visible), None) is None


def _placed(line: str) -> Iterator[Span]:
    for start, end in pieces(line):
        for match in chain(placed(line, start, end), positions.in_position(line, start, end)):
            yield match.start("secret"), end_of(match, line, end)
        yield from of_programs(line, start, end)


def pieces(line: str) -> Iterator[Span]:
    """Yield where each piece of the line begins and ends."""
    for start in range(0, max(len(line) - LAP, 1), PIECE - LAP):
        yield start, start + PIECE


def is_shown(secret: str) -> bool:
    """Return whether the text is a stand-in already."""
    return is_token(secret.strip()) or secret.strip() == HIDDEN


def end_of(match: re.Match[str], line: str, piece: int) -> int:
    """Return the end of the secret, which may go on behind the piece of the line."""
    secret, end = match["secret"], match.end("secret")
    if piece >= len(line):
        return end
    if secret[0] in "\"'" and (len(secret) == 1 or secret[-1] != secret[0]):
        return line.find(secret[0], end) + 1 or len(line)
    following = _BLANK.search(line, end) if end == piece else None
    return end if end < piece else len(line) if following is None else following.start()


def is_token(text: str) -> bool:
    """Return whether a text is a stand-in for a secret, which must not be hidden again."""
    return _TOKEN.fullmatch(text) is not None
