"""The network of an organization: its devices, the strangers that they hear, and the links between them.

It is put together at each request, in small steps that let others run. Who is who is remembered for a moment:
readers of one table after the other ask for it again and again.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from typing import TypeVar

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.core.loop.pace import Pace
from netautod.core.loop.shared_reads import SharedReads
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.models import Row, Topology
from netautod.network.discovery.tables.models import DeviceTables
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.topology.directory import Directory, KnownDevice
from netautod.network.discovery.topology.links import Link, Links, PortNames, Side
from netautod.network.discovery.topology.names import address_key, chassis_key
from netautod.network.discovery.topology.unknown_neighbors import Stranger, strangers_of

T = TypeVar("T")
SORTED_AT_ONCE = 500
REMEMBERED_SECONDS = 2.0
MOST_REMEMBERED = 50  # organizations
MATCH = "remote_device_id"


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The directory of devices, and the neighbor tables that it was made from."""

    directory: Directory
    devices: Mapping[str, KnownDevice]
    tables: Sequence[DeviceTables]


@dataclass(kw_only=True, eq=False)
class Networks:
    """The networks of all organizations, as one node computes them."""

    reads: DiscoveredReads
    devices: DeviceService
    clock: Clock

    def __post_init__(self) -> None:
        # Requests that come together wait for one reading.
        self._known: SharedReads[_Known] = SharedReads(
            clock=self.clock, seconds=REMEMBERED_SECONDS, size=MOST_REMEMBERED
        )

    async def matched(self, org_id: OrgId, device_id: str, neighbors: Sequence[Row]) -> Sequence[Row]:
        """Return the neighbors of the device, each with its id as `remote_device_id` if it is a device."""
        known = await self._who(org_id)
        found = known.directory.match_all(neighbors, reporter=device_id)
        return [
            {**row, MATCH: other if other != device_id and other in known.devices else None}
            for row, other in zip(neighbors, found, strict=True)
        ]

    async def topology(self, org_id: OrgId) -> Topology:
        now = self.clock.now()
        known = await self._who(org_id)
        pace, drawing = Pace(), _Drawing(known=known, org_id=org_id)
        for device in known.tables:
            drawing.hear(device)
            await pace.breathe()
        await drawing.name_strangers(pace)
        unresolved = await drawing.add_sides(pace)
        if unresolved:
            await self._resolve(org_id, drawing, unresolved, pace)
        links = [_link_row(link) async for link in drawing.links(pace)]
        return Topology(nodes=await drawing.nodes(pace), links=links, generated_at=now)

    async def _resolve(
        self, org_id: OrgId, drawing: "_Drawing", unresolved: Sequence[str], pace: Pace
    ) -> None:
        """Read the interfaces of devices whose ports are named otherwise than in a neighbor table."""
        for device_id, rows in (await self.reads.interfaces(org_id, unresolved)).items():
            names = drawing.ports.setdefault(device_id, PortNames())
            for row in rows:
                names.add(row)
            await pace.breathe()
        await drawing.add_sides(pace)

    async def _who(self, org_id: OrgId) -> _Known:
        known = await self._known.get(org_id, lambda: self._learned(org_id))
        assert known is not None  # what is learned is always something
        return known

    async def _learned(self, org_id: OrgId) -> _Known:
        tables = [table async for batch in self.reads.every_device(org_id) for table in batch]
        by_device = {table.device_id: table for table in tables}
        directory, devices, pace = Directory(), dict[str, KnownDevice](), Pace()
        async for batch in self.devices.called(org_id):
            for called in batch:
                table = by_device.get(called.id)
                device = KnownDevice(
                    id=called.id,
                    name=called.name,
                    host=called.host,
                    platform=called.platform,
                    device_type=called.device_type,
                    sys_name=None if table is None else table.sys_name,
                    chassis_ids=() if table is None else table.chassis_ids,
                )
                devices[called.id] = device
                directory.add(device)
                await pace.breathe()
        tables = [table for table in tables if table.device_id in devices]
        await self._add_interfaces(org_id, directory, tables, pace)
        return _Known(directory=directory, devices=devices, tables=tables)

    async def _add_interfaces(
        self, org_id: OrgId, directory: Directory, tables: Sequence[DeviceTables], pace: Pace
    ) -> None:
        """Add the devices whose interfaces have the chassis ids and addresses that are still unmatched."""
        macs, addresses = set[str](), set[str]()
        for table in tables:
            for row in table.neighbors:
                if directory.knows_chassis(row):
                    continue
                if key := chassis_key(row["remote_chassis_id"]):
                    macs.add(key)
                address = address_key(row["remote_mgmt_address"])
                if address is not None and directory.match(row, reporter=table.device_id) is None:
                    addresses.add(address)
            await pace.breathe()
        for mac, device_id in await self.reads.owners(org_id, "macs", sorted(macs)):
            directory.add_interfaces(device_id, [mac], ())
        for address, device_id in await self.reads.owners(org_id, "addresses", sorted(addresses)):
            directory.add_interfaces(device_id, (), [address])


@dataclass(kw_only=True, eq=False)
class _Drawing:
    """A topology in the making."""

    known: _Known
    org_id: OrgId
    ports: dict[str, PortNames] = field(default_factory=dict)
    _reports: list[tuple[str, Row, str | None, datetime]] = field(default_factory=list)
    _strangers: list[Stranger] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _links: Links | None = None

    def hear(self, device: DeviceTables) -> None:
        names = self.ports.setdefault(device.device_id, PortNames())
        found = self.known.directory.match_all(device.neighbors, reporter=device.device_id)
        for row, other in zip(device.neighbors, found, strict=True):
            names.add_name(row["local_interface"])
            if other == device.device_id:
                continue  # a loop: the device hears itself
            other = other if other in self.known.devices else None
            assert device.neighbors_at is not None  # it has neighbors
            self._reports.append((device.device_id, row, other, device.neighbors_at))

    async def name_strangers(self, pace: Pace) -> None:
        unknown: list[int] = []
        reports: list[tuple[str, Row]] = []
        for place, (device_id, row, other, _) in enumerate(self._reports):
            if other is None:
                unknown.append(place)
                reports.append((device_id, row))
            await pace.breathe()
        self._strangers, places = await strangers_of(reports, org_id=self.org_id, pace=pace)
        self._places = dict(zip(unknown, places, strict=True))

    async def add_sides(self, pace: Pace) -> list[str]:
        """Add the sides; return the devices of which a port is named that is not known yet."""
        self._links = Links(self.ports)
        unresolved = set()
        for place, (device_id, row, other, seen_at) in enumerate(self._reports):
            far = other or self._strangers[self._places[place]].id
            side = Side(
                near=(device_id, row["local_interface"]),
                far=far,
                port=row["remote_port"],
                protocols={row["protocol"]},
                seen_at=seen_at,
            )
            self._links.add(side)
            if other is not None and side.port is not None and side.resolved is None:
                unresolved.add(other)
            await pace.breathe()
        return sorted(unresolved)

    def links(self, pace: Pace) -> AsyncIterator[Link]:
        assert self._links is not None  # add_sides
        return self._links.joined(pace)

    async def nodes(self, pace: Pace) -> list[Row]:
        """Return devices that have a neighbor table or are in one, and unknown neighbors; each by name."""
        ids = dict.fromkeys(table.device_id for table in self.known.tables if table.neighbors_at is not None)
        ids |= dict.fromkeys(other for _, _, other, _ in self._reports if other is not None)
        devices = _sorted([self.known.devices[one] for one in ids], _device_order, pace)
        strangers = _sorted(self._strangers, _stranger_order, pace)
        known = [_device_row(device) async for device in devices]
        return known + [_stranger_row(stranger) async for stranger in strangers]


async def _sorted(things: Sequence[T], order: Callable[[T], tuple[str, str]], pace: Pace) -> AsyncIterator[T]:
    """Yield things sorted in slices: sorting all the phones of a network at once takes longer than the event
    loop can wait.
    """
    slices: list[list[T]] = []
    for start in range(0, len(things), SORTED_AT_ONCE):
        slices.append(sorted(things[start : start + SORTED_AT_ONCE], key=order))
        await pace.breathe()
    for thing in merge(*slices, key=order):
        yield thing
        await pace.breathe()


def _device_order(device: KnownDevice) -> tuple[str, str]:
    return device.name, device.id


def _stranger_order(stranger: Stranger) -> tuple[str, str]:
    return stranger.name or "", stranger.id


def _device_row(device: KnownDevice) -> Row:
    return {
        "id": device.id,
        "device_id": device.id,
        "name": device.name,
        "platform": device.platform or device.device_type,
        "mgmt_address": device.host,
    }


def _stranger_row(stranger: Stranger) -> Row:
    return {
        "id": stranger.id,
        "device_id": None,
        "name": stranger.name,
        "platform": stranger.platform,
        "mgmt_address": stranger.mgmt_address,
    }


def _link_row(link: Link) -> Row:
    return {
        "a": {"node": link.a[0], "interface": link.a[1]},
        "b": {"node": link.b[0], "interface": link.b[1]},
        "protocols": list(link.protocols),
        "last_seen_at": to_text(link.seen_at),
    }
