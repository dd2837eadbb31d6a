"""Old executions go, with their logs and results; the last success and failure of a task stay."""

from dataclasses import replace
from datetime import timedelta

from netautod.automation.executions.transitions import State
from netautod.automation.executions.upkeep.retention import ExecutionRetention
from netautod.automation.tasks.models import Task
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.settings.retention import RetentionSettings
from tests.support.databases import stores_of
from tests.support.execution import World, manual_run, task


async def add(world: World, of: Task, state: State, days_old: float) -> str:
    made = manual_run(of)
    execution = replace(made, state=state, created_at=made.created_at - timedelta(days=days_old))
    await world.executions.insert(execution)
    for name in ("execution_log", "execution_results"):
        await world.database.collection(name).insert(
            {"_id": f"{execution.id}:1", "execution_id": execution.id, "seq": 1, "org_id": of.org_id}
        )
    return execution.id


def retention(world: World, **settings: float) -> ExecutionRetention:
    stores = stores_of(world.database)
    return ExecutionRetention(
        executions=stores.executions,
        logs=stores.execution_logs,
        results=stores.execution_results,
        clock=SystemClock(),
        settings=replace(RetentionSettings(), **settings),  # type: ignore[arg-type]
    )


async def left(world: World) -> set[str]:
    rows = {row["_id"] for row in await world.all()}
    for name in ("execution_log", "execution_results"):
        found = await world.database.collection(name).find({})
        assert {row["execution_id"] for row in found} == rows
    return rows


async def test_old_executions_go_but_the_last_success_and_failure_stay(world: World) -> None:
    one = task()
    kept = {
        await add(world, one, "completed", 100),
        await add(world, one, "timeout", 120),
        await add(world, one, "cancelled", 5),
        await add(world, one, "approval_pending", 300),
    }
    for days in (130, 140, 150):
        await add(world, one, "completed", days)
        await add(world, one, "failed", days)
        await add(world, one, "cancelled", days)
    assert await retention(world).sweep() == 9
    assert await left(world) == kept
    assert await retention(world).sweep() == 0


async def test_a_task_keeps_its_newest_executions_only(world: World) -> None:
    one, other = task(), task()
    ids = [await add(world, one, "completed", number / 10) for number in range(12)]
    failed = await add(world, one, "failed", 2)
    untouched = [await add(world, other, "completed", number / 10) for number in range(5)]
    assert await retention(world, executions_per_task=5).sweep() == 7
    assert await left(world) == {*ids[:5], failed, *untouched}


async def test_followers_of_an_execution_are_called_before_it_goes(world: World) -> None:
    one = task()
    kept = await add(world, one, "completed", 100)
    gone = await add(world, one, "completed", 110)
    notified: list[tuple[OrgId, str]] = []

    async def follow(org_id: OrgId, execution_id: str) -> None:
        assert execution_id in {row["_id"] for row in await world.all()}
        notified.append((org_id, execution_id))

    cleaner = retention(world)
    cleaner.deleted.register(follow)
    assert await cleaner.sweep() == 1
    assert notified == [(one.org_id, gone)]
    assert await left(world) == {kept}
