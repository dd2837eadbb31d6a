"""The learned noise of one device: which piece of which line moves by itself.

A platform's definition knows the noise of its kind; this finds what is left (a counter, an uptime, the dump
of a certificate). The rule is strict, since what it hides is never shown again:

* Three readings are compared: the stored one, and two of one session. A person who edits between two
  captures makes both readings of a session equal, so that an edit is never taken for noise.
* A line moves where its words are the same in all three, at the same place, and the same number, time or
  hexadecimal piece of it differs in each of the three. Only that piece is noise; the rest of the line counts.
* The place is the lines above that it is indented under, and which of the equal-looking lines there it is.
  Where their number has changed it is not known which one moves: then each of them counts.
* A line that is added or removed always counts.
* A person may edit a line between two captures and once more between the two readings. So what one session
  has shown is on trial: where both readings of the next capture show what the last one showed, it stands
  still, was edited, and is forgotten.

A time is one piece with its date, its zone and its units, so that a clock that moved by seconds is still
known on the next day.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self

from netautod.network.configs.texts.diff import matches

MOST_LINES = 20  # that differ between two readings, for a third one to be read
MOST_RULES = 500  # of a device
_DEPTH = 4
_LONGEST = 4096  # characters of a line of which anything is learned
MOVING = "*"  # stands for the moving piece where a rule is shown

# A digit must be among them, so that no word is one.
_HEX = r"(?<![0-9A-Za-z])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{2,}(?![0-9A-Za-z])"
_NUMBER = rf"(?:0x[0-9a-fA-F]+|{_HEX}|\b[0-9a-fA-F]{{8,}}\b|\d+)"
_OCTETS = r"(?<![0-9A-Za-z:-])[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){3,}(?![0-9A-Za-z])"
# One value: thousands, an address, octets. What else is joined are values by themselves: of `10:532`, a
# sequence number and its hits, only the hits move.
_VALUE = rf"\d{{1,3}}(?:,\d{{3}})+(?!\d)|{_NUMBER}(?:\.{_NUMBER})*"
_UNIT = r"(?:years?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:rs?(?:day)?)?|Fri(?:day)?|Sat(?:urday)?"
    r"|Sun(?:day)?)"
)
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)?"
_DATE = (
    rf"(?:\d{{1,4}}[-/]{_MONTH}|{_MONTH}[-/]\d{{1,2}})[-/]\d{{2,4}}"  # 23-Nov-2026, nov/23/2026
    r"|\d{4}(?:-\d\d?-|/\d\d?/|\.\d\d?\.)\d\d?|\d\d?(?:-\d\d-|/\d\d/|\.\d\d\.)\d{4}"
    r"|\d\d(?:-\d\d-|/\d\d/)\d\d"
    rf"|{_MONTH} {{1,2}}\d{{1,2}}(?:,? \d{{4}})?|\d{{1,2}} {{1,2}}{_MONTH}(?:,? \d{{4}})?"
)
_CLOCK = rf"(?:(?:\d+[ywd]){{1,3}}|\d+\.)?\d{{1,4}}:\d\d:\d\d(?:[.,]\d+)?{_ZONE}|\d{{1,3}}:\d\d"
_SPAN = rf"(?:\d+[ywdhms]){{1,6}}|\d+ {_UNIT}"
_ITEM = rf"(?:(?:{_DATE})(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?{_ZONE})?|{_CLOCK}|{_SPAN})(?![0-9A-Za-z])"
# A bare number is no item, so that the one in front of a time stands for itself: `seq 10 5 minutes`.
_MORE = rf"(?:{_ITEM}|{_DAY}\b|(?:AM|PM|UTC|GMT)\b|(?:19|20)\d\d(?![0-9A-Za-z]))"
_TIME = rf"(?<![0-9A-Za-z])(?i:(?:{_DAY},? {{1,2}})?{_ITEM}(?:,? {{1,2}}{_MORE})*)"
# Atomic: what is read as one piece in a line is one where it is looked for again, at once.
_PIECE = re.compile(rf"(?>{_OCTETS}|{_TIME}|{_VALUE})")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule about one line of a device; `words` is what stands around its moving pieces.

    `place` are the lines that it is indented under, the outermost first; it is the one with the number `at`
    of `of` lines that look like it there. `seen` is the line as the reading showed it that taught it, until
    another one has shown that it moves on.
    """

    place: tuple[str, ...]
    words: tuple[str, ...]
    at: int
    of: int
    seen: str | None = field(default=None, compare=False)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Self:
        place, words = tuple(value["place"]), tuple(value["words"])
        return cls(place=place, words=words, at=value["at"], of=value["of"], seen=value.get("seen"))

    def to_json(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "words": self.words,
            "at": self.at,
            "of": self.of,
            "seen": self.seen,
        }

    @property
    def shown(self) -> str:
        """The line with a star for each moving piece."""
        return MOVING.join(self.words)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_PIECE.pattern.join(map(re.escape, self.words)))

    def alike(self, lines: Sequence[str]) -> list[int]:
        """Return the places of the lines that look like it, wherever they stand."""
        begin, end, matches = self.words[0], self.words[-1], self._pattern.fullmatch
        return [
            at
            for at, line in enumerate(lines)
            if line.startswith(begin) and line.endswith(end) and len(line) <= _LONGEST and matches(line)
        ]


def quiet(lines: Sequence[str], rules: Sequence[Rule]) -> list[str]:
    """Return the lines with a star in the place of what is known to move."""
    found = list(lines)
    for rule, at in _located(lines, rules):
        found[at] = rule.shown
    return found


def _located(lines: Sequence[str], rules: Sequence[Rule]) -> Iterator[tuple[Rule, int]]:
    """Yield the rules that have their line here, and where; a line that others are indented under comes
    before them.
    """
    known = list(lines)
    alike: dict[tuple[str, ...], list[int]] = {}
    for rule in sorted(rules, key=lambda rule: len(rule.place)):
        if rule.words not in alike:
            alike[rule.words] = rule.alike(lines)
        there = [at for at in alike[rule.words] if _place(known, at) == rule.place]
        if len(there) == rule.of:
            known[there[rule.at]] = rule.shown
            yield rule, there[rule.at]


def on_trial(rules: Sequence[Rule], lines: Sequence[str]) -> bool:
    """Return whether a line is still what it was when a rule was learned of it."""
    return any(lines[at] == rule.seen for rule, at in _located(lines, rules))


def judged(
    rules: Sequence[Rule], stored: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> list[Rule]:
    """Return the rules without those whose line stood still in both readings; one that moved on is proven."""
    before, *shown = (dict(_located(lines, rules)) for lines in (stored, first, second))
    kept = []
    for rule in rules:
        seen = {
            lines[found[rule]] for lines, found in zip((first, second), shown, strict=True) if rule in found
        }
        known = {rule.seen, *([stored[before[rule]]] if rule in before else [])}
        if rule.seen is None or seen <= known - {rule.seen}:
            kept.append(rule)
        elif not seen <= known:
            kept.append(replace(rule, seen=None))
    return kept


def differing(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the lines of the two that are not the same."""
    same = sum(size for _, _, size in matches(old, new))
    return max(len(old), len(new)) - same


def moving(
    stored: Sequence[str], first: Sequence[str], second: Sequence[str], *, known: Sequence[Rule] = ()
) -> list[Rule]:
    """Return new rules for what differs in each of the three readings in numbers, times or hexadecimal alone.

    `first` and `second` are of one session.
    """
    rules: list[Rule] = []
    for _ in range(_DEPTH):  # once a line is known, those that are indented under it stand at one place
        readings = [_Reading(lines, quiet(lines, (*known, *rules))) for lines in (stored, first, second)]
        found = [rule for rule in _moving(*readings) if rule not in rules]
        if not found:
            break
        rules += found
    return rules


class _Reading(NamedTuple):
    lines: Sequence[str]
    quiet: Sequence[str]


def _moving(stored: _Reading, first: _Reading, second: _Reading) -> Iterator[Rule]:
    before = dict(_replaced(first.quiet, stored.quiet))
    for at, again in _replaced(first.quiet, second.quiet):
        if at not in before:
            continue
        three = ((stored, before[at]), (first, at), (second, again))
        words = _moving_words(*(reading.lines[number] for reading, number in three))
        if words is not None and len({_place(reading.quiet, number) for reading, number in three}) == 1:
            yield _rule(words, first, at, second.lines[again])


def _rule(words: tuple[str, ...], reading: _Reading, at: int, seen: str) -> Rule:
    place = _place(reading.quiet, at)
    rule = Rule(place=place, words=words, at=0, of=1, seen=seen)
    alike = [number for number in rule.alike(reading.lines) if _place(reading.quiet, number) == place]
    return replace(rule, at=alike.index(at), of=len(alike))


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield positions of lines in both that differ and stand at the same place, by the words around them."""
    a = b = 0
    for next_a, next_b, size in chain(matches(old, new), [(len(old), len(new), 0)]):
        if next_a - a == next_b - b:  # otherwise lines came or went
            yield from zip(range(a, next_a), range(b, next_b), strict=True)
        a, b = next_a + size, next_b + size


def _moving_words(*lines: str) -> tuple[str, ...] | None:
    """Return the words around what differs in each of the lines, None where anything else differs."""
    if max(map(len, lines)) > _LONGEST:
        return None
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
    """Split a line into the words, and the pieces that may move between them."""
    words, pieces, end = [], [], 0
    for piece in _PIECE.finditer(line):
        words.append(line[end : piece.start()])
        pieces.append(piece[0])
        end = piece.end()
    return [*words, line[end:]], pieces


def _place(lines: Sequence[str], at: int) -> tuple[str, ...]:
    """Return the lines that this one is indented under, the outermost first."""
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
