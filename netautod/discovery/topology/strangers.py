"""Neighbors that the inventory does not know: which of them are one and the same device. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from netautod.discovery.topology.names import chassis_key, host_name


@dataclass(kw_only=True)
class Stranger:
    """One node; the first who says something about it counts."""

    id: str
    name: str | None = None
    platform: str | None = None
    mgmt_address: str | None = None
    said: list[int] = field(default_factory=list)


def strangers_of(
    heard: Sequence[tuple[str, Mapping[str, Any]]], *, org_id: str
) -> tuple[list[Stranger], list[int]]:
    """The strangers, and for each neighbor (with the id of the device that heard it) the place of its own.

    Neighbors with one chassis id are one. A name or an address adds those without a chassis id to the one
    that has it, if there is just one: two chassis ids under one name are two devices. What has neither is
    nobody else's: it is told apart by who heard it and where.
    """
    groups = _Groups(len(heard))
    chassis = [chassis_key(neighbor["remote_chassis_id"]) for _, neighbor in heard]
    groups.join_by(chassis)
    for keys in (
        [host_name(neighbor["remote_system_name"]) for _, neighbor in heard],
        [neighbor["remote_mgmt_address"] for _, neighbor in heard],
    ):
        groups.join_unless_contradicted(keys, chassis)
    found: dict[int, Stranger] = {}
    for place, (_, neighbor) in enumerate(heard):
        root = groups.root(place)
        if root not in found:
            found[root] = Stranger(id="")
        stranger = found[root]
        stranger.said.append(place)
        stranger.name = stranger.name or neighbor["remote_system_name"]
        stranger.platform = stranger.platform or neighbor["remote_platform"]
        stranger.mgmt_address = stranger.mgmt_address or neighbor["remote_mgmt_address"]
    order = {root: number for number, root in enumerate(found)}
    for stranger in found.values():
        stranger.id = str(uuid5(NAMESPACE_URL, f"{org_id}/{_identity(stranger, heard)}"))
    return list(found.values()), [order[groups.root(place)] for place in range(len(heard))]


def _identity(stranger: Stranger, heard: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The same again at the next poll: the least of what is known for sure."""
    said = [heard[place] for place in stranger.said]
    for kind, keys in (
        ("chassis", [chassis_key(neighbor["remote_chassis_id"]) for _, neighbor in said]),
        ("name", [host_name(neighbor["remote_system_name"]) for _, neighbor in said]),
        ("address", [neighbor["remote_mgmt_address"] for _, neighbor in said]),
    ):
        known = sorted(key for key in keys if key is not None)
        if known:
            return f"{kind}/{known[0]}"
    device_id, neighbor = said[0]
    return f"port/{device_id}/{neighbor['local_interface']}/{neighbor['remote_port']}"


class _Groups:
    """A union-find of places."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def root(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]
            place = self._parents[place]
        return place

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parents[second] = first

    def join_by(self, keys: Sequence[str | None]) -> None:
        seen: dict[str, int] = {}
        for place, key in enumerate(keys):
            if key is not None:
                self.join(seen.setdefault(key, place), place)

    def join_unless_contradicted(self, keys: Sequence[str | None], chassis: Sequence[str | None]) -> None:
        """Joins groups with one key, unless they have different chassis ids between them."""
        known: dict[int, set[str]] = {}
        for place, key in enumerate(chassis):
            if key is not None:
                known.setdefault(self.root(place), set()).add(key)
        by_key: dict[str, list[int]] = {}
        for place, key in enumerate(keys):
            if key is not None:
                by_key.setdefault(key, []).append(place)
        for places in by_key.values():
            roots = list(dict.fromkeys(self.root(place) for place in places))
            named = [root for root in roots if known.get(root)]
            bare = [root for root in roots if not known.get(root)]
            for root in bare[1:]:
                self.join(bare[0], root)
            if len(named) == 1 and bare:
                kept = known.pop(named[0])
                self.join(named[0], bare[0])
                known[self.root(named[0])] = kept
