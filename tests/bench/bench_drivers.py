"""Drivers: the ten most used routes as bare handlers, and a bare firing loop, by three ways to call MongoDB.

`motor` is the plain client, `threads` the blocking client (motor's delegate) in threads of our own, as the
service calls it, `pymongo` the asynchronous client of PyMongo. All in one run, in turn.
"""

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from statistics import median

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.settings import SchedulerSettings
from tests.bench.bench_routes import Side, fill
from tests.bench.measured.batched_loop import seconds_to_record
from tests.bench.measured.drivers import DRIVERS
from tests.bench.measured.schedules import due_tasks, store
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import Report
from tests.bench.measuring.service import DATABASE, running_service

ROUNDS = 3
TASKS = 10_000


async def run(report: Report) -> None:
    """Measure each route and the firing of due tasks with each driver, and report it over plain motor."""
    report.parameter("rounds", ROUNDS)
    async with private_mongod() as uri:
        async with running_service(uri) as (_, client):
            ids = await fill(uri, client)
        arguments = (uri, DATABASE, ids.org, ids.device, ids.task, ids.execution, ids.user)
        async with AsyncExitStack() as stack:
            children = {
                kind: await stack.enter_async_context(child("measured.bare_routes", kind, *arguments))
                for kind in DRIVERS
            }
            for route in ids.paths:
                sides = {
                    kind: Side(url=f"http://127.0.0.1:{bare.said}/{route}", pid=bare.process.pid)
                    for kind, bare in children.items()
                }
                for side in sides.values():
                    await side.warm_up()
                for _ in range(ROUNDS):
                    for side in sides.values():
                        await side.measure()
                _report(report, route, {kind: side.rates for kind, side in sides.items()}, "requests/s")
        rates: dict[str, list[float]] = {kind: [] for kind in DRIVERS}
        for _ in range(ROUNDS):
            for kind, found in rates.items():
                found.append(await _fired(uri, kind))
        _report(report, "firing", rates, "executions/s")


def _report(report: Report, name: str, rates: dict[str, list[float]], unit: str) -> None:
    for kind, found in rates.items():
        report.raw(f"{name}_{kind}", found, unit)
        if kind != "motor":
            ratios = [one / plain for one, plain in zip(found, rates["motor"], strict=True)]
            report.value(f"{name}_{kind}_over_motor", median(ratios), "times")


async def _fired(uri: str, kind: str) -> float:
    async with fresh_database(uri, INDEXES) as database:
        await store(database, due_tasks(TASKS, datetime.now(UTC)))
        return TASKS / await seconds_to_record(uri, database.name, SchedulerSettings().batch, kind)
