"""Event streams: what listeners cost a node, and how soon an event is heard on another one."""

import asyncio
import resource
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from netautod.activity.events.settings import EventSettings
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.load import run_load
from tests.bench.measuring.processor import tree_cpu_seconds, tree_pss_megabytes
from tests.bench.measuring.report import Report, percentile
from tests.bench.measuring.service import UNLIMITED
from tests.support.client import ApiClient
from tests.support.listening import Listening, listening
from tests.support.programs.service import Service, serving

LISTENERS = EventSettings().listeners
DEVICES, CONNECTIONS, SECONDS, ROUNDS = 100, 8, 4.0, 5
RUNS, PAUSE = 200, 0.05
QUIET_SECONDS = 3.0


async def run(report: Report) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    report.parameter("listeners", LISTENERS)
    report.parameter("load", f"GET /api/devices over {CONNECTIONS} connections, {ROUNDS} times {SECONDS:g} s")
    async with AsyncExitStack() as stack:
        uri = await stack.enter_async_context(private_mongod())
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="netautod-bench-")))
        first = await stack.enter_async_context(node(uri, folder / "first"))
        client = await first.client()
        task = await _fill(client)
        await _cost(report, first, client)
        for name, change_streams, limit in (("change_streams", "true", 1.0), ("looking", "false", 3.0)):
            shutil.copytree(folder / "first", folder / name)
            variables = {"NETAUTOD_EVENTS_CHANGE_STREAMS": change_streams}
            async with node(uri, folder / name, variables) as other:
                took = await _latency(client, other, task)
            report.value(f"{name}.p50", percentile(took, 0.5), "s")
            report.wanted(f"{name}.p99", percentile(took, 0.99), "s", "at most", limit)


@asynccontextmanager
async def node(uri: str, folder: Path, variables: dict[str, str] | None = None) -> AsyncIterator[Service]:
    """All nodes of the benchmark have the root key of the first one."""
    async with serving(folder, "--mongodb-uri", uri, variables={**UNLIMITED, **(variables or {})}) as service:
        yield service


async def _fill(client: ApiClient) -> str:
    """Devices to list; the id of a task that visits none of them."""
    for number in range(DEVICES):
        device = {"name": f"d{number}", "host": f"192.0.2.{number}", "device_type": "linux"}
        (await client.post("/api/devices", device)).expect(201)
    task = {
        "name": "nothing",
        "task_type": "backup",
        "cron_expression": "0 0 1 1 *",
        "enabled": False,
        "parameters": {"device_filter": {"site": "none"}},
    }
    made: str = (await client.post("/api/tasks/schedules", task)).expect(201)["id"]
    return made


async def _cost(report: Report, service: Service, client: ApiClient) -> None:
    """Rates with and without listeners by turns: what else the machine does meets both."""
    await _rate(service, client)
    before = tree_pss_megabytes(service.process.pid)
    without, with_them, processor = list[float](), list[float](), list[float]()
    memory = 0.0
    for number in range(ROUNDS):
        without.append(await _rate(service, client))
        async with AsyncExitStack() as stack:
            for _ in range(LISTENERS):
                await stack.enter_async_context(listening(service.url, client.token))
            await asyncio.sleep(QUIET_SECONDS)
            if number == 0:
                memory = tree_pss_megabytes(service.process.pid) - before
                processor.append(await _processor(service))
            with_them.append(await _rate(service, client))
        await asyncio.sleep(QUIET_SECONDS)
    report.wanted("memory", memory, "MB", "at most", 30)
    report.value("processor", processor[0] * 100, "% of one")
    report.raw("rate_without", without, "requests/s")
    report.raw("rate_with", with_them, "requests/s")
    ratios = [one / other for one, other in zip(with_them, without, strict=True)]
    report.wanted("rate_with_over_without", median(ratios), "times", "at least", 0.9)
    after = tree_pss_megabytes(service.process.pid) - before
    report.value("memory_afterwards", after, "MB")


async def _rate(service: Service, client: ApiClient) -> float:
    token = f"Authorization: Bearer {client.token}"
    url = f"{service.url}/api/devices?limit=50"
    return (await run_load(url, connections=CONNECTIONS, seconds=SECONDS, headers=(token,))).per_second


async def _processor(service: Service) -> float:
    """What quiet listeners take of a processor."""
    began, at = tree_cpu_seconds(service.process.pid), time.monotonic()
    await asyncio.sleep(QUIET_SECONDS)
    return (tree_cpu_seconds(service.process.pid) - began) / (time.monotonic() - at)


async def _latency(client: ApiClient, other: Service, task: str) -> list[float]:
    """Seconds from each request to run a task to its event on the other node."""
    token, sent = (await other.client()).token, dict[str, float]()
    async with listening(other.url, token) as received:
        hearing = asyncio.create_task(_hear(received))
        for _ in range(RUNS):
            asked = time.monotonic()
            answer = (await client.post(f"/api/tasks/schedules/{task}/run")).expect(202)
            sent[answer["id"]] = asked
            await asyncio.sleep(PAUSE)
        at = await hearing
        return [at[execution] - asked for execution, asked in sent.items()]


async def _hear(received: Listening) -> dict[str, float]:
    at: dict[str, float] = {}
    while len(at) < RUNS:
        event = await received.next("execution")
        at.setdefault(event.data["id"], time.monotonic())
    return at
