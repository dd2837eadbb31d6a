"""The links of the chain: which parts of an event are hashed, and in which form. Pure.

The hash of an event is SHA-256 over its line as JSON with sorted keys, without spaces and in ASCII; the line
holds all of the event, its number and the hash of the event before. So an export can be checked without this
program.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from netautod.activity.audit.details import plain
from netautod.activity.audit.models import AuditEvent

START_HASH = "0" * 64


@dataclass(frozen=True, kw_only=True)
class Link:
    """A place in a chain: the number of an event, from 1 on, and its hash."""

    seq: int
    hash: str


START = Link(seq=0, hash=START_HASH)


@dataclass(frozen=True, kw_only=True)
class ChainedEvent:
    """An event at its place.

    `previous` is the hash of the event before.
    """

    event: AuditEvent
    seq: int
    previous: str
    hash: str

    @property
    def link(self) -> Link:
        return Link(seq=self.seq, hash=self.hash)

    def line(self) -> dict[str, Any]:
        """Return the line that an export has of it."""
        return {**_hashed(self.event, self.seq, self.previous), "hash": self.hash}


def chained(before: Link, events: Iterable[AuditEvent]) -> list[ChainedEvent]:
    """Return the events in their order, behind that link."""
    found = []
    for event in events:
        seq, previous = before.seq + 1, before.hash
        made = hash_of(_hashed(event, seq, previous))
        found.append(ChainedEvent(event=event, seq=seq, previous=previous, hash=made))
        before = found[-1].link
    return found


def hash_of(line: Mapping[str, Any]) -> str:
    """Return the hash of a line, whether or not the line holds one already."""
    hashed = {name: value for name, value in line.items() if name != "hash"}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _hashed(event: AuditEvent, seq: int, previous: str) -> dict[str, Any]:
    # An event that is read back must have the same hash: moments have milliseconds, details are plain.
    return {
        **event.to_json(),
        "details": plain(event.details),
        "org_id": event.org_id,
        "seq": seq,
        "prev": previous,
    }
