"""The redaction of device output for readers without the permission to see secrets.

It denies by default: what stands behind a word that announces a secret is hidden on every platform, whatever
its form. What stays readable is listed: in `secrets/redaction/announced`, and as `visible` of the platforms.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from netautod.secrets.redaction.announced.blocks import blocks
from netautod.secrets.redaction.announced.spans import replaced
from netautod.secrets.redaction.announced.values import Span
from netautod.secrets.redaction.patterns import HIDDEN, without_secret_patterns
from netautod.transport.ssh.encoding import readable
from netautod.transport.ssh.platform.general_secrets import (
    PIECE,
    end_of,
    general_secrets,
    is_clean,
    is_shown,
    pieces,
)
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.long_secrets import hide_long_secrets
from netautod.transport.ssh.platform.model import Platform, SecretPattern

_QUOTED = 1024  # characters of a text that are looked at to quote a few of them


def clean_lines(platform: Platform) -> LineMemory:
    """Return a memory of the lines in which nothing is hidden, to redact many texts of the platform."""
    return LineMemory(lambda line: len(line) <= PIECE and _is_clean(line, platform))


def hidden(secret: str) -> str:
    """Return the stand-in of every secret that is hidden for good."""
    return HIDDEN


def redact(
    text: str,
    platform: Platform,
    clean: LineMemory | None = None,
    stand_in: Callable[[str], str] = hidden,
) -> str:
    """Return the text with `stand_in(secret)` for every secret that the platform and the general rules find.

    Tokens of `normalise` stay, so a diff of normalised texts still shows that a password changed. `clean`
    (see `clean_lines`) is passed from one text of the platform to the next.
    """
    text = without_blocks(text, stand_in)
    is_clean = (clean or clean_lines(platform)).is_plain
    lines = list(hide_long_secrets(text.split("\n"), platform, lambda item, secret: stand_in(secret)))
    for number, line in enumerate(lines):
        if not is_clean(line):
            lines[number] = _redact_line(line, platform, stand_in)
    return "\n".join(lines)


def without_blocks(text: str, stand_in: Callable[[str], str]) -> str:
    """Return the text with `stand_in(secret)` for each secret that spans more than its line: private keys,
    ...
    """
    return replaced(
        text, blocks(text), lambda secret: secret if is_shown(secret) else _in_lines(secret, stand_in)
    )


def quoted(text: str, platform: Platform | None = None, *, most: int = 120) -> str:
    """Return what a failure may quote of a text that the device printed: its first characters without
    secrets.

    People who may not see secrets read failures, also in logs and events.
    """
    text = without_secret_patterns(text.strip()[:_QUOTED])
    return readable(_redact_line(without_blocks(text, hidden), platform)[:most])


def _is_clean(line: str, platform: Platform) -> bool:
    return platform.any_secret.match(line) is None and is_clean(line, platform.visible)


def _redact_line(line: str, platform: Platform | None, stand_in: Callable[[str], str] = hidden) -> str:
    secrets, visible = ((), ()) if platform is None else (platform.secrets, platform.visible)
    return replaced(line, chain(general_secrets(line, visible), _own(line, secrets)), stand_in)


def _own(line: str, secrets: Sequence[SecretPattern]) -> Iterator[Span]:
    for start, end in pieces(line):
        for item in secrets:
            match = item.pattern.match(line, start, end)
            if match is not None and not is_shown(match["secret"]):
                yield match.start("secret"), end_of(match, line, end)


def _in_lines(secret: str, stand_in: Callable[[str], str]) -> str:
    """Return the stand-in of a secret, on a line of its own if the secret has several lines."""
    return (
        f"\n{stand_in(secret)}\n"
        if "\n" in secret.strip("\n") or secret.startswith("\n")
        else stand_in(secret)
    )
