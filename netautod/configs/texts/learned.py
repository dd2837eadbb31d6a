"""The learned noise of one device: which piece of which line moves by itself.

A platform's definition knows the noise of its kind; this finds what is left (a counter, an uptime, the dump
of a certificate). The rule is strict, since what it hides nobody sees any more:

* Three readings are compared: the stored one, and two of one session. A person who edits between two
  captures makes both readings of a session equal, so that an edit is never taken for noise.
* A line moves where its words are the same in all three, at the same place, and the same number, time or
  hexadecimal piece of it differs in each of the three. Only that piece is noise; the rest of the line counts.
* The place is the lines above that it is indented under, and which of the equal-looking lines there it is.
  Where their number has changed nobody can tell which one moves: then each of them counts.
* A line that is added or removed always counts.

A time is one piece with its date, its zone and its units, so that a clock that moved by seconds is still
known on the next day.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

from netautod.configs.texts.diff import matches

MOST_LINES = 20  # that differ between two readings, for a third one to be asked for
MOST_RULES = 500  # of a device
_DEPTH = 4
MOVING = "*"  # stands for the moving piece where a rule is shown

_HEX = (
    r"(?<![A-Za-z])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{2,}(?![0-9A-Za-z])"  # with a digit, so that no word is one
)
_NUMBER = rf"(?:0x[0-9a-fA-F]+|{_HEX}|\b[0-9a-fA-F]{{8,}}\b|\d+)"
_JOINED = rf"{_NUMBER}(?:[.:,/+\-]{_NUMBER})*"
_UNIT = r"(?:years?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_DATE = rf"(?:{_MONTH}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{{0,6}}|AM|PM|UTC|GMT)"
_NAMED = rf"(?:\d{{1,4}}[-/]{_MONTH}|{_MONTH}[-/]\d{{1,2}})[-/]\d{{2,4}}"  # 23-Nov-2026, nov/23/2026
_CLOCK = (
    r"\d{1,4}[:.\-/]\d\d[:.\-/]\d{2,4}(?:[.,]\d+)?(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?"
    r"(?:Z|[+-]\d\d:?\d\d)?"
)
_SPAN = r"(?:\d+[ywdhms]){1,6}|\d+ " + _UNIT
_ITEM = rf"\b(?i:{_SPAN}|{_NAMED}|{_DATE}|{_CLOCK}|\d{{1,2}}:\d\d|\d{{1,4}})(?![0-9A-Za-z])"
# A run of words of a date or of a span with at least one of them, not of bare numbers alone.
_SURE = rf"(?i:{_SPAN}|{_NAMED}|\b{_DATE}\b|{_CLOCK}|\d{{1,2}}:\d\d)"
_TIME = rf"(?=(?:\d{{1,4}}[, ]+)*{_SURE}){_ITEM}(?:,? {{1,2}}{_ITEM})*"
_PIECE = re.compile(rf"{_TIME}|{_JOINED}")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One line of a device; `words` is what stands around its moving pieces.

    `place` are the lines that it is indented under, the outermost first; it is the one with the number `at`
    of `of` lines that look like it there.
    """

    place: tuple[str, ...]
    words: tuple[str, ...]
    at: int
    of: int

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Self:
        place, words = tuple(value["place"]), tuple(value["words"])
        return cls(place=place, words=words, at=value["at"], of=value["of"])

    def to_json(self) -> dict[str, Any]:
        return {"place": self.place, "words": self.words, "at": self.at, "of": self.of}

    @property
    def shown(self) -> str:
        """The line with a star for each moving piece."""
        return MOVING.join(self.words)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the lines that look like it."""
        return re.compile(f"(?:{_PIECE.pattern})".join(map(re.escape, self.words)))


def quiet(lines: Sequence[str], rules: Sequence[Rule]) -> list[str]:
    """The lines, with a star in the place of what is known to move."""
    found = list(lines)
    for words in {rule.words: rule for rule in rules}.values():
        alike = [at for at, line in enumerate(lines) if words.pattern.fullmatch(line) is not None]
        for rule in rules if alike else ():
            if rule.words != words.words:
                continue
            there = [at for at in alike if _place(lines, at) == rule.place]
            if len(there) == rule.of:
                found[there[rule.at]] = rule.shown
    return found


def differing(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines of the two are not the same."""
    same = sum(size for _, _, size in matches(old, new))
    return max(len(old), len(new)) - same


def moving(stored: Sequence[str], first: Sequence[str], second: Sequence[str]) -> list[Rule]:
    """What differs in each of the three readings in numbers, times or hexadecimal alone.

    `first` and `second` are of one session.
    """
    before = dict(_replaced(first, stored))
    rules = []
    for at, again in _replaced(first, second):
        if at in before:
            words = _moving_words(stored[before[at]], first[at], second[again])
            if words is not None and _place(stored, before[at]) == _place(first, at) == _place(second, again):
                rules.append(_rule(words, first, at))
    return rules


def _rule(words: tuple[str, ...], lines: Sequence[str], at: int) -> Rule:
    place = _place(lines, at)
    pattern = Rule(place=place, words=words, at=0, of=1).pattern
    alike = [
        number
        for number, line in enumerate(lines)
        if pattern.fullmatch(line) is not None and _place(lines, number) == place
    ]
    return Rule(place=place, words=words, at=alike.index(at), of=len(alike))


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Positions of lines in both that differ and stand at the same place, by the words around them."""
    a = b = 0
    for next_a, next_b, size in chain(matches(old, new), [(len(old), len(new), 0)]):
        if next_a - a == next_b - b:  # otherwise lines came or went
            yield from zip(range(a, next_a), range(b, next_b), strict=True)
        a, b = next_a + size, next_b + size


def _moving_words(*lines: str) -> tuple[str, ...] | None:
    """The words around what differs in each of the lines, None where anything else differs."""
    split = [_split(line) for line in lines]
    words = split[0][0]
    if any(other != words for other, _ in split[1:]):
        return None
    kept, moves = words[0], []
    for number, pieces in enumerate(zip(*(found for _, found in split), strict=True)):
        if len(set(pieces)) == len(lines):
            moves.append(kept)
            kept = words[number + 1]
        elif pieces[1] == pieces[2]:
            kept += pieces[1] + words[number + 1]
        else:
            return None  # it moves in the session but came back to what it was: not known well enough
    return (*moves, kept) if moves else None


def _split(line: str) -> tuple[list[str], list[str]]:
    """The words, and the pieces that may move between them."""
    words, pieces, end = [], [], 0
    for piece in _PIECE.finditer(line):
        words.append(line[end : piece.start()])
        pieces.append(piece[0])
        end = piece.end()
    return [*words, line[end:]], pieces


def _place(lines: Sequence[str], at: int) -> tuple[str, ...]:
    """The lines that this one is indented under, the outermost first."""
    above: list[str] = []
    depth = _depth(lines[at])
    while depth and at and len(above) < _DEPTH:
        at -= 1
        if lines[at].strip() and _depth(lines[at]) < depth:
            above.insert(0, lines[at])
            depth = _depth(lines[at])
    return tuple(above)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
