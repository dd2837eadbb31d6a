"""Entity tags (RFC 9110, 8.8.3), and the lists of them that If-Match and If-None-Match carry."""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from netautod.core.errors import InvalidInput

# etagc: every visible character but the quote, and obs-text, which a header shows as Latin-1.
_TAG = re.compile(r'(W/)?("[!\x23-\x7e\x80-\xff]*")')
_BLANKS = re.compile(r"[ \t]*")
WEAK = "W/"
TAG_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class EntityTags:
    """The tags that a header lists, with their quotes. `every`: the header is `*`."""

    every: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    def match_strongly(self, tag: str) -> bool:
        """Return whether the tag matches If-Match: a weak tag on either side is no match."""
        return self.every or tag in self.strong

    def match_weakly(self, tag: str) -> bool:
        """Return whether the tag matches If-None-Match."""
        opaque = tag.removeprefix(WEAK)
        return self.every or opaque in self.strong or opaque in self.weak


EVERY = EntityTags(every=True)


def listed_tags(header: str, text: str) -> EntityTags:
    """Return the tags of a header's value; several lines of it are joined by commas. Raises InvalidInput.

    It takes one walk along the text, however long: each step goes over a tag, a comma or blanks.
    """
    if text.strip(" \t") == "*":
        return EVERY
    found: dict[str | None, set[str]] = {None: set(), WEAK: set()}
    at = 0
    while at < len(text):
        at = _after_blanks(text, at)
        tag = _TAG.match(text, at)
        if tag is not None:
            found[tag[1]].add(tag[2])
            at = _after_blanks(text, tag.end())
        if at < len(text):
            if text[at] != ",":
                raise _malformed(header)
            at += 1
    if not found[None] and not found[WEAK]:
        raise _malformed(header)
    return EntityTags(strong=frozenset(found[None]), weak=frozenset(found[WEAK]))


def tag_of(parts: Iterable[bytes]) -> str:
    """Return the strong tag of a representation: it follows from the bytes, and so is the same on
    all nodes.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return tag_with(digest.digest())


def tag_with(digest: bytes) -> str:
    return f'"{base64.urlsafe_b64encode(digest[:TAG_BYTES]).rstrip(b"=").decode()}"'


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def _malformed(header: str) -> InvalidInput:
    return InvalidInput(f'{header}: must be * or a list of entity tags such as "abc", in quotes')
