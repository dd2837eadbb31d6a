"""Runs of chosen devices: those that failed before, and those of a bulk pull without a task."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.upkeep.retention import ExecutionRetention
from netautod.automation.tasks.parameters import SchemaRules
from netautod.core.identity.caller import Caller, OrgId, UsedToken
from netautod.core.settings.retention import RetentionSettings
from netautod.core.work.context import Work
from netautod.plugin_api import DeviceResult, RunContext
from netautod_backup import BackupParameters
from tests.automation.tasks.conftest import MISSING, OPERATOR, SCHEDULES, Tasks, created, operator
from tests.support.client import ApiClient, assert_error
from tests.support.execution import Does, World, task, task_services

EXECUTIONS = "/api/tasks/executions"
ORGANIZATION = "11111111-2222-4333-8444-555555555555"
GOOD = DeviceResult(device_id="d1", device_name="sw1", success=True, duration_ms=5)
BAD = replace(GOOD, success=False, error="no answer", error_kind="timeout")
FLEET = (GOOD, replace(BAD, device_id="d2"), replace(BAD, device_id="d3", final=True))


async def ended(tasks: Tasks, *results: DeviceResult, state: str = "failed") -> tuple[ApiClient, str]:
    """Return an execution in that state, which has left these results."""
    client, caller = tasks.served.client(*OPERATOR)
    run = await _run(client)
    world = World(database=tasks.database)
    for result in results:
        await world.stores.execution_results.record(Work(caller=caller), run["id"], 1, result)
    await world.rows.update({"_id": run["id"]}, {"$set": {"state": state}})
    return client, run["id"]


async def _run(client: ApiClient) -> dict[str, Any]:
    one = await created(client)
    run: dict[str, Any] = (await client.post(f"{SCHEDULES}/{one['id']}/run")).expect(202)
    return run


async def test_a_retry_is_an_execution_of_the_same_task_for_what_failed(tasks: Tasks) -> None:
    client, before = await ended(tasks, *FLEET)
    first = (await client.get(f"{EXECUTIONS}/{before}")).expect()
    again = (await client.post(f"{EXECUTIONS}/{before}/retry-failed")).expect(202)
    assert again["id"] != before
    assert (again["retry_of"], first["retry_of"]) == (before, None)
    named = ("task_id", "task_name", "task_type", "triggered_by", "requested_by")
    assert {name: again[name] for name in named} == {name: first[name] for name in named}
    assert (again["state"], again["triggered_by"], again["attempts"]) == ("pending", "manual", [])
    rows = World(database=tasks.database).rows
    row = await rows.find_one({"_id": again["id"]})
    assert row is not None
    assert sorted(row["chosen"]) == ["d2", "d3"]  # what failed for good as well: somebody wants it tried
    listed = (await client.get(EXECUTIONS)).expect()["executions"]
    assert [one["retry_of"] for one in listed if one["id"] == again["id"]] == [before]
    # As the task is by now.
    (await client.put(f"{SCHEDULES}/{again['task_id']}", {"timeout_seconds": 77})).expect()
    later = (await client.post(f"{EXECUTIONS}/{before}/retry-failed")).expect(202)
    row = await rows.find_one({"_id": later["id"]})
    assert row is not None
    assert row["timeout_seconds"] == 77


@pytest.mark.parametrize(
    ("state", "results", "text"),
    [
        pytest.param("running", FLEET, "not ended yet: running", id="it runs"),
        pytest.param("pending", FLEET, "not ended yet: pending", id="it waits"),
        pytest.param("approval_pending", FLEET, "not ended yet", id="it waits for an approval"),
        pytest.param("completed", (GOOD,), "No device of the execution failed", id="none failed"),
        pytest.param("failed", (), "no results of devices", id="its type keeps none"),
    ],
)
async def test_there_is_nothing_to_retry(
    tasks: Tasks, state: str, results: tuple[DeviceResult, ...], text: str
) -> None:
    client, before = await ended(tasks, *results, state=state)
    assert_error(await client.post(f"{EXECUTIONS}/{before}/retry-failed"), 409, text)
    assert (await client.get(EXECUTIONS)).expect()["total"] == 1


@pytest.mark.parametrize("state", ["failed", "timeout", "cancelled", "completed"])
async def test_every_end_can_be_retried(tasks: Tasks, state: str) -> None:
    client, before = await ended(tasks, *FLEET, state=state)
    (await client.post(f"{EXECUTIONS}/{before}/retry-failed")).expect(202)


async def test_who_may_retry(tasks: Tasks) -> None:
    client, before = await ended(tasks, *FLEET)
    assert_error(await operator(tasks).post(f"{EXECUTIONS}/{before}/retry-failed"), 404, "not found")
    assert_error(await client.post(f"{EXECUTIONS}/{MISSING}/retry-failed"), 404, "not found")
    reader = tasks.served.client("devices.access")[0]
    assert reader is not None
    assert_error(await reader.post(f"{EXECUTIONS}/{before}/retry-failed"), 403)


async def test_a_task_that_is_gone_is_not_run_again(tasks: Tasks) -> None:
    client, before = await ended(tasks, *FLEET)
    task_id = (await client.get(f"{EXECUTIONS}/{before}")).expect()["task_id"]
    assert (await client.delete(f"{SCHEDULES}/{task_id}")).status == 204
    assert_error(await client.post(f"{EXECUTIONS}/{before}/retry-failed"), 409, "was deleted")


def pulls(world: World) -> DeviceSubsetRuns:
    rules = SchemaRules(schemas={"backup": BackupParameters}, references={})
    return task_services(world.database, clock=world.clock, rules=rules, observers=world.finished)[3]


def caller(**values: Any) -> Caller:
    base = Caller(
        user_id=str(uuid4()), org_id=OrgId(ORGANIZATION), username="ann", permissions=frozenset({"*"})
    )
    return replace(base, **values)


async def test_pulls_without_a_task_run_side_by_side(world: World) -> None:
    """Check that each counts as its own task: an index lets one execution of a task run at a time."""
    subset_runs, started = pulls(world), asyncio.Semaphore(0)
    both = asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.release()
        await both.wait()
        return context.execution.task_id

    async with world.node(Does(work)):
        ones = [await subset_runs.pull(caller(), ["d1", "d1", "d2"]) for _ in range(2)]
        for _ in ones:
            await started.acquire()
        both.set()
        done = [await world.until(one, "completed") for one in ones]
    assert [one.output for one in done] == [None, None]
    assert [list(one.device_subset or ()) for one in done] == [["d1", "d2"]] * 2
    assert [one.to_json()["task_id"] for one in done] == [None, None]
    assert {(one.task_type, one.task_name, one.max_retries) for one in done} == {("backup", "bulk pull", 0)}
    assert {(one.task_id, one.state) for one in world.finished} == {(None, "completed")}
    assert await world.database.collection("tasks").count({}) == 0


async def test_a_pull_has_no_more_permissions_than_its_token(world: World) -> None:
    token = UsedToken(id=str(uuid4()), name="ci", expires_at=None)
    with_token = caller(token=token, permissions=frozenset({"devices.manage"}))
    assert (await pulls(world).pull(with_token, ["d1"])).scope == ["devices.manage"]
    assert (await pulls(world).pull(caller(), ["d1"])).scope is None


async def test_a_pull_is_retried_as_a_pull(tasks: Tasks, world: World) -> None:
    client, who = tasks.served.client(*OPERATOR)
    one = await pulls(world).pull(who, ["d1", "d2", "d3"])
    for result in FLEET:
        await world.stores.execution_results.record(Work(caller=who), one.id, 1, result)
    await world.rows.update({"_id": one.id}, {"$set": {"state": "failed"}})
    again = (await client.post(f"{EXECUTIONS}/{one.id}/retry-failed")).expect(202)
    assert (again["task_id"], again["task_name"], again["retry_of"]) == (None, "bulk pull", one.id)
    row = await world.rows.find_one({"_id": again["id"]})
    assert row is not None
    assert sorted(row["chosen"]) == ["d2", "d3"]


async def test_old_pulls_are_deleted_like_all_executions(world: World) -> None:
    """Check that only tasks keep their newest failure: a pull without a task would stay for ever."""
    old, of_task = await pulls(world).pull(caller(), ["d1"]), await world.run(task())
    long_ago = world.clock.now() - timedelta(days=100)
    await world.rows.update_many({}, {"$set": {"state": "failed", "created_at": long_ago}})
    stores = world.stores
    retention = ExecutionRetention(
        executions=stores.executions,
        logs=stores.execution_logs,
        results=stores.execution_results,
        clock=world.clock,
        settings=RetentionSettings(),
    )
    assert await retention.sweep() == 1
    assert await world.rows.find_one({"_id": old.id}) is None
    assert await world.rows.find_one({"_id": of_task.id}) is not None
