"""The installed pages of the manual: found by name, searched by words, in the order of the index."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

from netautod.manual.page import Page, Section, plain

INDEX = "index"
_SUFFIX = ".md"
_PICTURES = "pictures"
_LINK_TO_PAGE = re.compile(r"\]\(([\w/-]+)\.md\)")
_MOST_WORDS = 10
_EXCERPT = 160  # characters


@dataclass(frozen=True, kw_only=True)
class Match:
    """A section that has all the words of a search, and the line in which the first of them stands."""

    page: Page
    section: Section
    excerpt: str
    in_heading: bool


class Manual:
    """The pages below a folder. Each is read when it is first needed and then kept."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder

    @classmethod
    def installed(cls) -> "Manual":
        return cls(files("netautod.manual"))

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Return the pages by name in the order of the index; one that the index does not name comes last."""
        found = {name: Page(name, text) for name, text in sorted(_texts(self._folder, ""))}
        order = [INDEX, *_LINK_TO_PAGE.findall(found[INDEX].text)] if INDEX in found else []
        names = [name for name in dict.fromkeys([*order, *found]) if name in found]
        return {name: found[name] for name in names}

    def named(self, topic: str) -> list[Page]:
        """Return the pages with this name: `operate/upgrade`, or `upgrade` in whatever folders it stands."""
        wanted = topic.strip().lower().removesuffix(_SUFFIX)
        if wanted in self.pages:
            return [self.pages[wanted]]
        return [page for name, page in self.pages.items() if name.rpartition("/")[2] == wanted]

    def picture(self, name: str) -> bytes | None:
        """Return a file of the folder of pictures; None if there is none of this name."""
        folder = self._folder.joinpath(_PICTURES)
        names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        return folder.joinpath(name).read_bytes() if name in names else None

    def neighbors(self, page: Page) -> tuple[Page | None, Page | None]:
        """Return the page before this one and the page after it."""
        listed = list(self.pages.values())
        at = listed.index(page)
        return listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None

    def search(self, query: str) -> list[Match]:
        """Return the sections that have all the words, those with all of them in the heading first.

        The index is left out: it names everything.
        """
        words = query.casefold().split()[:_MOST_WORDS]
        if not words:
            return []
        found = [
            match for name, page in self.pages.items() if name != INDEX for match in _matches(page, words)
        ]
        return sorted(found, key=lambda match: not match.in_heading)

    def nearest(self, topic: str) -> list[Page]:
        """Return up to three pages whose names or titles resemble the topic most."""
        pages = self.pages
        keys = {key: page for name, page in pages.items() for key in (name, name.rpartition("/")[2])}
        keys |= {word: page for page in pages.values() for word in page.title.casefold().split()}
        close = get_close_matches(topic.casefold(), keys, n=6, cutoff=0.5)
        return list(dict.fromkeys(keys[key] for key in close))[:3]


def _texts(folder: Traversable, before: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.name.endswith(_SUFFIX):
            yield before + entry.name.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")
        elif entry.is_dir():
            yield from _texts(entry, f"{before}{entry.name}/")


def _matches(page: Page, words: Sequence[str]) -> Iterator[Match]:
    for section in page.sections:
        heading, text = section.heading.casefold(), section.text.casefold()
        if all(word in text for word in words):
            in_heading = all(word in heading for word in words)
            yield Match(
                page=page, section=section, excerpt=_excerpt(section.text, words), in_heading=in_heading
            )


def _excerpt(text: str, words: Sequence[str]) -> str:
    """Return the first line below the heading that has one of the words, or the first of all, shortened."""
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.startswith("```")]
    found = [line for line in lines if any(word in line.casefold() for word in words)]
    cells = plain(next(iter(found or lines), "").lstrip("*- ")).split("|")
    line = "; ".join(cell.strip() for cell in cells if cell.strip())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 3]}..."
