"""Words that have a device run commands later: on a timer, an event, a login."""

import re
from dataclasses import dataclass

from netautod.core.errors import InvalidInput

_ENTRY = re.compile(r"([a-z0-9_.-]+)(?:\[([a-z0-9_.-]+)\])?")


@dataclass(frozen=True, kw_only=True)
class Never:
    """A word that no line may have, and the shortest abbreviation by which a device understands it."""

    word: str
    shortest: str

    def is_meant(self, word: str) -> bool:
        low = word.strip().lower()
        return low.startswith(self.shortest) and self.word.startswith(low)


def read_never(entry: str) -> Never:
    """Parse `autoc[ommand]`: what stands in the brackets may be missing, as a whole or from its end."""
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise InvalidInput(f"{entry!r} is no word in lower case with its optional letters in brackets")
    return Never(word=found[1] + (found[2] or ""), shortest=found[1])
