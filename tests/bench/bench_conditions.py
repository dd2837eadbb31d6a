"""What entity tags and idempotency keys cost: beside the same request without them, in one run.

Requests go one after the other over one connection, so that their times are those of the service.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from statistics import median
from uuid import uuid4

from netautod.http.conditions.tags import tag_of
from tests.bench.bench_bodies import UNDESCRIBED
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient, Response

DEVICES = 100
ROUNDS = 100
LIST = f"/api/devices?limit={DEVICES}"
MOST_OF_A_LIST = 0.05
LEAST_OF_A_RUN = 0.4

Asked = Callable[[], Awaitable[Response]]


async def run(report: Report) -> None:
    report.parameter("devices of the list", DEVICES)
    report.parameter("rounds", ROUNDS)
    async with private_mongod() as uri, running_service(uri) as (_, client):
        client = replace(client, description=UNDESCRIBED)  # to check answers takes longer than to give them
        await _lists(report, client)
        await _runs(report, client)


async def _lists(report: Report, client: ApiClient) -> None:
    for number in range(DEVICES):
        device = {"name": f"switch {number}", "host": "192.0.2.1", "device_type": "cisco_ios"}
        (await client.post("/api/devices", device)).expect(201)
    listed = await client.get(LIST)
    unchanged = {"If-None-Match": listed.headers["ETag"]}
    found = await _medians(
        {"list": lambda: client.get(LIST), "not_modified": lambda: client.get(LIST, headers=unchanged)}
    )
    tag = median(_seconds_of_a_tag(listed.content) for _ in range(ROUNDS))
    report.value("list", found["list"] * 1000, "ms")
    report.value("not_modified", found["not_modified"] * 1000, "ms")
    report.value("list_bytes", len(listed.content), "bytes")
    report.value("tag", tag * 1e6, "us")
    report.wanted("tag_of_list", tag / found["list"], "of a request", "at most", MOST_OF_A_LIST)


async def _runs(report: Report, client: ApiClient) -> None:
    task = {"name": "run", "task_type": "health_check", "cron_expression": "0 0 1 1 *"}
    path = f"/api/tasks/schedules/{(await client.post('/api/tasks/schedules', task)).expect(201)['id']}/run"

    def keyed(key: str = "") -> Awaitable[Response]:
        return client.post(path, headers={"Idempotency-Key": key or uuid4().hex})

    await keyed("repeated")
    found = await _medians(
        {"run": lambda: client.post(path), "keyed_run": keyed, "replay": lambda: keyed("repeated")}
    )
    for name, seconds in found.items():
        report.value(name, seconds * 1000, "ms")
    report.wanted(
        "run_over_keyed_run", found["run"] / found["keyed_run"], "times", "at least", LEAST_OF_A_RUN
    )


async def _medians(asked: Mapping[str, Asked]) -> dict[str, float]:
    """The seconds of each kind of request; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(ROUNDS):
        for name, ask in asked.items():
            began = time.perf_counter()
            await ask()
            times[name].append(time.perf_counter() - began)
    return {name: median(each) for name, each in times.items()}


def _seconds_of_a_tag(content: bytes) -> float:
    began = time.perf_counter()
    tag_of([content])
    return time.perf_counter() - began
