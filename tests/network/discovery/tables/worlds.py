"""One organization with one device, polled at minutes of one morning."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables.models import PollNote
from netautod.network.discovery.tables.part_store import PARTS
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.plugin_api import Collected, MacEntry
from netautod.store.client import Database

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
NOTE = PollNote(
    state="completed", error=None, reachable=True, latency_ms=1.5, at=START, last_success_at=START
)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def mac(number: int) -> str:
    digits = f"{number:012x}"
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def macs(*numbers: int, vlan: int | None = 1, interface: str = "Ethernet1") -> tuple[MacEntry, ...]:
    return tuple(
        MacEntry(mac_address=mac(number), vlan_id=vlan, interface=interface, type="dynamic")
        for number in numbers
    )


class World:
    """One organization with one device."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.store = DiscoveredStore(database, gone_for=timedelta(days=30))
        self.reads = DiscoveredReads(database)
        self.org_id = OrgId(str(uuid4()))
        self.device_id = str(uuid4())

    async def poll(
        self, minutes: float = 0, *, device_id: str | None = None, **tables: Any
    ) -> dict[str, int]:
        return await self.store.replace(
            self.org_id,
            device_id or self.device_id,
            Collected(**tables),
            sources=dict.fromkeys(tables, "snmp"),
            note=replace(NOTE, at=at(minutes)),
        )

    async def table(self, name: str, limit: int | None = None) -> list[dict[str, Any]]:
        found = await self.reads.table(self.org_id, self.device_id, name, limit=limit)
        return [dict(row) for row in found.rows]

    async def addresses(self) -> list[str]:
        return [row["mac_address"] for row in await self.table("mac")]

    async def parts(self) -> int:
        return await self.database.collection(PARTS).count({})
