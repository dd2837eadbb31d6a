"""The redacted texts of the newest versions, kept packed in bounded memory and searched line by line.

What is searched is what a reader is shown: a secret cannot be found, and so neither be guessed by counting
matches. The raw text is redacted once and forgotten; it lives in the text worker only.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netautod.network.configs.texts.line_pattern import LineMatcher, LineQuery, matcher_of, split
from netautod.network.configs.texts.packing import quickly_packed, unpacked, unpacked_bytes
from netautod.transport.ssh.encoding import encoding_of, readable
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.redact import clean_lines, redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

SHOWN_CHARACTERS = 2000
Key = tuple[str, str, str]
"""Organization, device and id of the text: the time of a search does not tell that devices have one text."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A matching line. `position` is that of the text among the requested ones; `before` and `after` are the
    lines around it.
    """

    position: int
    number: int
    line: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Hits:
    """The matches: `total` lines match; `lines` are those of the requested window."""

    total: int
    lines: Sequence[Hit]


@dataclass(kw_only=True)
class Same:
    """A line that was found: in how many texts, and its first places."""

    texts: int = 0
    first: list[Hit] = field(default_factory=list)


class RedactedTexts:
    """A cache of texts searched in batches: `prepare` names a batch, `learn` brings what it lacks, `search`
    searches it.
    """

    def __init__(self, platforms: PlatformRegistry, *, capacity: int) -> None:
        self._platforms = platforms
        self._capacity = capacity
        self._kept: OrderedDict[Key, bytes] = OrderedDict()  # the one used last stands last
        self._size = 0
        self._batch: dict[Key, bytes] = {}
        self._clean: LineMemory | None = None
        self._pattern: tuple[LineQuery, LineMatcher] | None = None

    def prepare(self, wanted: LineQuery, keys: Sequence[Key]) -> list[Key]:
        """Start a batch and return the keys whose texts `learn` has to bring. InvalidInput: a bad pattern."""
        self._compiled(wanted)
        self._batch = {}
        for key in dict.fromkeys(keys):
            if key in self._kept:
                self._kept.move_to_end(key)
                self._batch[key] = self._kept[key]
        return [key for key in dict.fromkeys(keys) if key not in self._batch]

    def learn(self, texts: Sequence[tuple[Key, bytes]]) -> None:
        """Add raw texts as they are stored (packed)."""
        readers = self._platforms.for_readers
        if self._clean is None:
            self._clean = clean_lines(readers)
        for key, raw in texts:
            text = unpacked(raw)
            shown = quickly_packed(readable(redact(text, readers, self._clean), encoding_of(text)))
            self._batch[key] = shown
            self._keep(key, shown)

    def search(self, wanted: LineQuery, keys: Sequence[Key], skip: int, take: int, context: int) -> Hits:
        """Return the matches of the batch in the order of `keys`; of them `take` lines after the first
        `skip`.

        Each has `context` lines around it. A text that `learn` did not bring is passed over.
        """
        total = 0
        lines: list[Hit] = []
        for position, text, found in self._found(wanted, keys):
            for number, line in found:
                if skip <= total < skip + take:
                    lines.append(_hit(text, position, number, line, context))
                total += 1
        return Hits(total=total, lines=lines)

    def group(
        self, wanted: LineQuery, keys: Sequence[Key], first: int, most: int, context: int
    ) -> dict[str, Same] | None:
        """Return the matches of the batch by line, each with its first places; None for more than `most`
        lines.
        """
        groups: dict[str, Same] = {}
        for position, text, found in self._found(wanted, keys):
            seen: set[str] = set()
            for number, line in found:
                shown = _shown(line)
                if shown not in groups and len(groups) >= most:
                    return None
                same = groups.setdefault(shown, Same())
                same.texts += shown not in seen
                seen.add(shown)
                if len(same.first) < first:
                    same.first.append(_hit(text, position, number, line, context))
        return groups

    def _found(
        self, wanted: LineQuery, keys: Sequence[Key]
    ) -> Iterator[tuple[int, "_Text", Iterator[tuple[int, bytes]]]]:
        pattern = self._compiled(wanted)
        for position, key in enumerate(keys):
            packed = self._batch.get(key)
            if packed is not None:
                content = unpacked_bytes(packed)
                yield position, _Text(content), pattern.lines(content)

    def _compiled(self, wanted: LineQuery) -> LineMatcher:
        if self._pattern is None or self._pattern[0] != wanted:
            self._pattern = (wanted, matcher_of(wanted))
        return self._pattern[1]

    def _keep(self, key: Key, shown: bytes) -> None:
        if key in self._kept:
            self._size -= len(self._kept.pop(key))
        self._kept[key] = shown
        self._size += len(shown)
        while self._size > self._capacity:
            self._size -= len(self._kept.popitem(last=False)[1])


class _Text:
    """A text that is cut into lines when the first line around a match is requested."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines: list[bytes] | None = None

    def around(self, number: int, context: int) -> tuple[list[str], list[str]]:
        """Return the lines before and after the one of that number, which counts from 1."""
        if self._lines is None:
            self._lines = split(self._content)
        before = self._lines[max(0, number - 1 - context) : number - 1]
        after = self._lines[number : number + context]
        return [_shown(line) for line in before], [_shown(line) for line in after]


def _hit(text: _Text, position: int, number: int, line: bytes, context: int) -> Hit:
    before, after = text.around(number, context) if context else ([], [])
    return Hit(position=position, number=number, line=_shown(line), before=before, after=after)


def _shown(line: bytes) -> str:
    return line.decode()[:SHOWN_CHARACTERS]
