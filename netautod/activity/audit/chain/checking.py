"""The check of a chain, event by event: which one was changed, is missing, or does not belong there. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.activity.audit.chain.links import Link, hash_of

SHOWN = 20


@dataclass(kw_only=True)
class ChainCheck:
    """A check that gets the events of a chain in the order of their numbers, from behind `last` on.

    After a fault it continues from what the event claims, so that one fault is reported once.
    """

    last: Link
    events: int = 0
    faults: int = 0
    sentences: list[str] = field(default_factory=list)
    """The first faults, in their order."""

    def follows(self, seq: int) -> bool:
        return seq == self.last.seq + 1

    def begin_again(self, last: Link) -> None:
        """Continue from a later link: retention has deleted what lies before it."""
        self.last = last

    def take(self, line: Mapping[str, Any]) -> None:
        """Check one event, in the form that an export has."""
        self.events += 1
        seq = line["seq"]
        if seq > self.last.seq + 1:
            self.add(_missing(self.last.seq + 1, seq - 1))
        elif seq <= self.last.seq:
            self.add(f"event {seq} comes after event {self.last.seq}: one was inserted or moved")
        elif line["prev"] != self.last.hash:
            self.add(f"event {seq} does not follow event {self.last.seq}: one of them was replaced")
        if hash_of(line) != line["hash"]:
            self.add(f"event {seq} ({line['action']}) was changed")
        self.last = Link(seq=seq, hash=line["hash"])

    def take_unreadable(self, seq: int) -> None:
        self.events += 1
        self.add(f"event {seq} was changed: it cannot be read")
        self.last = Link(seq=seq, hash="")

    def end(self, head: Link) -> None:
        """Compare the last event with `head`, the newest event as it is noted beside the chain; it may be
        behind.
        """
        if head.seq > self.last.seq:
            self.add(_missing(self.last.seq + 1, head.seq) + " from the end")
        elif head.seq == self.last.seq and head.hash != self.last.hash:
            self.add(f"event {head.seq} is another than the one that was noted as the newest")

    def add(self, sentence: str) -> None:
        self.faults += 1
        if len(self.sentences) < SHOWN:
            self.sentences.append(sentence)


def _missing(first: int, last: int) -> str:
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"
