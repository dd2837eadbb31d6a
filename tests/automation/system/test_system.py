"""The status of the system, and a pause that all nodes of a database keep to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from netautod import __version__
from netautod.assembly.automation import build_system
from netautod.automation.executions.models import Execution, new_execution, scheduled_id
from netautod.automation.system import store as system_store
from netautod.automation.system.heartbeat import NodeHeartbeat
from netautod.automation.system.models import Pause
from netautod.automation.system.pauses import FollowedPauses
from netautod.automation.system.store import SystemStore
from netautod.automation.tasks.models import Task
from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.settings.risks import Risk
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.store.client import Database
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.execution import Body, Does, World, due_task, eventually, manual_run, nothing, task
from tests.support.installation import bare_base
from tests.support.serving import Serve

REASON = {"reason": "maintenance of the core"}
PAUSE = Pause(reason="maintenance", by="admin", at=datetime(2026, 1, 1, tzinfo=UTC))
QUICK = 0.1


@dataclass(frozen=True, kw_only=True)
class Running:
    """A node with its own services on the common database."""

    id: str
    pauses: FollowedPauses
    store: SystemStore
    served: ServedRoutes

    def admin(self, org_id: str) -> ApiClient:
        return self.served.client("system.manage", org_id=org_id)[0]


Start = Callable[..., AbstractAsyncContextManager[Running]]


@pytest.fixture
def world(indexed: Database) -> World:
    return World(database=indexed)


@pytest.fixture
async def start(world: World, serve: Serve) -> Start:
    """Start what the composition root builds, with quick intervals: `async with start() as node`."""

    @asynccontextmanager
    async def run(work: Body = nothing) -> AsyncIterator[Running]:
        async with AsyncExitStack() as stack:
            store = world.stores.system
            pauses = await stack.enter_async_context(FollowedPauses(store=store, refresh_seconds=QUICK))
            node = world.node(Does(work), pauses=pauses)
            node_id = str(uuid4())
            heartbeat = NodeHeartbeat(
                store=store,
                node_id=node_id,
                migration=1,
                slots=7,
                running=lambda: node.runner.running,
                heartbeat_seconds=QUICK,
            )
            await stack.enter_async_context(heartbeat)
            await stack.enter_async_context(node)
            system = build_system(
                bare_base(
                    world.database,
                    stores=world.stores,
                    plugins=PluginManager(LoadedPlugins.of({"probe": object()})),
                    pauses=pauses,
                    metrics=world.metrics,
                    risks=(Risk(name="plain-http", text="passwords cross the network in clear"),),
                )
            )
            served = await serve(system)
            yield Running(id=node_id, pauses=pauses, store=store, served=served)

    return run


async def _audited(world: World) -> list[tuple[str, Any]]:
    found = await world.database.collection("audit_events").find({}, sort=[("at", 1)])
    return [(event["action"], event["details"]) for event in found]


async def test_the_status_names_nodes_database_plugins_and_queues(start: Start) -> None:
    async with start() as first, start() as second:
        status = (await first.admin(str(uuid4())).get("/api/system/status")).json
    assert [node["id"] for node in status["nodes"]] == [first.id, second.id]
    shown = {key: status["nodes"][0][key] for key in ("version", "running", "slots")}
    assert shown == {"version": __version__, "running": 0, "slots": 7}
    assert (status["database"]["ok"], status["database"]["replica_set"] is not None) == (True, True)
    assert status["plugins"] == [{"name": "probe", "version": None, "ok": True, "error": None}]
    assert (status["queues"], status["paused"]) == ({"pending": 0, "polls": 0}, None)
    assert status["risks"] == [{"name": "plain-http", "text": "passwords cross the network in clear"}]


async def test_heartbeats_go_on_and_end_with_the_node(start: Start) -> None:
    async with start() as stays:
        async with start() as leaves:
            (_, before) = await stays.store.nodes()

            async def later() -> bool:
                (_, now) = await stays.store.nodes()
                return (now.started_at, now.heartbeat_at > before.heartbeat_at) == (before.started_at, True)

            await eventually(later)
            assert before.id == leaves.id
        assert [node.id for node in await stays.store.nodes()] == [stays.id]


async def test_a_row_that_expired_comes_back_with_the_next_heartbeat(start: Start, world: World) -> None:
    async with start() as node:
        await world.database.collection(system_store.NODES).delete_many({})
        back = await eventually(node.store.nodes)
        assert [(row.id, row.slots) for row in back] == [(node.id, 7)]


async def test_the_row_of_a_dead_node_expires(indexed: Database) -> None:
    found = await indexed.collection(system_store.NODES).aggregate([{"$indexStats": {}}])
    (made,) = [index["spec"] for index in found if index["name"] == "heartbeat_at_1"]
    assert made["expireAfterSeconds"] == system_store.FORGET_SECONDS


async def _work_of(world: World, org_id: OrgId) -> tuple[Execution, Task]:
    """Add a run that a user started by hand, and a task whose tick has come."""
    requested, due = task(org_id=org_id), due_task(org_id=org_id)
    await world.add(requested, due)
    run = manual_run(requested)
    await world.executions.insert(run)
    return run, due


async def test_a_pause_stops_claims_and_ticks_on_every_node_until_the_resumption(
    start: Start, world: World
) -> None:
    ours, theirs = OrgId(str(uuid4())), OrgId(str(uuid4()))
    async with start() as first, start() as second:
        answer = await first.admin(ours).post("/api/system/pause", REASON)
        assert (answer.status, answer.json["paused"]["reason"]) == (200, REASON["reason"])
        await eventually(lambda: _knows(second, ours))
        run, due = await _work_of(world, ours)
        # What another organization wants is done meanwhile, by these nodes and past our waiting work.
        for _ in range(3):
            their_run, their_due = await _work_of(world, theirs)
            await world.until(their_run, "completed")
            await eventually(partial(_rows, world, their_due))
        assert (await world.get(run)).state == "pending"
        assert await _rows(world, due) == []
        status = (await second.admin(ours).get("/api/system/status")).json
        assert (status["queues"]["pending"], status["paused"]["by"][:5]) == (1, "user-")
        assert (await second.admin(theirs).get("/api/system/status")).json["paused"] is None
        assert (await second.admin(ours).post("/api/system/resume")).json == {"paused": None}
        await world.until(run, "completed")
        await eventually(lambda: _rows(world, due))
    assert await _audited(world) == [("system.pause", REASON), ("system.resume", {})]


async def _knows(node: Running, org_id: OrgId) -> bool:
    return org_id in node.pauses.paused()


async def _rows(world: World, of: Task) -> list[Any]:
    return await world.all(task_id=of.id)


async def test_ticks_that_passed_in_a_pause_follow_the_rule_of_missed_ones(
    start: Start, world: World
) -> None:
    now = due_task()
    recent = replace(now, next_run_at=now.next_run_at - timedelta(minutes=10))
    yearly = {"cron_expression": "0 0 1 1 *", "next_run_at": datetime(2026, 1, 1, tzinfo=UTC)}
    long_ago = task(org_id=now.org_id, **yearly)
    await FollowedPauses(store=SystemStore(world.database)).begin(now.org_id, PAUSE)
    await world.add(recent, long_ago)
    ours = {"task_id": {"$in": [recent.id, long_ago.id]}}
    async with start() as node:
        await world.until(await world.run(task()), "completed")
        assert await world.all(**ours) == []
        assert (await node.admin(now.org_id).post("/api/system/resume")).status == 200
        await eventually(lambda: _moved(world, recent))
        await eventually(lambda: _moved(world, long_ago))
    fired = await world.all(**ours)
    assert [run["task_id"] for run in fired] == [recent.id]
    # The newest of the minutes that passed; another one may have begun since.
    assert fired[0]["scheduled_for"] >= now.next_run_at


async def _moved(world: World, of: Task) -> bool:
    found = await world.tasks.get(of.org_id, of.id)
    assert found is not None
    return found.next_run_at > of.next_run_at


def _fired(of: Task, tick: datetime) -> Execution:
    """Return the execution that the due scan makes of a tick."""
    return new_execution(of, execution_id=scheduled_id(of.id, tick), scheduled_for=tick, created_at=tick)


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("waited", "paused", "started", "runs"),
    [
        pytest.param(3 * HOUR, 2 * HOUR, False, False, id="older than the window, as is the pause: missed"),
        pytest.param(HOUR / 2, 2 * HOUR, False, True, id="within the window: run"),
        pytest.param(3 * HOUR, HOUR / 2, False, True, id="a short pause does not make it late: run"),
        pytest.param(3 * HOUR, 2 * HOUR, True, True, id="waits for its retry: run"),
    ],
)
async def test_what_waited_when_a_pause_began_follows_the_catch_up_window(
    start: Start, world: World, waited: timedelta, paused: timedelta, started: bool, runs: bool
) -> None:
    now, held = SystemClock().now(), task()
    store = SystemStore(world.database)
    await FollowedPauses(store=store).begin(held.org_id, replace(PAUSE, at=now - paused))
    await FollowedPauses(store=store).begin(held.org_id, replace(PAUSE, at=now, reason="longer than thought"))
    await world.add(held)
    tick, by_hand = _fired(held, now - waited), manual_run(held)
    await world.executions.insert(tick)
    await world.executions.insert(replace(by_hand, created_at=now - waited))
    if started:
        attempt = {"number": 1, "started_at": now, "completed_at": now, "outcome": "failed", "node": "n"}
        await world.rows.update({"_id": tick.id}, {"$set": {"attempts": [{**attempt, "error_message": ""}]}})
    async with start() as node:
        assert (await node.admin(held.org_id).post("/api/system/resume")).status == 200
        await world.until(by_hand, "completed")
        done = await world.until(tick, "completed" if runs else "cancelled")
    assert (done.error_message is None) is runs
    assert world.metrics.value("scheduler_missed") == int(not runs)


async def test_an_end_that_is_cut_off_leaves_the_pause_in_place(start: Start, world: World) -> None:
    """Check the order: old runs are cancelled before the pause ends, and nothing is claimed in between."""
    now, held = SystemClock().now(), task()
    await FollowedPauses(store=SystemStore(world.database)).begin(
        held.org_id, replace(PAUSE, at=now - 2 * HOUR)
    )
    await world.add(held)
    await world.executions.insert(_fired(held, now - 3 * HOUR))
    async with start() as node:
        node.store.delete_pause = _fails  # type: ignore[method-assign]
        assert (await node.admin(held.org_id).post("/api/system/resume")).status == 503
        assert [row["state"] for row in await world.all(task_id=held.id)] == ["cancelled"]
        assert (await node.admin(held.org_id).get("/api/system/status")).json["paused"] is not None


async def _fails(org_id: OrgId) -> bool:
    raise Unavailable("away")


async def test_what_runs_when_a_pause_begins_may_finish(start: Start, world: World) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def wait(context: Any) -> str:
        began.set()
        await go_on.wait()
        return "done"

    async with start(wait) as node:
        run = await world.run(task())
        async with asyncio.timeout(10):
            await began.wait()
        await node.admin(run.org_id).post("/api/system/pause", REASON)
        status = (await node.admin(run.org_id).get("/api/system/status")).json
        go_on.set()
        assert (await world.until(run, "completed")).output == "done"
    assert (status["queues"]["pending"], status["paused"]["reason"]) == (0, REASON["reason"])


async def test_a_node_that_starts_during_a_pause_begins_nothing(start: Start, world: World) -> None:
    org_id = OrgId(str(uuid4()))
    await FollowedPauses(store=SystemStore(world.database)).begin(org_id, PAUSE)
    run, due = await _work_of(world, org_id)
    async with start():
        other = await world.run(task())
        await world.until(other, "completed")
        assert (await world.get(run)).state == "pending"
        assert await _rows(world, due) == []


async def test_pausing_twice_and_resuming_twice(start: Start, world: World) -> None:
    async with start() as node:
        admin = node.admin(str(uuid4()))
        for reason in ("first", "second"):
            assert (await admin.post("/api/system/pause", {"reason": reason})).status == 200
        paused = (await admin.get("/api/system/status")).json["paused"]
        for _ in range(2):
            assert (await admin.post("/api/system/resume")).json == {"paused": None}
    assert paused["reason"] == "second"
    actions = [action for action, _ in await _audited(world)]
    assert actions == ["system.pause", "system.pause", "system.resume"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="none"),
        pytest.param({"reason": " "}, id="blank"),
        pytest.param({"reason": 7}, id="a number"),
        pytest.param({"reason": {"$ne": ""}}, id="an operator"),
        pytest.param({"reason": "x" * 1025}, id="too long"),
    ],
)
async def test_a_pause_needs_a_reason(start: Start, body: dict[str, Any]) -> None:
    async with start() as node:
        admin = node.admin(str(uuid4()))
        assert_error(await admin.post("/api/system/pause", body), 400, "reason")
        assert (await admin.get("/api/system/status")).json["paused"] is None


@pytest.mark.parametrize("line", ["GET /status", "POST /pause", "POST /resume"])
async def test_others_than_administrators_are_refused(start: Start, line: str) -> None:
    method, path = line.split()
    async with start() as node:
        operator = node.served.client("tasks.operate", "devices.manage")[0]
        body = None if method == "GET" else REASON
        assert_error(await operator.request(method, f"/api/system{path}", body), 403)
