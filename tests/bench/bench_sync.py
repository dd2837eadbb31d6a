"""Sync: 10,000 devices of a replaying NetBox, first and again, against only fetching the same pages.

The server answers as fast as it can, which no NetBox does: the recorded one takes 3 ms a device. One more
round at that pace says how long a sync really takes.
"""

import time
from collections.abc import Mapping
from typing import Any

from netautod.plugin_api import InventoryAccess, OutboundRequest
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_netbox import NetBoxSource
from netautod_netbox.netbox_rows import QUERY
from netautod_netbox.urls import url_of
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient
from tests.support.servers.netbox import V1_TOKEN

DEVICES = 10_000
PAGE = 1000
ROUNDS = 5
FIRST_SYNCS = 3
RECORDED_MS = 3
ALLOW = {"NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1"}
COUNTS = ("added", "updated", "unchanged", "failed", "removed")


async def run(report: Report) -> None:
    """Fetching and syncing take turns. Each first sync has a service and database of its own."""
    report.parameter("devices", DEVICES)
    report.parameter("devices of a page", f"{PAGE}, a NetBox's usual maximum")
    report.parameter("rounds", f"{FIRST_SYNCS} first syncs, {ROUNDS} of the others each")
    times: dict[str, list[float]] = {"fetch": [], "walk": [], "first": [], "again": []}
    async with child("measured.inventory_server", str(DEVICES), "0") as server:
        url: str = server.said
        await _fetch(url)  # warms the server up
        for left in reversed(range(FIRST_SYNCS)):
            async with private_mongod() as uri, running_service(uri, ALLOW) as (_, client):
                times["fetch"].append(await _fetch(url))
                times["first"].append(await _sync(client, url, {"added": DEVICES}))
                for _ in range(1 if left else ROUNDS - FIRST_SYNCS + 1):
                    times["walk"].append(await _walk(url))
                    times["fetch"].append(await _fetch(url))
                    times["again"].append(await _sync(client, url, {"unchanged": DEVICES}))
    fetch = report.raw("fetching_pages", times["fetch"], "s")
    report.raw("walking_and_mapping", times["walk"], "s")
    first = report.raw("first_sync", times["first"], "s")
    again = report.raw("unchanged_sync", times["again"], "s")
    report.wanted("first_over_fetching", first / fetch, "times", "at most", 2.5)
    report.wanted("unchanged_over_fetching", again / fetch, "times", "at most", 1.5)
    await _at_the_recorded_pace(report)


async def _at_the_recorded_pace(report: Report) -> None:
    async with (
        child("measured.inventory_server", str(DEVICES), str(RECORDED_MS)) as server,
        private_mongod() as uri,
        running_service(uri, ALLOW) as (_, client),
    ):
        fetch = await _fetch(server.said)
        first = await _sync(client, server.said, {"added": DEVICES})
        again = await _sync(client, server.said, {"unchanged": DEVICES})
    report.value("recorded_pace_fetching_pages", fetch, "s")
    report.value("recorded_pace_first_over_fetching", first / fetch, "times")
    report.value("recorded_pace_unchanged_over_fetching", again / fetch, "times")


async def _fetch(url: str) -> float:
    """Every page with the same client and parameters, parsed for its last id and nothing else."""
    client = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    headers = {"Authorization": f"Token {V1_TOKEN}"}
    began, after, seen = time.perf_counter(), 0, 0
    while seen < DEVICES:
        query = (("ordering", "id"), *QUERY, ("id__gt", str(after)), ("limit", str(PAGE)))
        request = OutboundRequest(
            url=url_of(url, "dcim/devices", query),
            headers=headers,
            timeout_seconds=30,
            max_bytes=16 * 1024 * 1024,
        )
        results = (await client.fetch(request)).json()["results"]
        after, seen = results[-1]["id"], seen + len(results)
    return time.perf_counter() - began


async def _walk(url: str) -> float:
    """The plugin alone: what a sync spends before it plans and writes."""
    http = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    source = NetBoxSource(InventoryAccess(url=url, token=V1_TOKEN, http=http))
    began, seen = time.perf_counter(), 0
    async for page in source.devices():
        seen += len(page.devices)
    took = time.perf_counter() - began
    if seen != DEVICES:
        raise BenchmarkError(f"the walk brought {seen} devices")
    return took


async def _sync(client: ApiClient, url: str, wanted: Mapping[str, int]) -> float:
    """By the clock of the caller; the counts are checked."""
    body: dict[str, Any] = {"inventory_url": url, "token": V1_TOKEN, "filters": {}}
    began = time.perf_counter()
    response = await client.post("/api/devices/sync/inventory", body)
    took = time.perf_counter() - began
    if response.status != 200:
        raise BenchmarkError(f"the sync answered {response.status}: {response.content[:300]!r}")
    counts = {name: response.json[name] for name in COUNTS}
    if counts != {name: wanted.get(name, 0) for name in COUNTS}:
        raise BenchmarkError(f"the sync did something else: {counts}")
    return took
