"""The network of an organization: its devices, the strangers that they hear, and the links between them.

It is put together at each request, in small steps that let others run. Who is who is remembered for a moment:
readers of one table after the other ask for it again and again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from netautod.core.clock import Clock
from netautod.core.identity import OrgId
from netautod.core.json_values import to_text
from netautod.core.loop.pace import Pace
from netautod.devices.service import DeviceService
from netautod.discovery.models import Row, Topology
from netautod.discovery.tables.models import DeviceTables
from netautod.discovery.tables.reading import DiscoveredReads
from netautod.discovery.topology.directory import Directory, KnownDevice
from netautod.discovery.topology.links import Link, Links, PortNames, Side
from netautod.discovery.topology.names import chassis_key
from netautod.discovery.topology.strangers import Stranger, strangers_of

REMEMBERED_SECONDS = 2.0
MOST_REMEMBERED = 50  # organizations
MATCH = "remote_device_id"


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Who is who, and the neighbor tables that it was made from."""

    directory: Directory
    devices: Mapping[str, KnownDevice]
    tables: Sequence[DeviceTables]
    until: float


@dataclass(kw_only=True, eq=False)
class Networks:
    """Of one node."""

    reads: DiscoveredReads
    devices: DeviceService
    clock: Clock
    _known: dict[OrgId, _Known] = field(default_factory=dict)

    async def matched(self, org_id: OrgId, device_id: str, neighbors: Sequence[Row]) -> Sequence[Row]:
        """The neighbors of the device, each with the id of the device that it is as `remote_device_id`."""
        known = await self._who(org_id)
        return [{**row, MATCH: _other(known, device_id, row)} for row in neighbors]

    async def topology(self, org_id: OrgId) -> Topology:
        now = self.clock.now()
        known = await self._who(org_id)
        pace, drawing = Pace(), _Drawing(known=known, org_id=org_id)
        for device in known.tables:
            drawing.hear(device)
            await pace.breathe()
        drawing.name_strangers()
        await pace.breathe()
        unresolved = await drawing.add_sides(pace)
        if unresolved:
            await self._resolve(org_id, drawing, unresolved, pace)
        links: list[Row] = []
        for link in drawing.links():
            links.append(_link_row(link))
            await pace.breathe()
        return Topology(nodes=drawing.nodes(), links=links, generated_at=now)

    async def _resolve(
        self, org_id: OrgId, drawing: "_Drawing", unresolved: Sequence[str], pace: Pace
    ) -> None:
        """For ports that are named otherwise than in a neighbor table: their devices' interfaces are read."""
        for device_id, rows in (await self.reads.interfaces(org_id, unresolved)).items():
            names = drawing.ports.setdefault(device_id, PortNames())
            for row in rows:
                names.add(row)
            await pace.breathe()
        await drawing.add_sides(pace)

    async def _who(self, org_id: OrgId) -> _Known:
        known = self._known.get(org_id)
        if known is None or self.clock.monotonic() >= known.until:
            known = await self._learned(org_id)
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[org_id] = known
        return known

    async def _learned(self, org_id: OrgId) -> _Known:
        tables = [table async for batch in self.reads.every_device(org_id) for table in batch]
        said = {table.device_id: table for table in tables}
        directory, devices, pace = Directory(), dict[str, KnownDevice](), Pace()
        async for batch in self.devices.called(org_id):
            for called in batch:
                table = said.get(called.id)
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
        until = self.clock.monotonic() + REMEMBERED_SECONDS
        return _Known(directory=directory, devices=devices, tables=tables, until=until)

    async def _add_interfaces(
        self, org_id: OrgId, directory: Directory, tables: Sequence[DeviceTables], pace: Pace
    ) -> None:
        """Whose interfaces have the chassis ids and addresses that are still nobody's."""
        macs, addresses = set[str](), set[str]()
        for table in tables:
            for row in table.neighbors:
                if directory.knows_chassis(row):
                    continue
                if key := chassis_key(row["remote_chassis_id"]):
                    macs.add(key)
                if row["remote_mgmt_address"] is not None and directory.match(row) is None:
                    addresses.add(row["remote_mgmt_address"])
            await pace.breathe()
        for mac, device_id in await self.reads.owners(org_id, "macs", sorted(macs)):
            directory.add_interfaces(device_id, [mac], ())
        for address, device_id in await self.reads.owners(org_id, "addresses", sorted(addresses)):
            directory.add_interfaces(device_id, (), [address])


@dataclass(kw_only=True, eq=False)
class _Drawing:
    """One topology in the making."""

    known: _Known
    org_id: OrgId
    ports: dict[str, PortNames] = field(default_factory=dict)
    _heard: list[tuple[str, Row, str | None, datetime]] = field(default_factory=list)
    _strangers: list[Stranger] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _links: Links | None = None

    def hear(self, device: DeviceTables) -> None:
        names = self.ports.setdefault(device.device_id, PortNames())
        for row in device.neighbors:
            names.add_name(row["local_interface"])
            other = self.known.directory.match(row)
            if other == device.device_id:
                continue  # a loop: the device hears itself
            other = other if other in self.known.devices else None
            assert device.neighbors_at is not None  # it has neighbors
            self._heard.append((device.device_id, row, other, device.neighbors_at))

    def name_strangers(self) -> None:
        unknown = [place for place, (_, _, other, _) in enumerate(self._heard) if other is None]
        heard = [(self._heard[place][0], self._heard[place][1]) for place in unknown]
        self._strangers, places = strangers_of(heard, org_id=self.org_id)
        self._places = dict(zip(unknown, places, strict=True))

    async def add_sides(self, pace: Pace) -> list[str]:
        """Answers the devices of which a port is named that is not known yet."""
        self._links = Links(self.ports)
        unresolved = set()
        for place, (device_id, row, other, seen_at) in enumerate(self._heard):
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

    def links(self) -> Iterable[Link]:
        assert self._links is not None  # add_sides
        return self._links.joined()

    def nodes(self) -> list[Row]:
        """Devices that have a neighbor table or are in one, and strangers."""
        ids = dict.fromkeys(table.device_id for table in self.known.tables if table.neighbors_at is not None)
        ids |= dict.fromkeys(other for _, _, other, _ in self._heard if other is not None)
        devices = [self.known.devices[device_id] for device_id in ids]
        found = [
            {
                "id": device.id,
                "device_id": device.id,
                "name": device.name,
                "platform": device.platform or device.device_type,
                "mgmt_address": device.host,
            }
            for device in sorted(devices, key=lambda device: device.name)
        ]
        strangers = sorted(self._strangers, key=lambda one: (one.name or "", one.id))
        return found + [
            {
                "id": one.id,
                "device_id": None,
                "name": one.name,
                "platform": one.platform,
                "mgmt_address": one.mgmt_address,
            }
            for one in strangers
        ]


def _other(known: _Known, device_id: str, row: Row) -> str | None:
    found = known.directory.match(row)
    return found if found != device_id and found in known.devices else None


def _link_row(link: Link) -> Row:
    return {
        "a": {"node": link.a[0], "interface": link.a[1]},
        "b": {"node": link.b[0], "interface": link.b[1]},
        "protocols": list(link.protocols),
        "last_seen_at": to_text(link.seen_at),
    }
