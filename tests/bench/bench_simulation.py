"""A fleet of 1,000,000 tasks, 200,000 devices and 50 nodes: the lag, the database's work, the first limit.

`python tests/bench/bench_simulation.py --scale 10 --speed 5 --minutes 2` plays a part of it: tasks, devices
and nodes divided by the scale, each node a process, and the day faster by the speed: what is due in so many
minutes comes at once at the beginning of a single one, and sessions take so much less. What has been scaled
is printed with the numbers. With `--scale 1` it is the whole fleet, which needs fifty processors.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pymongo import AsyncMongoClient

# As a script, Python looks for modules beside this file only.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from netautod.assembly.data.stores import INDEXES
from netautod.store.client import Database, Document
from tests.bench.measured.simulated_fleet import Fleet, store_fleet
from tests.bench.measuring.children import Child, child
from tests.bench.measuring.databases import fresh_database
from tests.bench.measuring.processor import cpu_seconds
from tests.bench.measuring.report import BenchmarkError, Report, percentile
from tests.bench.measuring.simulated_database import database_process

QUIET_SECONDS = 10.0
HEAD_START = timedelta(seconds=QUIET_SECONDS + 10)
FINISH_SECONDS = 600.0
OPERATIONS = ("insert", "query", "update", "delete", "getmore", "command")


@dataclass(frozen=True, kw_only=True)
class Play:
    """`scale` divides the fleet, `speed` its day; `minutes` are played."""

    scale: float = 10.0
    speed: float = 5.0
    minutes: int = 2
    fleet: Fleet = field(default_factory=Fleet)

    @property
    def part(self) -> Fleet:
        fleet = self.fleet.scaled(self.scale)
        return replace(fleet, session_seconds=fleet.session_seconds / self.speed)

    @property
    def due(self) -> int:
        """In each minute that is played."""
        return max(1, round(self.part.due_each_minute * self.speed))


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What had been spent by then: operations by kind, seconds of processors."""

    at: float
    operations: Mapping[str, int]
    database_cpu: float
    nodes_cpu: float

    def since(self, before: "Moment") -> "Moment":
        return Moment(
            at=self.at - before.at,
            operations={kind: self.operations[kind] - before.operations[kind] for kind in OPERATIONS},
            database_cpu=self.database_cpu - before.database_cpu,
            nodes_cpu=self.nodes_cpu - before.nodes_cpu,
        )

    @property
    def all_operations(self) -> int:
        return sum(self.operations.values())


async def run(report: Report, play: Play | None = None) -> None:
    """Seeds the rows, looks at the nodes while nothing is due, then plays the minutes."""
    play = play or Play()
    _tell_what_is_scaled(report, play)
    async with AsyncExitStack() as stack:
        uri, pid = await stack.enter_async_context(database_process())
        database = await stack.enter_async_context(fresh_database(uri, INDEXES))
        stand = _Stand(uri=uri, database=database, pid=pid)
        await _play(report, play, stand, stack)


@dataclass(kw_only=True)
class _Stand:
    uri: str
    database: Database
    pid: int
    nodes: Sequence[Child] = ()

    async def moment(self) -> Moment:
        client: AsyncMongoClient[Document] = AsyncMongoClient(self.uri)
        try:
            counters = (await client.admin.command("serverStatus"))["opcounters"]
        finally:
            await client.close()
        return Moment(
            at=asyncio.get_running_loop().time(),
            operations={kind: int(counters[kind]) for kind in OPERATIONS},
            database_cpu=cpu_seconds(self.pid),
            nodes_cpu=sum(cpu_seconds(node.process.pid) for node in self.nodes),
        )


async def _play(report: Report, play: Play, stand: _Stand, stack: AsyncExitStack) -> None:
    part = play.part
    # The rows of the tasks name the minutes, which must lie behind the seeding: a day is long enough.
    begun = asyncio.get_running_loop().time()
    await store_fleet(stand.database, part, [datetime.now(UTC) + timedelta(days=1)], 0)
    report.value("seeding", asyncio.get_running_loop().time() - begun, "s")
    stand.nodes = await stack.enter_async_context(_nodes(play, stand))
    idle = await _idle(stand)
    minutes = _minutes(play.minutes)
    await _make_due(stand.database, minutes, play.due)
    await asyncio.sleep((minutes[0] - datetime.now(UTC)).total_seconds())
    before = await stand.moment()
    if not await _done(stand.database, minutes, play.due):
        report.parameter(
            "not done", f"within {FINISH_SECONDS:g} s: what follows is of the executions that are"
        )
    spent = (await stand.moment()).since(before)
    done = {"scheduled_for": {"$in": minutes}, "state": "completed"}
    rows = await stand.database.collection("executions").find(done)
    if not rows:
        raise BenchmarkError(f"nothing was done within {FINISH_SECONDS:g} s")
    _tell(report, play, idle=idle, spent=spent, rows=rows)


@asynccontextmanager
async def _nodes(play: Play, stand: _Stand) -> AsyncIterator[list[Child]]:
    part = play.part
    arguments = (stand.uri, stand.database.name, str(part.slots), str(part.session_seconds))
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(child("measured.simulated_node", *arguments))
            for _ in range(part.nodes)
        ]


async def _idle(stand: _Stand) -> Moment:
    """What the nodes ask while nothing is due."""
    before = await stand.moment()
    await asyncio.sleep(QUIET_SECONDS)
    return (await stand.moment()).since(before)


def _minutes(count: int) -> list[datetime]:
    first = (datetime.now(UTC) + HEAD_START).replace(second=0, microsecond=0) + timedelta(minutes=1)
    return [first + timedelta(minutes=number) for number in range(count)]


async def _make_due(database: Database, minutes: Sequence[datetime], due: int) -> None:
    tasks = database.collection("tasks")
    ids = [row["_id"] for row in await tasks.find({}, fields={"_id": 1}, limit=due * len(minutes))]
    if len(ids) < due * len(minutes):
        raise BenchmarkError("the fleet has fewer tasks than come due: less speed, or fewer minutes")
    for number, minute in enumerate(minutes):
        change = {"next_run_at": minute, "cron_expression": f"{minute.minute} {minute.hour} * * *"}
        some = ids[number * due : (number + 1) * due]
        await tasks.update_many({"_id": {"$in": some}}, {"$set": change})


async def _done(database: Database, minutes: Sequence[datetime], due: int) -> bool:
    """Whether all that was due has been done in time. Asked seldom: the question is an operation, too."""
    wanted, executions = due * len(minutes), database.collection("executions")
    done = {"scheduled_for": {"$in": list(minutes)}, "state": "completed"}
    with suppress(TimeoutError):
        async with asyncio.timeout(FINISH_SECONDS):
            while await executions.count(done) < wanted:  # noqa: ASYNC110  # no event crosses the database
                await asyncio.sleep(2)
            return True
    return False


def _tell_what_is_scaled(report: Report, play: Play) -> None:
    whole, part = play.fleet, play.part
    report.parameter("a run", "one device of its own a day; polls and requests of people are not played")
    for name in ("tasks", "devices", "nodes"):
        report.parameter(name, f"{getattr(part, name)} of {getattr(whole, name)} (scale {play.scale:g})")
    report.parameter("slots of a node", part.slots)
    report.parameter(
        "a session", f"{part.session_seconds:g} s for {whole.session_seconds:g} s (speed {play.speed:g})"
    )
    report.parameter(
        "due at once",
        f"{play.due}: {play.speed:g} minutes' worth of the day, {play.minutes} times, 60 s apart",
    )


def _tell(report: Report, play: Play, *, idle: Moment, spent: Moment, rows: Sequence[Document]) -> None:
    lags = [(row["started_at"] - row["scheduled_for"]).total_seconds() for row in rows]
    count, part = len(rows), play.part
    report.value("executions", count, "executions")
    report.value("lag_p50", percentile(lags, 0.5), "s")
    report.value("lag_p99", percentile(lags, 0.99), "s")
    report.value("idle_operations", idle.all_operations / idle.at / part.nodes, "operations/s for a node")
    report.value("operations", spent.all_operations / spent.at, "operations/s")
    for kind in OPERATIONS:
        report.parameter(f"operations.{kind}", f"{spent.operations[kind] / spent.at:.1f}/s")
    # The nodes' own rounds go on in the minutes that are played; the rest is the executions'.
    rounds = idle.all_operations / idle.at * spent.at
    each = (spent.all_operations - rounds) / count
    report.value("operations_of_an_execution", each, "operations")
    wanted = play.fleet.due_each_minute / 60
    whole = idle.all_operations / idle.at / part.nodes * play.fleet.nodes + each * wanted
    report.value("whole_fleet_operations", whole, "operations/s")
    _tell_limits(report, play, idle=idle, spent=spent, count=count)


def _tell_limits(report: Report, play: Play, *, idle: Moment, spent: Moment, count: int) -> None:
    """What each part of the whole fleet could carry, in executions a second, if it had nothing else to do."""
    fleet, part = play.fleet, play.part
    wanted = fleet.due_each_minute / 60
    database_rounds = idle.database_cpu / idle.at / part.nodes
    node_rounds = idle.nodes_cpu / idle.at / part.nodes
    database = (spent.database_cpu - database_rounds * part.nodes * spent.at) / count
    node = (spent.nodes_cpu - node_rounds * part.nodes * spent.at) / count
    report.value("database_cpu", database * 1000, "ms/execution")
    report.value("node_cpu", node * 1000, "ms/execution, without the device's session")
    report.value("database_rounds_of_all_nodes", database_rounds * fleet.nodes * 100, "% of a processor")
    limits = {
        "slots": fleet.nodes * fleet.slots / fleet.session_seconds,
        "processors of the nodes, one each": fleet.nodes * max(0.0, 1 - node_rounds) / max(node, 1e-6),
        "one processor of the database": max(0.0, 1 - database_rounds * fleet.nodes) / max(database, 1e-6),
    }
    for name, rate in limits.items():
        report.parameter(f"limit: {name}", f"{rate:.1f} executions/s, {rate / wanted:.1f} times what is due")
    first = min(limits, key=lambda name: limits[name])
    report.parameter("the first limit", first)
    report.value("wanted", wanted, "executions/s")
    report.value("first_limit", limits[first], "executions/s")


def _arguments() -> Play:
    parser = argparse.ArgumentParser(description=__doc__)
    known = Play()
    parser.add_argument("--scale", type=float, default=known.scale, help="divides tasks, devices and nodes")
    parser.add_argument("--speed", type=float, default=known.speed, help="minutes of the day in one")
    parser.add_argument("--minutes", type=int, default=known.minutes, help="minutes that are played")
    parsed = parser.parse_args()
    return Play(scale=parsed.scale, speed=parsed.speed, minutes=parsed.minutes)


if __name__ == "__main__":
    asyncio.run(run(Report("simulation"), _arguments()))
