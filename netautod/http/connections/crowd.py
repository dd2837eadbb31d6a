"""Who gives way when all connections are in use: the one that is silent longest where most are held."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

M = TypeVar("M", bound=Hashable)


@dataclass
class _Group(Generic[M]):
    members: set[M] = field(default_factory=set)
    # In the order in which they fell silent, the longest first.
    silent: dict[M, None] = field(default_factory=dict)


class Crowd(Generic[M]):
    """All connections by the address that holds them; no step takes longer because there are many."""

    def __init__(self) -> None:
        self._group_of: dict[M, str | None] = {}
        self._groups: dict[str, _Group[M]] = {}
        # Groups by how many they hold; of equal ones the first is the one that has held so many longest.
        self._by_size: dict[int, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._group_of)

    def everybody(self) -> list[M]:
        return list(self._group_of)

    def enter(self, member: M, group: str | None) -> None:
        """Comes in silent. Without a group it never gives way."""
        self._group_of[member] = group
        if group is None:
            return
        found = self._groups.setdefault(group, _Group())
        self._resize(group, len(found.members), len(found.members) + 1)
        found.members.add(member)
        found.silent[member] = None

    def leave(self, member: M) -> None:
        group = self._group_of.pop(member, None)
        if group is None:
            return
        found = self._groups[group]
        self._resize(group, len(found.members), len(found.members) - 1)
        found.members.discard(member)
        found.silent.pop(member, None)
        if not found.members:
            del self._groups[group]

    def busy(self, member: M) -> None:
        """A request of it is in work: it does not give way."""
        if (group := self._group_of.get(member)) is not None:
            self._groups[group].silent.pop(member, None)

    def silent(self, member: M) -> None:
        """It was heard just now, and nothing of it is in work."""
        if (group := self._group_of.get(member)) is not None:
            silent = self._groups[group].silent
            silent.pop(member, None)
            silent[member] = None

    def giving_way(self) -> M | None:
        """Whose place a new connection takes; None if everybody works or is exempt."""
        for size in sorted(self._by_size, reverse=True):
            for group in self._by_size[size]:
                silent = self._groups[group].silent
                if silent:
                    return next(iter(silent))
        return None

    def _resize(self, group: str, before: int, after: int) -> None:
        if before:
            del self._by_size[before][group]
            if not self._by_size[before]:
                del self._by_size[before]
        if after:
            self._by_size.setdefault(after, {})[group] = None
