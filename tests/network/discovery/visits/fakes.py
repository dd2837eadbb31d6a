"""A device, and collectors that give what a test wants."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from netautod.network.devices.models import Device
from netautod.plugin_api import TABLES, Collected, PollTarget, Table

NOW = datetime(2026, 11, 20, tzinfo=UTC)
DEVICE = Device(
    id="6f0c4f0e-7a53-4a3e-9d6c-5d6f6f7f8f90",
    org_id="org",
    name="sw1",
    host="192.0.2.1",
    port=22,
    protocol="ssh",
    device_type="cisco_ios",
    manufacturer=None,
    model=None,
    platform=None,
    site=None,
    site_id=None,
    source="manual",
    tags=(),
    default_credential_id=None,
    snmp_credential_id=None,
    poll_enabled=True,
    connect_commands=(),
    created_at=NOW,
    updated_at=NOW,
    host_key_fingerprint=None,
    description=None,
    serial_number=None,
    asset_tag=None,
    metadata={},
    automation_transport=None,
    automation_port=None,
    automation_credential_id=None,
    inventory_id=None,
    poll_interval_minutes=None,
    jump_device_id=None,
)


@dataclass(kw_only=True)
class FakeCollector:
    """`gives` is what it answers, or does with the target; `asked` is what it was asked for."""

    transport: str
    gives: Collected | Exception | Callable[[PollTarget], Awaitable[Collected]]
    tables: frozenset[Table] = frozenset(TABLES)
    asked: list[frozenset[Table]] = field(default_factory=list)

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        self.asked.append(wanted)
        await asyncio.sleep(0)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives if isinstance(self.gives, Collected) else await self.gives(target)
