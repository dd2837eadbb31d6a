"""A text of a device as a page shows it: with numbers of lines to link to, and its sections. Pure.

A page has a bounded number of elements however long the text is: all of it is one element, and beyond so many
lines only some of their numbers are anchors (the script of the page finds the others).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netautod.network.configs.texts.sections import SEPARATORS

MOST_LINES = 20_000  # of one page, and of its characters:
MOST_CHARACTERS = 1 << 20
MOST_ANCHORS = 1_500
MOST_SECTIONS = 250
LONGEST_NAME = 80  # characters of a section's first line


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """A line that can be linked to by itself; `rest` are the numbers up to the next one, one on each line."""

    line: int
    rest: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """A line at the left with others that belong to it: `interface Gi0/1`."""

    line: int
    name: str


@dataclass(frozen=True, kw_only=True)
class NumberedText:
    """The lines `first` to `last` of `total`; `before` and `after` are lines of the neighboring pieces."""

    text: str
    first: int
    last: int
    total: int
    anchors: Sequence[Anchor]
    sections: Sequence[Section]
    before: int | None
    after: int | None


def numbered(text: str, *, line: int = 1) -> NumberedText:
    """Return the piece that holds the line, with an anchor for it; the last piece if there is no
    such line.
    """
    lines = text.removesuffix("\n").split("\n")
    starts = list(_starts(lines))
    piece = next(number for number, start in reversed([*enumerate(starts)]) if start < max(1, line))
    first, end = starts[piece], starts[piece + 1] if piece + 1 < len(starts) else len(lines)
    shown = [_visible(one) for one in lines[first:end]]
    return NumberedText(
        text="\n".join(shown),
        first=first + 1,
        last=end,
        total=len(lines),
        anchors=list(_anchors(first + 1, end, line)),
        sections=list(_sections(shown, first + 1)),
        before=starts[piece - 1] + 1 if piece else None,
        after=end + 1 if end < len(lines) else None,
    )


def _starts(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of the lines at which the pieces of the text begin."""
    count = characters = 0
    yield 0
    for at, line in enumerate(lines):
        if count and (count >= MOST_LINES or characters + len(line) > MOST_CHARACTERS):
            yield at
            count = characters = 0
        count += 1
        characters += len(line) + 1


def _visible(line: str) -> str:
    """Return the line with a symbol for each carriage return.

    HTML would make a line break of it, and the numbers would no longer stand at their lines.
    """
    return line.removesuffix("\r").replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")


def _anchors(first: int, last: int, wanted: int) -> Iterator[Anchor]:
    step = -(-(last - first + 1) // MOST_ANCHORS)
    places = sorted({*range(first, last + 1, step), *([wanted] if first <= wanted <= last else [])})
    for place, following in zip(places, [*places[1:], last + 1], strict=True):
        rest = "".join(f"\n{number}" for number in range(place + 1, following))
        yield Anchor(line=place, rest=f"{rest}\n")


def _sections(lines: Sequence[str], first: int) -> Iterator[Section]:
    head: int | None = None
    found = 0
    for at, line in enumerate(lines):
        if not line.strip() or line.strip() in SEPARATORS:
            continue
        if line[0] not in " \t":
            head = at
        elif head is not None and found < MOST_SECTIONS:
            yield Section(line=first + head, name=lines[head][:LONGEST_NAME])
            head, found = None, found + 1
