"""Routes: requests per second of the ten most used ones, each against a bare handler that reads the same."""

import os
from dataclasses import dataclass, field, replace
from datetime import timedelta
from statistics import median
from typing import Any
from uuid import uuid4

from netautod.automation.executions.models import new_execution
from netautod.automation.executions.store import ExecutionStore
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.queries import COLLECTION as DEVICES
from netautod.network.devices.records.queries import SEARCH, search_text
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.bench.measured import bare_routes
from tests.bench.measured.fleet import add_devices, fleet
from tests.bench.measured.schedules import store
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.load import run_load
from tests.bench.measuring.processor import tree_cpu_seconds
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import DATABASE, running_service
from tests.support.client import ApiClient
from tests.support.execution import task

ROWS = 2_000  # devices, and executions
TASKS = 200
DOCUMENTS = 50
INTERFACES = 8
CONNECTIONS = 16
ROUNDS = 3
SECONDS = 2.0
WARM_UP_SECONDS = 0.5
WANTED = 0.8
# `BENCH_ROUTES=devices,me` measures these only.
CHOSEN = "BENCH_ROUTES"


@dataclass(frozen=True, kw_only=True)
class Ids:
    """In the order in which the bare handlers take them."""

    org: str
    device: str
    task: str
    execution: str
    user: str

    @property
    def paths(self) -> dict[str, str]:
        """The paths of the API by the names of the bare handlers."""
        limit = f"limit={bare_routes.LIMIT}"
        return {
            "devices": f"/api/devices?{limit}",
            "device": f"/api/devices/{self.device}",
            "backups": f"/api/devices/with-backup-info?{limit}",
            "config": f"/api/config/devices/{self.device}/configs/latest",
            "schedules": f"/api/tasks/schedules?{limit}",
            "schedule": f"/api/tasks/schedules/{self.task}",
            "executions": f"/api/tasks/executions?{limit}",
            "execution": f"/api/tasks/executions/{self.execution}",
            "docs": "/api/docs",
            "me": "/api/auth/me",
        }


@dataclass(kw_only=True)
class Side:
    """One server at one route; `cpu`: milliseconds of processor time of its processes for a request."""

    url: str
    pid: int
    headers: tuple[str, ...] = ()
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def measure(self) -> None:
        before = tree_cpu_seconds(self.pid)
        load = await run_load(self.url, connections=CONNECTIONS, seconds=SECONDS, headers=self.headers)
        self.rates.append(load.per_second)
        self.cpu.append((tree_cpu_seconds(self.pid) - before) / load.requests * 1000)

    async def warm_up(self) -> None:
        await run_load(self.url, connections=CONNECTIONS, seconds=WARM_UP_SECONDS, headers=self.headers)


async def run(report: Report) -> None:
    """Rounds of load on the service and on the bare handler in turn; each is a process of its own."""
    report.parameter("devices and executions", ROWS)
    report.parameter("tasks", TASKS)
    report.parameter("documents", DOCUMENTS)
    report.parameter("connections", CONNECTIONS)
    report.parameter("rounds", f"{ROUNDS} of {SECONDS:g} s on either side of each route")
    async with private_mongod() as uri, running_service(uri) as (service, client):
        ids = await fill(uri, client)
        arguments = (ids.org, ids.device, ids.task, ids.execution, ids.user)
        async with child("measured.bare_routes", "motor", uri, DATABASE, *arguments) as bare:
            token = f"Authorization: Bearer {client.token}"
            for name, path in ids.paths.items():
                if name not in os.environ.get(CHOSEN, name).split(","):
                    continue
                ours = Side(url=service.url + path, pid=service.process.pid, headers=(token,))
                other = Side(url=f"http://127.0.0.1:{bare.said}/{name}", pid=bare.process.pid)
                await _measure(report, name, ours, other)


async def _measure(report: Report, name: str, ours: Side, bare: Side) -> None:
    for side in (ours, bare):
        await side.warm_up()
    for _ in range(ROUNDS):
        for side in (ours, bare):
            await side.measure()
    report.raw(name, ours.rates, "requests/s")
    report.raw(f"{name}_bare", bare.rates, "requests/s")
    # The database is the same on either side and hides a part of the difference; this does not.
    report.value(f"{name}_cpu", median(ours.cpu), "ms/request")
    report.value(f"{name}_cpu_over_bare", median(bare.cpu) / median(ours.cpu), "times")
    ratios = [our / other for our, other in zip(ours.rates, bare.rates, strict=True)]
    report.wanted(f"{name}_over_bare", median(ratios), "times", "at least", WANTED)


async def fill(uri: str, client: ApiClient) -> Ids:
    """By the API what it makes of one, then copies of the documents."""
    async with fleet(1, 1, interfaces=INTERFACES) as ports:
        await add_devices(client, ports)
        listed = (await client.get("/api/devices")).expect()
        device = listed["devices"][0]
        pulled = await client.post(f"/api/config/devices/{device['id']}/pull")
        if pulled.status not in (200, 201):
            raise BenchmarkError(f"the config could not be pulled: {pulled.content!r}")
    document = {"category": "outputs", "content_type": "text", "content": "x" * 400}
    for number in range(DOCUMENTS):
        (await client.post("/api/docs", {**document, "name": f"note {number}"})).expect(201)
    me = (await client.get("/api/auth/me")).expect()
    database = connect(uri, DATABASE)
    try:
        await _copy_devices(database, device["id"])
        first, execution = await _add_tasks(database, device["org_id"], me["id"])
    finally:
        database.close()
    return Ids(org=device["org_id"], device=device["id"], task=first, execution=execution, user=me["id"])


async def _copy_devices(database: Database, device_id: str) -> None:
    for collection, key in ((DEVICES, "_id"), ("configs", "device_id")):
        if await database.collection(collection).find_one({key: device_id}) is None:
            raise BenchmarkError(f"there is nothing of the device in {collection}")
    copies = [str(uuid4()) for _ in range(ROWS - 1)]
    await _copy(
        database,
        DEVICES,
        {"_id": device_id},
        lambda found, number: {
            "_id": copies[number],
            "name": f"switch {number}",
            SEARCH: search_text(f"switch {number}", found["host"]),
        },
    )
    await _copy(
        database,
        "configs",
        {"device_id": device_id},
        lambda _, number: {"_id": str(uuid4()), "device_id": copies[number]},
    )
    found = await database.collection(DEVICES).find_one({"_id": device_id})
    assert found is not None
    await DeviceCounts(database).changed(found["org_id"])


async def _copy(database: Database, name: str, where: dict[str, Any], change: Any) -> None:
    collection = database.collection(name)
    found = await collection.find_one(where)
    await collection.insert_many([{**(found or {}), **change(found, number)} for number in range(ROWS - 1)])


async def _add_tasks(database: Database, org_id: Any, user_id: str) -> tuple[str, str]:
    """The ids of a task and of an execution."""
    later = task().next_run_at + timedelta(days=365)
    base = task(org_id=org_id, owner_id=user_id, next_run_at=later, parameters={"note": "x" * 200})
    tasks = [replace(base, id=str(uuid4()), name=f"task {number}") for number in range(TASKS)]
    await store(database, tasks)
    executions = [
        replace(
            new_execution(
                tasks[number % TASKS],
                execution_id=str(uuid4()),
                scheduled_for=None,
                created_at=base.created_at + timedelta(seconds=number),
            ),
            state="completed",
            output={"total": 1, "succeeded": 1, "failed": 0},
        )
        for number in range(ROWS)
    ]
    await ExecutionStore(database).insert_many(executions)
    return tasks[0].id, executions[0].id
