"""Compares two stored texts line by line, normalised and redacted or as they are."""

import re
from collections.abc import Sequence

from netautod.configs.texts import diff
from netautod.configs.texts.diff import Difference, Lines
from netautod.configs.texts.normalise import normalise, secret_token
from netautod.ssh.encoding import Encoding, encoding_of, readable
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.redact import redact_line

PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def compared(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    names: Sequence[str],
    key: bytes | None,
    *,
    readers: Platform,
) -> tuple[bool, Difference]:
    """Whether the texts say the same, and their diff; without a key the raw texts as they are.

    `readers`: what is shown is redacted as for this platform.
    """
    old, new = (
        _raw_lines(text) if key is None else _redacted_lines(text, platform, key, readers)
        for text, platform in zip(texts, platforms, strict=True)
    )
    identical = old.compared == new.compared
    return identical, diff.unified(old, new, old_name=names[0], new_name=names[1])


def _raw_lines(text: str) -> Lines:
    lines = text.removesuffix("\n").split("\n")
    encoding = encoding_of(text)
    return Lines(compared=lines, shown=[readable(line, encoding) for line in lines])


def _redacted_lines(text: str, platform: Platform, key: bytes, readers: Platform) -> Lines:
    """Lines are compared before they are redacted, so that the redaction cannot hide a change."""
    normal = normalise(text, platform, key)
    # A key block becomes one token, so that the lines can be redacted one by one.
    normal = PEM.sub(lambda match: f"{match[1]}\n{secret_token(match[2], key)}\n{match[3]}", normal)
    lines = normal.removesuffix("\n").split("\n")
    return Lines(compared=lines, shown=_RedactedLines(lines, readers, encoding_of(text)))


class _RedactedLines:
    """Only the lines that a diff shows are ever redacted: of 40,000 usually a few dozen."""

    def __init__(self, lines: Sequence[str], platform: Platform, encoding: Encoding) -> None:
        self._lines = lines
        self._platform = platform
        self._encoding = encoding

    def __getitem__(self, part: slice) -> Sequence[str]:
        return [readable(redact_line(line, self._platform), self._encoding) for line in self._lines[part]]
