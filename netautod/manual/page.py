"""One page of the manual: its headings, their anchors and the sections between them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"(#{1,6}) +(.+?)[ #]*$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]")
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def plain(text: str) -> str:
    """Return a line without the marks of Markdown; links become their texts."""
    return _MARKS.sub("", _LINK.sub(r"\1", text))


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading and what stands under it, up to the next heading of any level.

    `heading` is plain text. `anchor` is the id of the heading, formed as GitHub forms it, so that a link with
    `#` works in the console, on GitHub and in an editor. `text` begins with the line of the heading.
    """

    level: int
    heading: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Page:
    """A page by its name, such as `operate/upgrade`, and its Markdown."""

    name: str
    text: str

    @property
    def title(self) -> str:
        return self.sections[0].heading

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return the sections in order. The page begins with its only heading of level one."""
        parts = list(_split(self.text))
        taken: Counter[str] = Counter()
        return tuple(_section(lines, taken) for lines in parts if _HEADING.match(lines[0]))

    def section_text(self, section: Section) -> str:
        """Return the text of a section with the sections below it."""
        found, at = [section.text], self.sections.index(section)
        for later in self.sections[at + 1 :]:
            if later.level <= section.level:
                break
            found.append(later.text)
        return "".join(found)


def _split(text: str) -> Iterator[list[str]]:
    """Yield the lines of each section. A `#` in a fenced block is a comment, not a heading."""
    lines, fenced = list[str](), False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
        if lines and not fenced and _HEADING.match(line):
            yield lines
            lines = []
        lines.append(line)
    if lines:
        yield lines


def _section(lines: list[str], taken: Counter[str]) -> Section:
    """Build a section; `taken` counts the anchors before it on the page, since equal ones get a number."""
    found = _HEADING.match(lines[0])
    assert found is not None
    heading = plain(found[2])
    anchor = _NOT_IN_ANCHORS.sub("", heading.lower()).strip().replace(" ", "-")
    earlier = taken[anchor]
    taken[anchor] += 1
    return Section(
        level=len(found[1]),
        heading=heading,
        anchor=f"{anchor}-{earlier}" if earlier else anchor,
        text="".join(lines),
    )
