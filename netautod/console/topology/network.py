"""The part of a network that is shown: around a device, of a site, or all of it. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from netautod.network.discovery.models import Row, Topology

MOST_NODES = 300
UNNAMED = "(no name)"
_DIGITS = re.compile(r"([0-9]+)")


Natural = tuple[str | int, ...]


def natural(name: str) -> Natural:
    """Return a sort key with numbers by their value, so that port 2 comes before port 10."""
    parts = _DIGITS.split(name.casefold())
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts))


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of the network; `device_id` is None for a neighbor that the inventory does not know."""

    id: str
    device_id: str | None
    name: str
    details: str = ""

    @cached_property
    def order(self) -> tuple[bool, Natural, str]:
        """Return the sort key: devices first, then by name."""
        return self.device_id is None, natural(self.name), self.id


@dataclass(frozen=True, kw_only=True)
class Cable:
    """A link with the names of its ports."""

    a: Node
    a_port: str
    b: Node
    b_port: str
    source: str
    seen_at: datetime


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The nodes and cables that are shown; `found` counts all that match, also those left out."""

    nodes: Sequence[Node]
    cables: Sequence[Cable]
    found: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """The requested part.

    `around` and `within` are ids of devices; without both it is the whole network. `known_only` leaves out
    neighbors that the inventory does not know.
    """

    around: str | None = None
    hops: int = 2
    within: Collection[str] | None = None
    known_only: bool = False


@dataclass(kw_only=True)
class _Network:
    nodes: Mapping[str, Node]
    cables: Sequence[Cable]
    beside: Mapping[str, Sequence[str]] = field(init=False)

    def __post_init__(self) -> None:
        found: dict[str, dict[str, None]] = {}
        for cable in self.cables:
            found.setdefault(cable.a.id, {})[cable.b.id] = None
            found.setdefault(cable.b.id, {})[cable.a.id] = None
        self.beside = {
            node: sorted(others, key=lambda one: self.nodes[one].order) for node, others in found.items()
        }

    def around(self, start: str, hops: int) -> list[str]:
        """Return the nodes within `hops` of the start, nearest first."""
        found, ring = {start: None}, [start]
        for _ in range(hops):
            ring = self._outside(ring, found)
            found |= dict.fromkeys(ring)
        return list(found)

    def within(self, devices: Iterable[str]) -> list[str]:
        """Return these devices, then the nodes that they are connected with."""
        inside = sorted((one for one in devices if one in self.nodes), key=lambda one: self.nodes[one].order)
        return [*inside, *self._outside(inside, dict.fromkeys(inside))]

    def _outside(self, ring: Iterable[str], known: Collection[str]) -> list[str]:
        beside = {other for one in ring for other in self.beside.get(one, ()) if other not in known}
        return sorted(beside, key=lambda one: self.nodes[one].order)


def part_of(topology: Topology, part: Part) -> Shown:
    """Select at most 300 nodes, the nearest ones; of a larger whole network no nodes, but all cables."""
    network = _read(topology, known_only=part.known_only)
    if part.around is not None:
        ids = network.around(part.around, part.hops) if part.around in network.nodes else []
    elif part.within is not None:
        ids = network.within(part.within)
    else:
        ids = sorted(network.nodes, key=lambda one: network.nodes[one].order)
        if len(ids) > MOST_NODES:
            return Shown(nodes=(), cables=network.cables, found=len(ids))
    selected = dict.fromkeys(ids[:MOST_NODES])
    return Shown(
        nodes=[network.nodes[one] for one in selected],
        cables=[cable for cable in network.cables if cable.a.id in selected and cable.b.id in selected],
        found=len(ids),
    )


def _read(topology: Topology, *, known_only: bool) -> _Network:
    rows = (row for row in topology.nodes if not known_only or row["device_id"] is not None)
    nodes = {row["id"]: _node(row) for row in rows}
    cables = [
        _cable(row, nodes)
        for row in topology.links
        if row["a"]["node"] in nodes and row["b"]["node"] in nodes
    ]
    cables.sort(key=lambda one: (one.a.order, natural(one.a_port), one.b.order, natural(one.b_port)))
    return _Network(nodes=nodes, cables=cables)


def _node(row: Row) -> Node:
    details = [text for text in (row["platform"], row["mgmt_address"]) if text]
    name = row["name"] or row["mgmt_address"] or UNNAMED
    return Node(id=row["id"], device_id=row["device_id"], name=name, details=", ".join(details))


def _cable(row: Row, nodes: Mapping[str, Node]) -> Cable:
    """Build a cable: the end with the device stands first, of two devices the one with the lesser name."""
    ends = [(nodes[row[end]["node"]], row[end]["interface"] or "") for end in ("a", "b")]
    (a, a_port), (b, b_port) = sorted(ends, key=lambda end: (end[0].order, natural(end[1])))
    return Cable(
        a=a,
        a_port=a_port,
        b=b,
        b_port=b_port,
        source=", ".join(name.upper() for name in row["protocols"]),
        seen_at=datetime.fromisoformat(row["last_seen_at"]),
    )
