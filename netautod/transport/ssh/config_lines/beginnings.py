"""The beginnings of lines: words, each of which a device may abbreviate."""

import re
from collections.abc import Iterable, Sequence

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.read_only.arguments import matches

# For each place the words that may stand there.
Beginning = tuple[tuple[str, ...], ...]

SHORTEST = 4  # letters of an abbreviation behind the first word
# Kinds of words that no command is.
_KINDS = ("number", "address", "mac", "slot")
_WORD = re.compile(rf"[a-z0-9_.*/!#-]+|<(?:{'|'.join(_KINDS)})>")
_MOST_NAMED = 12


def read_beginning(entry: str) -> Beginning:
    """Parse `clock timezone|summer-time`: words with blanks between, `|` between those of one place."""
    places = tuple(tuple(place.split("|")) for place in entry.split())
    for word in (word for place in places for word in place):
        if _WORD.fullmatch(word) is None:
            kinds = ", ".join(f"<{kind}>" for kind in _KINDS)
            raise InvalidInput(f"{word!r} of {entry!r} is neither a word in lower case nor one of {kinds}")
    if not places:
        raise InvalidInput("an entry has no word")
    return places


def begins(one: Beginning, words: Sequence[str], exact: bool) -> int:
    """Return how many of the words the beginning takes; 0 if the line does not begin so."""
    if len(words) < len(one):
        return 0
    fits = all(
        _fits(place, word, exact, 1 if at == 0 else SHORTEST)
        for at, (place, word) in enumerate(zip(one, words, strict=False))
    )
    return len(one) if fits else 0


def named(places: Iterable[Sequence[str]]) -> str:
    """Return the words of several places, for a reason."""
    found = sorted({word for place in places for word in place})
    return ", ".join(found[:_MOST_NAMED]) + (", ..." if len(found) > _MOST_NAMED else "")


def _fits(place: Sequence[str], word: str, exact: bool, shortest: int) -> bool:
    low = word if exact else word.lower()
    for allowed in place:
        if allowed.startswith("<"):
            if matches(allowed[1:-1], word.rstrip(",")):
                return True
        elif low == allowed or (not exact and len(low) >= shortest and _abbreviates(low, allowed)):
            return True
    return False


def _abbreviates(word: str, allowed: str) -> bool:
    """Return whether the word may stand for `allowed`; `event` is a word of its own, not `event-history`."""
    return allowed.startswith(word) and not allowed.removeprefix(word).startswith("-")
