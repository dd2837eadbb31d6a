"""Device list: requests per second of `GET /api/devices?limit=50` against a bare Tornado handler."""

from typing import Any
from uuid import uuid4

from netautod.devices.queries import COLLECTION
from netautod.store.client import Database, connect
from tests.bench.bare_tornado import LIMIT
from tests.bench.children import child
from tests.bench.databases import private_mongod
from tests.bench.errors import BenchmarkError
from tests.bench.load import run_load
from tests.bench.report import Report
from tests.bench.service import DATABASE, running_service
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
        async with child("bare_tornado", uri, DATABASE, org_id) as bare:
            api = f"{service.url}/api/devices?limit={LIMIT}"
            plain = f"http://127.0.0.1:{bare.said}/"
            sides = {
                "netautod": (api, [f"Authorization: Bearer {client.token}"]),
                "bare_tornado": (plain, list[str]()),
            }
            rates: dict[str, list[float]] = {side: [] for side in sides}
            for url, headers in sides.values():
                await run_load(url, connections=CONNECTIONS, seconds=WARM_UP_SECONDS, headers=headers)
            sizes: dict[str, int] = {}
            for _ in range(ROUNDS):
                for side, (url, headers) in sides.items():
                    load = await run_load(url, connections=CONNECTIONS, seconds=SECONDS, headers=headers)
                    rates[side].append(load.per_second)
                    sizes[side] = load.bytes
    report.parameter("bytes of an answer", sizes)
    middle = {side: report.raw(side, found, UNIT) for side, found in rates.items()}
    report.wanted("over_bare_tornado", middle["netautod"] / middle["bare_tornado"], "times", "at least", 0.5)


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
    await devices.insert_many(
        [{**found, "_id": str(uuid4()), "name": f"switch {number}"} for number in range(1, DEVICES)]
    )
