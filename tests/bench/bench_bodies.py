"""The worst bodies of every route while 16 clients read /health: how long the loop stands still for each.

The service is a process of its own with a probe of its loop. `stall` counts the time in which a processor was
at work for the service: a busy machine makes all else late, too. `late` is all of it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from tempfile import TemporaryDirectory
from typing import Any

from tornado.simple_httpclient import HTTPTimeoutError

from netautod.assembly.routes import ROUTES
from tests.bench.measured.probed_service import PASSWORD
from tests.bench.measured.worst_bodies import NOBODY, WorstBody, worst_bodies
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.health_readers import HealthReaders
from tests.bench.measuring.report import BenchmarkError, Report, percentile
from tests.support.client import ApiClient

READERS = 16
MOST_STALL = 50.0
UNTOUCHED = frozenset({0, 401, 429})  # all that a route answers which reads no body
# Answers are measured here, not held to their schemas.
UNDESCRIBED: dict[str, Any] = {"paths": {}, "components": {"schemas": {"Error": {}}}}
# What a body is stored in, by the segment of the path before its id.
CREATED: dict[str, tuple[str, dict[str, Any]]] = {
    "docs": (
        "/api/docs",
        {"name": "a", "category": "templates", "content_type": "jinja", "content": "{{ a }}"},
    ),
    "schedules": (
        "/api/tasks/schedules",
        {"name": "a", "task_type": "backup", "cron_expression": "0 0 1 1 *", "enabled": False},
    ),
    "devices": ("/api/devices", {"name": "a", "host": "192.0.2.1", "device_type": "generic"}),
}


async def run(report: Report) -> None:
    report.parameter("readers", f"{READERS} of /health, one request each 20 ms")
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with private_mongod() as uri, child("measured.probed_service", uri, folder) as server:
            await _measure(report, server.said)


async def _measure(report: Report, url: str) -> None:
    client = ApiClient(base_url=url, description=UNDESCRIBED)
    api = await logged_in(client)
    ids = {name: (await api.post(*made)).json.get("id", NOBODY) for name, made in CREATED.items()}
    health: list[float] = []
    worst, count, unmeasured = (0.0, ""), 0, []
    for route, bodies in groupby(worst_bodies(ROUTES), key=lambda body: body.route):
        found: list[tuple[float, float, str]] = []
        statuses: Counter[int] = Counter()
        for body in bodies:
            if (await api.get("/api/auth/me")).status == 401:  # the body before has ended the session
                api = await logged_in(client)
            async with _stalls(api) as (stall, late), HealthReaders(url, READERS) as readers:
                status, took = await _send(api, body, ids)
            found.append((max(stall), max(late), f"{body.kind} ({status}, {took:.0f} ms)"))
            statuses[status] += 1
            health += readers.milliseconds
        longest, lateness, kind = max(found)
        said = " ".join(f"{status}:{times}" for status, times in sorted(statuses.items()))
        report.parameter(route, f"stall {longest:.1f} ms, late {lateness:.1f} ms, {kind}; statuses {said}")
        worst, count = max(worst, (longest, f"{route}: {kind}")), count + len(found)
        if statuses.keys() <= UNTOUCHED:
            unmeasured.append(route)
    if unmeasured:
        raise BenchmarkError(f"nobody looked at the bodies of {', '.join(unmeasured)}")
    report.parameter("worst", worst[1])
    report.value("bodies", count, "requests")
    report.wanted("worst_stall", worst[0], "ms", "at most", MOST_STALL)
    report.value("health_p50", percentile(health, 0.5), "ms")
    report.value("health_p99", percentile(health, 0.99), "ms")


async def logged_in(client: ApiClient) -> ApiClient:
    login = {"username": "admin", "password": PASSWORD}
    return client.with_token((await client.post("/api/auth/login", login)).expect()["access_token"])


@asynccontextmanager
async def _stalls(api: ApiClient) -> AsyncIterator[tuple[list[float], list[float]]]:
    """Worked and whole stalls of the block, there when it is over."""
    worked, late = [0.0], [0.0]
    await api.get("/bench/worked_stalls")
    await api.get("/bench/stalls")
    yield worked, late
    worked += (await api.get("/bench/worked_stalls")).expect()
    late += (await api.get("/bench/stalls")).expect()


async def _send(api: ApiClient, body: WorstBody, ids: dict[str, str]) -> tuple[int, float]:
    segments = body.path.split("/")
    path = "/".join(
        ids.get(before, NOBODY) if segment.startswith(":") else segment
        for before, segment in zip(["", *segments], segments, strict=False)
    )
    began = time.perf_counter()
    kind = "text/csv" if body.kind == "csv" else "application/json"
    try:
        status = (
            await api.request(body.method, path, raw=body.content, headers={"Content-Type": kind})
        ).status
    except HTTPTimeoutError:
        status = 0
    await asyncio.sleep(0.02)  # what the request left behind is freed
    return status, (time.perf_counter() - began) * 1000
