"""Device list: requests per second of `GET /api/devices?limit=50` against a bare Tornado handler."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from netautod.devices.counts import DeviceCounts
from netautod.devices.queries import COLLECTION, SEARCH, search_text
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.bench.measured.bare_tornado import LIMIT
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.load import Load, run_load
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import DATABASE, running_service
from tests.support.client import ApiClient

DEVICES = 2_000
CONNECTIONS = 16
ROUNDS = 5
SECONDS = 4.0
WARM_UP_SECONDS = 1.0
UNIT = "requests/s"


async def run(report: Report) -> None:
    """Rounds of load on the service and on the bare handler in turn; each is a process of its own."""
    report.parameter("devices", DEVICES)
    report.parameter("connections", CONNECTIONS)
    report.parameter("rounds", f"{ROUNDS} of {SECONDS:g} s on either side")
    async with private_mongod() as uri, running_service(uri) as (service, client):
        org_id = await _fill(uri, client)
        async with child("measured.bare_tornado", uri, DATABASE, org_id) as bare:
            sides = (
                _Side(
                    name="netautod",
                    url=f"{service.url}/api/devices?limit={LIMIT}",
                    headers=(f"Authorization: Bearer {client.token}",),
                    pid=service.process.pid,
                ),
                _Side(name="bare_tornado", url=f"http://127.0.0.1:{bare.said}/", pid=bare.process.pid),
            )
            for side in sides:
                await side.load(WARM_UP_SECONDS)
            for _ in range(ROUNDS):
                for side in sides:
                    await side.measure()
    for side in sides:
        report.parameter(f"{side.name} bytes of an answer", side.bytes)
    our_cpu, bare_cpu = (report.raw(f"{side.name}_cpu", side.cpu, "ms/request") for side in sides)
    # The database is the same on either side and hides a part of the difference; this does not.
    report.value("cpu_over_bare_tornado", bare_cpu / our_cpu, "times")
    ours, bare_rate = (report.raw(side.name, side.rates, UNIT) for side in sides)
    report.wanted("over_bare_tornado", ours / bare_rate, "times", "at least", 0.5)


@dataclass(kw_only=True)
class _Side:
    """One server and what was measured of it; `cpu` is the processor time of its process."""

    name: str
    url: str
    pid: int
    headers: tuple[str, ...] = ()
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    bytes: int = 0

    async def load(self, seconds: float) -> Load:
        return await run_load(self.url, connections=CONNECTIONS, seconds=seconds, headers=self.headers)

    async def measure(self) -> None:
        before = _cpu_seconds(self.pid)
        load = await self.load(SECONDS)
        self.rates.append(load.per_second)
        self.cpu.append((_cpu_seconds(self.pid) - before) / load.requests * 1000)
        self.bytes = load.bytes


def _cpu_seconds(pid: int) -> float:
    """proc(5), stat: behind the name in brackets, utime and stime are the 12th and 13th field."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


async def _fill(uri: str, client: ApiClient) -> str:
    """One device by the API, the others as copies of its document; answers the organization."""
    fields = {
        "name": "switch 0",
        "host": "192.0.2.1",
        "device_type": "cisco_ios",
        "site": "plant 7",
        "manufacturer": "Cisco",
        "model": "C2960X-48FPD-L",
        "tags": ["access", "floor-3"],
    }
    created = await client.post("/api/devices", fields)
    if created.status != 201:
        raise BenchmarkError(f"a device could not be made: {created.content!r}")
    database = connect(uri, DATABASE)
    try:
        await _copy(database, created.json["id"])
    finally:
        database.close()
    listed = await client.get(f"/api/devices?limit={LIMIT}")
    if listed.json["total"] != DEVICES:
        raise BenchmarkError(f"the list has {listed.json['total']} devices instead of {DEVICES}")
    organization: str = created.json["org_id"]
    return organization


async def _copy(database: Database, device_id: str) -> None:
    devices = database.collection(COLLECTION)
    found: dict[str, Any] | None = await devices.find_one({"_id": device_id})
    assert found is not None
    names = (f"switch {number}" for number in range(1, DEVICES))
    await devices.insert_many(
        [
            {**found, "_id": str(uuid4()), "name": name, SEARCH: search_text(name, found["host"])}
            for name in names
        ]
    )
    await DeviceCounts(database).changed(found["org_id"])
