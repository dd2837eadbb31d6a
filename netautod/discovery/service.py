"""What polls found out about devices. No poller runs yet, so every device reads as never polled.

A poll out of turn is refused (503) instead of queued, because nothing would run it.
"""

from collections.abc import Sequence
from typing import NoReturn

from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity import OrgId
from netautod.devices.service import DeviceService
from netautod.discovery.models import DeviceStatus, DiscoveredTable, Row, Topology


class DiscoveryService:
    """Every call about one device raises NotFound if the organization has no such device."""

    def __init__(self, *, devices: DeviceService, clock: Clock) -> None:
        self._devices = devices
        self._clock = clock

    async def table(self, org_id: OrgId, device_id: str) -> DiscoveredTable:
        """Any of the tables, the poll history included."""
        await self._devices.get(org_id, device_id)
        return DiscoveredTable()

    async def status(self, org_id: OrgId, device_id: str) -> DeviceStatus:
        await self._devices.get(org_id, device_id)
        return DeviceStatus(device_id=device_id)

    async def poll(self, org_id: OrgId, device_id: str) -> NoReturn:
        """Raises Unavailable."""
        await self._devices.get(org_id, device_id)
        raise Unavailable("The poll service is not running")

    async def topology(self) -> Topology:
        return Topology(generated_at=self._clock.now())

    async def find(self) -> Sequence[Row]:
        """Where an address was seen last."""
        return ()
