"""The topology of 2,000 devices and 6,000 links, out of the stored tables, and how long it holds the loop."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import Called
from netautod.network.discovery.tables.models import PollNote
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.tables.store import INDEXES, DiscoveredStore
from netautod.network.discovery.topology.service import Networks
from netautod.plugin_api import Collected, DeviceFacts, Interface, Neighbor
from netautod.store.client import Database
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.holding import collecting_as_the_service, watched
from tests.bench.measuring.report import BenchmarkError, Report

DEVICES, EACH = 2_000, 3  # each device has links to the three behind it
ROUNDS = 9
PORTS = 24
AT = datetime(2026, 11, 20, tzinfo=UTC)


class Devices:
    """As much of DeviceService as the topology asks for."""

    def __init__(self) -> None:
        self.all = [
            Called(
                id=str(uuid4()),
                name=f"sw{number}",
                host=f"10.0.{number >> 8}.{number & 255}",
                platform=None,
                device_type="cisco_ios",
            )
            for number in range(DEVICES)
        ]

    async def called(self, org_id: OrgId):  # type: ignore[no-untyped-def]
        for start in range(0, DEVICES, 500):
            yield self.all[start : start + 500]


async def run(report: Report) -> None:
    report.parameter("network", f"{DEVICES} devices, {DEVICES * EACH} links, each heard at both ends")
    async with private_mongod() as uri, fresh_database(uri, INDEXES) as database:
        devices, org_id = Devices(), OrgId(str(uuid4()))
        await _stored(database, org_id, devices)
        late: list[float] = []
        took: list[float] = []
        async with collecting_as_the_service():
            for _ in range(ROUNDS):
                networks = Networks(
                    reads=DiscoveredReads(database),
                    devices=devices,  # type: ignore[arg-type]
                    clock=SystemClock(),
                )
                async with watched(late):
                    began = time.perf_counter()
                    found = await networks.topology(org_id)
                    took.append((time.perf_counter() - began) * 1000)
        if (len(found.nodes), len(found.links)) != (DEVICES, DEVICES * EACH):
            raise BenchmarkError(f"{len(found.nodes)} nodes and {len(found.links)} links were drawn")
    report.wanted("topology", report.raw("topology", took, "ms"), "ms", "at most", 500)
    report.wanted("longest_hold", max(late) * 1000, "ms", "at most", 20)


async def _stored(database: Database, org_id: OrgId, devices: Devices) -> None:
    store = DiscoveredStore(database, gone_for=timedelta(days=30))
    note = PollNote(state="completed", error=None, reachable=True, latency_ms=1.0, at=AT, last_success_at=AT)
    for number, device in enumerate(devices.all):
        ports = [Interface(name=f"GigabitEthernet0/{port}", if_index=port) for port in range(PORTS)]
        facts = DeviceFacts(sys_name=device.name, chassis_ids=(_mac(number),))
        heard = [
            _neighbor(port, (number + step) % DEVICES, far)
            for port, (step, far) in enumerate(_cables(), start=1)
        ]
        found = Collected(status=facts, interfaces=ports, neighbors=heard)
        await store.replace(org_id, device.id, found, sources={}, note=note)
        await asyncio.sleep(0)


def _cables() -> list[tuple[int, int]]:
    """How far away the other device is, and its port: 1 to 3 lead on, 4 to 6 back."""
    return [(step, step + EACH) for step in range(1, EACH + 1)] + [
        (-step, step) for step in range(1, EACH + 1)
    ]


def _neighbor(port: int, number: int, far: int) -> Neighbor:
    return Neighbor(
        local_interface=f"GigabitEthernet0/{port}",
        protocol="lldp",
        remote_system_name=f"sw{number}.example.net",
        remote_chassis_id=_mac(number),
        remote_port=f"Gi0/{far}",
    )


def _mac(number: int) -> str:
    return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"
