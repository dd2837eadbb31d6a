"""Device lists over HTTP with 100,000 devices: filters, search, late pages, and the stalls of the loop."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from tornado.httpclient import AsyncHTTPClient

from netautod.core.identity.caller import OrgId
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.queries import COLLECTION, SEARCH, search_text
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.bench.measured.probed_service import DATABASE, PASSWORD, TICK
from tests.bench.measuring.children import Child, child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import BenchmarkError, Report, percentile

DEVICES = 100_000
BATCH = 1_000
JSON = {"Content-Type": "application/json"}
REQUESTS = 60
SLOW_REQUESTS = 15
SITES = 200
FIRST = "limit=50"
FILTERS = {
    "device_type": "device_type=linux",
    "site": "site=site-007",
    "source": "source=csv",
    "tag": "tag=access",
    "two_filters": "site=site-007&source=csv",
}
SEARCHES = {
    "q_nothing": "q=no-such-device",
    "q_few": "q=ACCESS-0999",
    "q_many": "q=10.1",
    "q_all": "q=e",
}


@dataclass(kw_only=True)
class Console:
    """A logged-in client; `stalls`: how many milliseconds the service's loop was late, tick by tick."""

    server: Child
    token: str
    stalls: dict[str, list[float]] = field(default_factory=dict)

    async def get(self, query: str, path: str = "/api/devices") -> Any:
        answer = await AsyncHTTPClient().fetch(
            f"{self.server.said}{path}?{query}", headers={"Authorization": f"Bearer {self.token}"}
        )
        return json.loads(answer.body)

    async def timed(self, query: str, path: str = "/api/devices") -> float:
        """Milliseconds of one request with its answer."""
        began = time.perf_counter()
        await AsyncHTTPClient().fetch(
            f"{self.server.said}{path}?{query}", headers={"Authorization": f"Bearer {self.token}"}
        )
        return (time.perf_counter() - began) * 1000

    async def note_stalls(self, name: str) -> None:
        """Keeps the loop's lateness since the last call under this name."""
        answer = await AsyncHTTPClient().fetch(f"{self.server.said}/bench/stalls")
        self.stalls.setdefault(name, []).extend(json.loads(answer.body))


async def run(report: Report) -> None:
    """The service is a process of its own; requests come one after the other on one connection."""
    report.parameter("devices", DEVICES)
    report.parameter("requests", f"{REQUESTS} of each kind in turn, {SLOW_REQUESTS} of the slow ones")
    async with private_mongod() as uri:
        with TemporaryDirectory(prefix="netautod-bench-") as folder:
            async with child("measured.probed_service", uri, folder) as server:
                console = Console(server=server, token=await token_of(server))
                database = connect(uri, DATABASE)
                try:
                    org_id = await fill(database, console)
                    await _filters(report, console)
                    await _late_pages(report, console)
                    await _searches(report, console, DeviceCounts(database), org_id)
                    await _large_pages(report, console)
                    await _while_written(report, console, DeviceCounts(database), org_id)
                finally:
                    database.close()
                _stalls(report, console)


async def _filters(report: Report, console: Console) -> None:
    """The first pages in turn, so that all have the same weather."""
    queries = {"first_page": FIRST, **{name: f"{FIRST}&{query}" for name, query in FILTERS.items()}}
    for query in queries.values():
        await console.timed(query)
    await console.note_stalls("warm_up")
    took: dict[str, list[float]] = {name: [] for name in queries}
    for _ in range(REQUESTS):
        for name, query in queries.items():
            took[name].append(await console.timed(query))
    await console.note_stalls("filters")
    medians = {name: percentile(values, 0.5) for name, values in took.items()}
    for name, middle in medians.items():
        report.value(f"{name}_p50", middle, "ms")
        report.value(f"{name}_p99", percentile(took[name], 0.99), "ms")
    for name in FILTERS:
        report.wanted(
            f"{name}_over_first_page", medians[name] / medians["first_page"], "times", "at most", 1.5
        )


async def _late_pages(report: Report, console: Console) -> None:
    took = [await console.timed(f"{FIRST}&offset={DEVICES - 50}") for _ in range(SLOW_REQUESTS)]
    filtered = [await console.timed(f"{FIRST}&source=csv&offset=33000") for _ in range(SLOW_REQUESTS)]
    await console.note_stalls("late_pages")
    report.wanted(f"offset_{DEVICES - 50}_p50", percentile(took, 0.5), "ms", "at most", 200)
    report.value(f"offset_{DEVICES - 50}_max", max(took), "ms")
    report.value("source_offset_33000_p50", percentile(filtered, 0.5), "ms")


async def _searches(report: Report, console: Console, counts: DeviceCounts, org_id: OrgId) -> None:
    """Each once more with the total uncounted, as after a change of the inventory."""
    for name, query in SEARCHES.items():
        total = (await console.get(f"{FIRST}&{query}"))["total"]
        report.parameter(name, f"{query} matches {total}")
        kept = [await console.timed(f"{FIRST}&{query}") for _ in range(SLOW_REQUESTS)]
        changed = []
        for _ in range(SLOW_REQUESTS):
            await counts.changed(org_id)
            changed.append(await console.timed(f"{FIRST}&{query}"))
        report.value(f"{name}_p50", percentile(kept, 0.5), "ms")
        report.wanted(f"{name}_after_a_change_p50", percentile(changed, 0.5), "ms", "at most", 400)
        report.value(f"{name}_after_a_change_max", max(changed), "ms")
    await console.note_stalls("searches")


async def _large_pages(report: Report, console: Console) -> None:
    took = [await console.timed("limit=1000", "/api/devices/browse") for _ in range(REQUESTS)]
    await console.note_stalls("large_pages")
    report.value("browse_1000_p50", percentile(took, 0.5), "ms")


async def _while_written(report: Report, console: Console, counts: DeviceCounts, org_id: OrgId) -> None:
    """The first page when the inventory has changed before each request: what one count costs."""
    took = []
    for _ in range(SLOW_REQUESTS):
        await counts.changed(org_id)
        took.append(await console.timed(FIRST))
    await console.note_stalls("while_written")
    report.value("first_page_after_a_change_p50", percentile(took, 0.5), "ms")


def _stalls(report: Report, console: Console) -> None:
    report.parameter("stalls", f"lateness of the loop in ticks of {TICK * 1000:g} ms")
    for name, late in console.stalls.items():
        report.value(f"{name}_stall_max", max(late), "ms")
        # Without the one tick in a thousand in which the machine did something else.
        usual = percentile(late, 0.999)
        if name in ("idle", "warm_up"):
            report.value(f"{name}_stall_p99_9", usual, "ms")
        else:
            report.wanted(f"{name}_stall_p99_9", usual, "ms", "at most", 20)


async def token_of(server: Child) -> str:
    body = json.dumps({"username": "admin", "password": PASSWORD})
    answer = await AsyncHTTPClient().fetch(
        f"{server.said}/api/auth/login", method="POST", body=body, headers=JSON
    )
    token: str = json.loads(answer.body)["access_token"]
    return token


async def fill(database: Database, console: Console) -> OrgId:
    """One device by the API, the others as copies of its document with values of their own."""
    body = {"name": "template", "host": "192.0.2.1", "device_type": "cisco_ios", "manufacturer": "Cisco"}
    headers = {**JSON, "Authorization": f"Bearer {console.token}"}
    await AsyncHTTPClient().fetch(
        f"{console.server.said}/api/devices", method="POST", body=json.dumps(body), headers=headers
    )
    devices = database.collection(COLLECTION)
    template = await devices.find_one({"name": "template"})
    assert template is not None
    await devices.delete({"_id": template["_id"]})
    for start in range(0, DEVICES, BATCH):
        await devices.insert_many(list(_copies(template, start)))
    org_id = OrgId(template["org_id"])
    await DeviceCounts(database).changed(org_id)
    total = (await console.get(FIRST))["total"]
    if total != DEVICES:
        raise BenchmarkError(f"the list has {total} devices instead of {DEVICES}")
    # What the probe saw while we inserted says nothing about lists.
    await console.note_stalls("filling")
    del console.stalls["filling"]
    await asyncio.sleep(1)
    await console.note_stalls("idle")
    return org_id


def _copies(template: Mapping[str, Any], start: int) -> Iterator[dict[str, Any]]:
    for number in range(start, start + BATCH):
        # Not in the order of the names: an inventory is not filled by the alphabet.
        name = f"Access-{number * 7919 % DEVICES:06}.site-{number % SITES:03}.example.net"
        host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        yield {
            **template,
            "_id": str(uuid4()),
            "name": name,
            "host": host,
            SEARCH: search_text(name, host),
            "device_type": ("cisco_ios", "arista_eos", "juniper_junos", "linux")[number % 4],
            "site": f"site-{number % SITES:03}",
            "source": ("manual", "inventory", "csv")[number % 3],
            "tags": ["access", f"floor-{number % 30}"],
        }
