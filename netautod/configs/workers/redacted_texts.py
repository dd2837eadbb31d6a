"""The redacted texts of the newest versions, kept packed in bounded memory and searched line by line.

What is searched is what a reader is shown: a secret cannot be found, and so neither be guessed by counting
matches. The raw text is redacted once and forgotten; it lives in the text worker only.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from netautod.configs.texts.line_pattern import LineMatcher, LineQuery, matcher_of
from netautod.configs.texts.packing import quickly_packed, unpacked, unpacked_bytes
from netautod.ssh.encoding import encoding_of, readable
from netautod.ssh.platform.line_memory import LineMemory
from netautod.ssh.platform.redact import clean_lines, redact
from netautod.ssh.platform.registry import PlatformRegistry

SHOWN_CHARACTERS = 2000
Key = tuple[str, str]
"""Organization and id of the text."""


@dataclass(frozen=True, kw_only=True)
class Hits:
    """`total` lines match; `lines` are those of the asked window: (position of the text, number, line)."""

    total: int
    lines: Sequence[tuple[int, int, str]]


class RedactedTexts:
    """Searched in batches: `prepare` names a batch, `learn` brings what it lacks, `search` looks into it."""

    def __init__(self, platforms: PlatformRegistry, *, capacity: int) -> None:
        self._platforms = platforms
        self._capacity = capacity
        self._kept: OrderedDict[Key, bytes] = OrderedDict()  # the one used last stands last
        self._size = 0
        self._batch: dict[Key, bytes] = {}
        self._clean: LineMemory | None = None
        self._pattern: tuple[LineQuery, LineMatcher] | None = None

    def prepare(self, wanted: LineQuery, keys: Sequence[Key]) -> list[Key]:
        """Begins a batch; returns the keys whose texts `learn` has to bring. InvalidInput: a bad pattern."""
        self._compiled(wanted)
        self._batch = {}
        for key in dict.fromkeys(keys):
            if key in self._kept:
                self._kept.move_to_end(key)
                self._batch[key] = self._kept[key]
        return [key for key in dict.fromkeys(keys) if key not in self._batch]

    def learn(self, texts: Sequence[tuple[Key, bytes]]) -> None:
        """Raw texts as they are stored (packed)."""
        readers = self._platforms.of_readers
        if self._clean is None:
            self._clean = clean_lines(readers)
        for key, raw in texts:
            text = unpacked(raw)
            shown = quickly_packed(readable(redact(text, readers, self._clean), encoding_of(text)))
            self._batch[key] = shown
            self._keep(key, shown)

    def search(self, wanted: LineQuery, keys: Sequence[Key], skip: int, take: int) -> Hits:
        """The matches of the batch in the order of `keys`; of them `take` lines after the first `skip`.

        A text that `learn` did not bring is passed over.
        """
        pattern = self._compiled(wanted)
        total = 0
        lines: list[tuple[int, int, str]] = []
        for position, key in enumerate(keys):
            text = self._batch.get(key)
            if text is None:
                continue
            for number, line in pattern.lines(unpacked_bytes(text)):
                if skip <= total < skip + take:
                    lines.append((position, number, line.decode()[:SHOWN_CHARACTERS]))
                total += 1
        return Hits(total=total, lines=lines)

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
