"""Neighbors that the inventory does not know: which of them are one and the same device. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from netautod.core.loop.pace import Pace
from netautod.network.discovery.topology.names import address_key, chassis_key, host_name


@dataclass(kw_only=True)
class Stranger:
    """An unknown neighbor: one node; the first device that says something about it counts."""

    id: str
    name: str | None = None
    platform: str | None = None
    mgmt_address: str | None = None
    facts: list[int] = field(default_factory=list)


@dataclass(kw_only=True)
class _Facts:
    """The facts that each neighbor sends of itself, in the forms that are compared."""

    chassis: list[str | None] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    addresses: list[str | None] = field(default_factory=list)

    def add(self, neighbor: Mapping[str, Any]) -> None:
        self.chassis.append(chassis_key(neighbor["remote_chassis_id"]))
        self.names.append(host_name(neighbor["remote_system_name"]))
        self.addresses.append(address_key(neighbor["remote_mgmt_address"]))


async def strangers_of(
    reports: Sequence[tuple[str, Mapping[str, Any]]], *, org_id: str, pace: Pace
) -> tuple[list[Stranger], list[int]]:
    """Return the unknown neighbors, and for each neighbor (with the id of the device that heard it) the place
    of its own.

    Neighbors with one chassis id are one. A name or an address adds those without a chassis id to the one
    that has it, if there is just one: two chassis ids under one name are two devices, and so are two names at
    one address, which many have been given by their factory. A neighbor without any of them is identified
    by the device that heard it and the place. There are as many of them as phones, so other tasks may run
    in between.
    """
    facts = _Facts()
    for _, neighbor in reports:
        facts.add(neighbor)
        await pace.breathe()
    groups = _Groups(len(reports), pace)
    await groups.join_by(facts.chassis)
    await groups.join_unless_contradicted(facts.names, [facts.chassis])
    await groups.join_unless_contradicted(facts.addresses, [facts.chassis, facts.names])
    found: dict[int, Stranger] = {}
    for place, (_, neighbor) in enumerate(reports):
        stranger = found.setdefault(groups.root(place), Stranger(id=""))
        stranger.facts.append(place)
        stranger.name = stranger.name or neighbor["remote_system_name"]
        stranger.platform = stranger.platform or neighbor["remote_platform"]
        stranger.mgmt_address = stranger.mgmt_address or neighbor["remote_mgmt_address"]
        await pace.breathe()
    places = [0] * len(reports)
    for number, stranger in enumerate(found.values()):
        stranger.id = str(uuid5(NAMESPACE_URL, f"{org_id}/{_identity(stranger, reports, facts)}"))
        for place in stranger.facts:
            places[place] = number
        await pace.breathe()
    return list(found.values()), places


def _identity(stranger: Stranger, reports: Sequence[tuple[str, Mapping[str, Any]]], facts: _Facts) -> str:
    """Return an identity that is the same at the next poll: the least of what is known for sure."""
    for kind, keys in (("chassis", facts.chassis), ("name", facts.names), ("address", facts.addresses)):
        known = [key for place in stranger.facts if (key := keys[place]) is not None]
        if known:
            return f"{kind}/{min(known)}"
    device_id, neighbor = reports[stranger.facts[0]]
    return f"port/{device_id}/{neighbor['local_interface']}/{neighbor['remote_port']}"


class _Groups:
    """A union-find of places; each step is small."""

    def __init__(self, count: int, pace: Pace) -> None:
        self._parents = list(range(count))
        self._pace = pace

    def root(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]
            place = self._parents[place]
        return place

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parents[second] = first

    async def join_by(self, keys: Sequence[str | None]) -> None:
        seen: dict[str, int] = {}
        for place, key in enumerate(keys):
            if key is not None:
                self.join(seen.setdefault(key, place), place)
            await self._pace.breathe()

    async def join_unless_contradicted(
        self, keys: Sequence[str | None], others: Sequence[Sequence[str | None]]
    ) -> None:
        """Join the groups with one key.

        Where several of them have one of the other things that they could be known by, they are different
        ones, and only those that have none of these are joined.
        """
        known: list[set[int]] = [set() for _ in others]
        by_key: dict[str, list[int]] = {}
        for place, key in enumerate(keys):
            for roots, other in zip(known, others, strict=True):
                if other[place] is not None:
                    roots.add(self.root(place))
            if key is not None:
                by_key.setdefault(key, []).append(place)
            await self._pace.breathe()
        for places in by_key.values():
            # Looked up only now: the key before may have joined some of them.
            groups = {self.root(place) for place in places}
            if any(len(roots & groups) > 1 for roots in known):
                groups = groups.difference(*known)
            for root in groups:
                self.join(min(groups), root)
            for roots in known:
                if roots & groups:
                    roots.add(min(groups))
            await self._pace.breathe()
