"""The discovered data of devices, and the requests for polls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from netautod.core.identity.caller import Caller, OrgId
from netautod.core.json.values import to_text
from netautod.core.pages import in_turns
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.models import DeviceStatus, DiscoveredTable, Row, Topology
from netautod.network.discovery.polling.models import Poll
from netautod.network.discovery.polling.requests import PollRequests
from netautod.network.discovery.polling.store import PollStore
from netautod.network.discovery.tables.models import Sighting
from netautod.network.discovery.tables.reading import DiscoveredReads


class Network(Protocol):
    """The network that the tables of all devices add up to."""

    async def topology(self, org_id: OrgId) -> Topology: ...

    async def matched(self, org_id: OrgId, device_id: str, neighbors: Sequence[Row]) -> Sequence[Row]:
        """Return the neighbors of the device, each with its id as `remote_device_id` if it is a device."""
        ...


@dataclass(kw_only=True, eq=False)
class DiscoveryService:
    """The service of discovered data. Every call about one device raises NotFound if the organization has no
    such device.
    """

    devices: DeviceService
    reads: DiscoveredReads
    polls: PollStore
    requests: PollRequests
    network: Network

    async def table(
        self, org_id: OrgId, device_id: str, name: str, *, limit: int | None = None
    ) -> DiscoveredTable:
        """Return a table: `name` is one of TABLES; at most `limit` rows of it."""
        await self.devices.require(org_id, device_id)
        return await self.reads.table(org_id, device_id, name, limit=limit)

    async def neighbors(self, org_id: OrgId, device_id: str) -> DiscoveredTable:
        """Return neighbors matched to the present devices: one that was added after the poll is
        found, too.
        """
        table = await self.table(org_id, device_id, "neighbors")
        if not table.rows:
            return table
        return replace(table, rows=await self.network.matched(org_id, device_id, table.rows))

    async def status(self, org_id: OrgId, device_id: str) -> DeviceStatus:
        await self.devices.require(org_id, device_id)
        return await self.reads.status(org_id, device_id)

    async def history(
        self, org_id: OrgId, device_id: str, *, limit: int, offset: int = 0
    ) -> tuple[Sequence[Poll], int]:
        """Return the polls, newest first, and how many there are."""
        await self.devices.require(org_id, device_id)
        polls = await self.polls.page(org_id, device_id, limit=limit, offset=offset)
        seen = offset + len(polls)
        if len(polls) < limit and (polls or not offset):
            return polls, seen
        return polls, max(seen if polls else 0, await self.polls.total(org_id, device_id))

    async def poll(self, caller: Caller, device_id: str, *, detect: bool) -> Poll:
        """Queue a poll; see PollRequests.ask."""
        return await self.requests.ask(caller, device_id, detect=detect)

    async def topology(self, org_id: OrgId) -> Topology:
        return await self.network.topology(org_id)

    async def find(self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None) -> Sequence[Row]:
        """Return where an address was seen, the newest first, on devices that exist."""
        found = await self.reads.find(org_id, mac=mac, ip=ip)
        names = await self.devices.live_names(org_id, sorted({one.device_id for one in found}))
        return await in_turns(
            lambda one: _match(one, names[one.device_id]), [one for one in found if one.device_id in names]
        )


def _match(one: Sighting, name: str) -> Row:
    return {
        "device_id": one.device_id,
        "device_name": name,
        "interface": one.interface,
        "vlan_id": one.vlan_id,
        "mac_address": one.mac_address,
        "ip_address": one.ip_address,
        "source": one.source,
        "last_seen_at": to_text(one.last_seen_at),
    }
