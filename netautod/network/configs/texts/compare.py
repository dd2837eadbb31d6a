"""Compares two stored texts line by line, normalised and redacted or as they are."""

from collections.abc import Sequence

from netautod.network.configs.texts import diff
from netautod.network.configs.texts.diff import Difference, Lines
from netautod.network.configs.texts.learned_noise import Rule, quiet
from netautod.network.configs.texts.normalise import normalise
from netautod.network.configs.texts.side_by_side import SideBySide, side_by_side
from netautod.transport.ssh.encoding import Encoding, encoding_of, readable
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import clean_lines, redact_line


def compared(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    names: Sequence[str],
    key: bytes | None,
    *,
    readers: Platform,
    rules: Sequence[Rule] = (),
    context: int = diff.CONTEXT,
    clean: LineMemory | None = None,
) -> tuple[bool, Difference]:
    """Return whether the texts say the same, and their diff; without a key the raw texts as they are.

    `readers`: what is shown is redacted as for this platform, whose `clean_lines` may be passed from one
    comparison to the next. `rules`: what is known to move in them.
    """
    old, new = _lines(texts, platforms, key, _Shown(readers, clean or clean_lines(readers)), rules)
    found = diff.unified(old, new, old_name=names[0], new_name=names[1], context=context)
    return old.compared == new.compared, found


def compared_side_by_side(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    key: bytes | None,
    *,
    readers: Platform,
    rules: Sequence[Rule] = (),
    context: int = diff.CONTEXT,
    clean: LineMemory | None = None,
) -> tuple[bool, SideBySide]:
    """Return the same in two columns. Changed words are those of what is shown."""
    old, new = _lines(texts, platforms, key, _Shown(readers, clean or clean_lines(readers)), rules)
    return old.compared == new.compared, side_by_side(old, new, context=context)


def _lines(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    key: bytes | None,
    shown: "_Shown",
    rules: Sequence[Rule],
) -> tuple[Lines, Lines]:
    old, new = (
        _raw_lines(text) if key is None else _redacted_lines(text, platform, key, shown, rules)
        for text, platform in zip(texts, platforms, strict=True)
    )
    return old, new


def _raw_lines(text: str) -> Lines:
    lines = text.removesuffix("\n").split("\n")
    encoding = encoding_of(text)
    return Lines(compared=lines, shown=[readable(line, encoding) for line in lines])


def _redacted_lines(
    text: str, platform: Platform, key: bytes, shown: "_Shown", rules: Sequence[Rule]
) -> Lines:
    """Compare lines before they are redacted, so that the redaction cannot hide a change."""
    normal = normalise(text, platform, key)
    lines = normal.removesuffix("\n").split("\n")
    return Lines(compared=quiet(lines, rules), shown=_RedactedLines(lines, shown, encoding_of(text)))


class _Shown:
    """A redaction of single lines; most lines of a large diff occur many times, or on both sides."""

    def __init__(self, readers: Platform, clean: LineMemory) -> None:
        self._readers = readers
        self._clean = clean

    def line(self, line: str) -> str:
        return line if self._clean.is_plain(line) else redact_line(line, self._readers)


class _RedactedLines:
    """A sequence that redacts only the lines that a diff shows: of 40,000 usually a few dozen."""

    def __init__(self, lines: Sequence[str], shown: _Shown, encoding: Encoding) -> None:
        self._lines = lines
        self._shown = shown
        self._encoding = encoding

    def __getitem__(self, part: slice) -> Sequence[str]:
        return [readable(self._shown.line(line), self._encoding) for line in self._lines[part]]
