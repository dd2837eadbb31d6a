"""Eviction when all connections are in use: of the longest idle one where most are held."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

M = TypeVar("M", bound=Hashable)


@dataclass
class _Group(Generic[M]):
    members: set[M] = field(default_factory=set)
    # The longest idle first.
    idle: dict[M, None] = field(default_factory=dict)


class ConnectionTable(Generic[M]):
    """A table of all connections by the address that holds them; no step takes longer because there
    are many.
    """

    def __init__(self, *, most_apart: int = 0) -> None:
        self._most_apart = most_apart
        self._group_of: dict[M, str | None] = {}
        self._groups: dict[str, _Group[M]] = {}
        # Groups by how many they hold; of equal ones the first is the one that has held so many longest.
        self._by_size: dict[int, dict[str, None]] = {}
        self._apart: set[M] = set()

    def __len__(self) -> int:
        """Return the number of connections without those that are set apart."""
        return len(self._group_of) - len(self._apart)

    def all(self) -> list[M]:
        return list(self._group_of)

    def add(self, member: M, group: str | None) -> None:
        """Add an idle connection. Without a group it is never evicted."""
        self._group_of[member] = group
        if group is None:
            return
        found = self._groups.setdefault(group, _Group())
        self._resize(group, len(found.members), len(found.members) + 1)
        found.members.add(member)
        found.idle[member] = None

    def set_apart(self, member: M, *, apart: bool) -> None:
        """Stop or start counting a connection. Streams are set apart, at most `most_apart`, since they have a
        limit of their own.
        """
        if apart and member in self._group_of and len(self._apart) < self._most_apart:
            self._apart.add(member)
        else:
            self._apart.discard(member)

    def remove(self, member: M) -> None:
        self._apart.discard(member)
        group = self._group_of.pop(member, None)
        if group is None:
            return
        found = self._groups[group]
        self._resize(group, len(found.members), len(found.members) - 1)
        found.members.discard(member)
        found.idle.pop(member, None)
        if not found.members:
            del self._groups[group]

    def busy(self, member: M) -> None:
        """Mark a connection as busy: it has a request in work, and so is not evicted."""
        if (group := self._group_of.get(member)) is not None:
            self._groups[group].idle.pop(member, None)

    def idle(self, member: M) -> None:
        """Mark a connection as idle from now on: it has sent something, and nothing of it is in work."""
        if (group := self._group_of.get(member)) is not None:
            idle = self._groups[group].idle
            idle.pop(member, None)
            idle[member] = None

    def candidate(self) -> M | None:
        """Return the connection to evict for a new one; None if all are busy or exempt."""
        for size in sorted(self._by_size, reverse=True):
            for group in self._by_size[size]:
                idle = self._groups[group].idle
                if idle:
                    return next(iter(idle))
        return None

    def _resize(self, group: str, before: int, after: int) -> None:
        if before:
            del self._by_size[before][group]
            if not self._by_size[before]:
                del self._by_size[before]
        if after:
            self._by_size.setdefault(after, {})[group] = None
