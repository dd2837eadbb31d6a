"""What devices print, redacted for readers without the permission to see secrets.

It denies by default: what stands behind a word that announces a secret is hidden on every platform, whatever
its form. What stays readable is listed: in `core/redaction/announced`, and as `visible` of the platforms.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from netautod.core.redaction.announced.blocks import blocks
from netautod.core.redaction.announced.places import HINT, placed
from netautod.core.redaction.announced.spans import replaced
from netautod.core.redaction.announced.values import SUSPECT, Span, announced
from netautod.core.redaction.patterns import HIDDEN, TOKEN_LOOKS, without_secret_patterns
from netautod.ssh.encoding import readable
from netautod.ssh.platform.line_memory import LineMemory
from netautod.ssh.platform.long_secrets import hide_long_secrets, is_token
from netautod.ssh.platform.model import Platform, SecretPattern

_BLANK = re.compile(r"\s")
# A longer line is looked at piece by piece: one expression holds the interpreter until it is done. Pieces lap
# over each other, so that what announces a secret stands in one piece with it.
PIECE, LAP = 4096, 512
_QUOTED = 1024  # characters of a text that are looked at to quote a few of them


def clean_lines(platform: Platform) -> LineMemory:
    """Remembers the lines in which nothing is hidden, to redact many texts of the platform."""
    return LineMemory(lambda line: len(line) <= PIECE and not _is_suspect(line, platform))


def redact(text: str, platform: Platform, clean: LineMemory | None = None) -> str:
    """The text with every secret replaced by `<hidden>`, as the platform and the general rules find them.

    Tokens of `normalise` stay, so a diff of normalised texts still shows that a password changed. `clean`
    (see `clean_lines`) is passed from one text of the platform to the next.
    """
    text = without_blocks(text, lambda secret: HIDDEN)
    is_clean = (clean or clean_lines(platform)).is_plain
    lines = list(hide_long_secrets(text.split("\n"), platform, lambda item, secret: HIDDEN))
    for number, line in enumerate(lines):
        if not is_clean(line):
            lines[number] = _redact_line(line, platform)
    return "\n".join(lines)


def without_blocks(text: str, stand_in: Callable[[str], str]) -> str:
    """The text with `stand_in(secret)` for each secret that needs more than its line: private keys, ..."""
    return replaced(
        text, blocks(text), lambda secret: secret if _is_shown(secret) else _in_lines(secret, stand_in)
    )


def redact_line(line: str, platform: Platform) -> str:
    """One line of a text as `redact` shows it. Of secrets that need more than their line it knows nothing."""
    if len(line) > PIECE or _is_suspect(line, platform):
        return _redact_line(line, platform)
    return line


def quoted(text: str, platform: Platform | None = None, *, most: int = 120) -> str:
    """What a failure may quote of a text that the device chose: its first characters without secrets.

    Failures are read by people who may not see secrets, and stand in logs and events.
    """
    text = without_secret_patterns(text.strip()[:_QUOTED])
    return readable(_redact_line(without_blocks(text, lambda secret: HIDDEN), platform)[:most])


def general_secrets(line: str, platform: Platform | None) -> Iterator[Span]:
    """Where the general rules find secrets in the line, without what the platform lists as visible."""
    visible = () if platform is None else platform.visible
    shown = [match.span("visible") for item in visible for match in item.finditer(line[:PIECE])]
    for start, end in chain(announced(line), _placed(line)):
        if not _is_shown(line[start:end]) and not any(start < last and first < end for first, last in shown):
            yield start, end


def _is_suspect(line: str, platform: Platform) -> bool:
    found = SUSPECT.search(line) or HINT.search(line) or TOKEN_LOOKS.search(line)
    return found is not None or platform.any_secret.match(line) is not None


def _redact_line(line: str, platform: Platform | None) -> str:
    secrets = () if platform is None else platform.secrets
    return replaced(line, chain(general_secrets(line, platform), _own(line, secrets)), lambda secret: HIDDEN)


def _own(line: str, secrets: Sequence[SecretPattern]) -> Iterator[Span]:
    for start, end in _pieces(line):
        for item in secrets:
            match = item.pattern.match(line, start, end)
            if match is not None and not _is_shown(match["secret"]):
                yield match.start("secret"), _end_of(match, line, end)


def _placed(line: str) -> Iterator[Span]:
    for start, end in _pieces(line):
        for match in placed(line, start, end):
            yield match.start("secret"), _end_of(match, line, end)


def _pieces(line: str) -> Iterator[Span]:
    for start in range(0, max(len(line) - LAP, 1), PIECE - LAP):
        yield start, start + PIECE


def _is_shown(secret: str) -> bool:
    """Whether it is a stand-in already."""
    return is_token(secret.strip()) or secret.strip() == HIDDEN


def _in_lines(secret: str, stand_in: Callable[[str], str]) -> str:
    """A secret of several lines has its stand-in on a line of its own."""
    return (
        f"\n{stand_in(secret)}\n"
        if "\n" in secret.strip("\n") or secret.startswith("\n")
        else stand_in(secret)
    )


def _end_of(match: re.Match[str], line: str, piece: int) -> int:
    """The end of the secret, which may go on behind the piece of the line."""
    secret, end = match["secret"], match.end("secret")
    if piece >= len(line):
        return end
    if secret[0] in "\"'" and (len(secret) == 1 or secret[-1] != secret[0]):
        return line.find(secret[0], end) + 1 or len(line)
    following = _BLANK.search(line, end) if end == piece else None
    return end if end < piece else len(line) if following is None else following.start()
