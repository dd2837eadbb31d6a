"""The gauges that the database knows: what waits in it, of all organizations."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from netautod.activity.webhooks.models import Delivery
from netautod.core.identity.caller import OrgId
from netautod.core.metrics import Metrics
from netautod.network.devices.sessions.store import LoginKey
from netautod.network.discovery.polling.models import QUEUED, Poll
from netautod.server.metrics.gauges import DatabaseGauges
from netautod.store.client import Database
from tests.support.clock import MovableClock
from tests.support.execution import World, hourly_due_task, manual_run, task

Provoke = Callable[[World, MovableClock], Awaitable[None]]


def some_organization() -> OrgId:
    return OrgId(str(uuid4()))


async def two_due_tasks(world: World, _: MovableClock) -> None:
    recent = hourly_due_task()
    await world.add(recent, hourly_due_task(next_run_at=recent.next_run_at - timedelta(hours=5)))


async def two_runs_that_wait(world: World, _: MovableClock) -> None:
    for _number in range(2):
        await world.executions.insert(manual_run(task()))


async def two_polls_that_wait(world: World, clock: MovableClock) -> None:
    for number in range(2):
        await world.stores.polls.queue(
            Poll(
                id=str(uuid4()),
                org_id=some_organization(),
                device_id=f"device {number}",
                state=QUEUED,
                triggered_by="manual",
                queued_at=clock.now(),
            )
        )


async def two_refused_logins(world: World, clock: MovableClock) -> None:
    for number in range(2):
        login = LoginKey(
            device_id=f"device {number}", credential_id="c", revision=1, device_updated_at=clock.now()
        )
        await world.stores.suspensions.count(some_organization(), login, at=clock.now())


async def two_open_vaults(world: World, _: MovableClock) -> None:
    for _number in range(2):
        await world.stores.notes.create(some_organization(), {"key": "sealed"})


async def two_deliveries(world: World, clock: MovableClock) -> None:
    """Of now and of a minute ago."""
    made = [
        Delivery(
            id=str(uuid4()),
            org_id=some_organization(),
            webhook_id="w",
            event="execution_finished",
            subject="device:1",
            at=clock.now() - ago,
            attempts=0,
            status="waiting",
            next_at=None,
            response_status=None,
            error=None,
            body=b"{}",
        )
        for ago in (timedelta(), timedelta(minutes=1))
    ]
    await world.stores.webhook_deliveries.insert(made)


@pytest.mark.parametrize(
    ("provoke", "name", "least", "most"),
    [
        pytest.param(two_due_tasks, "scheduler_oldest_due_seconds", 5 * 3600, 6 * 3600),
        pytest.param(two_runs_that_wait, "executions_pending", 2, 2),
        pytest.param(two_polls_that_wait, "polls_waiting", 2, 2),
        pytest.param(two_refused_logins, "credentials_suspended", 2, 2),
        pytest.param(two_open_vaults, "notes_vaults_unlocked", 2, 2),
        pytest.param(two_deliveries, "webhook_deliveries_waiting", 2, 2),
        pytest.param(two_deliveries, "webhook_deliveries_oldest_seconds", 60, 60),
    ],
)
async def test_what_waits_in_the_database_is_told(
    world: World, clock: MovableClock, provoke: Provoke, name: str, least: int, most: int
) -> None:
    async def read() -> int:
        metrics, stores = Metrics(), world.stores
        await DatabaseGauges(
            metrics=metrics,
            clock=clock,
            executions=stores.executions,
            tasks=stores.tasks,
            polls=stores.polls,
            suspensions=stores.suspensions,
            notes=stores.notes,
            deliveries=stores.webhook_deliveries,
        ).refresh()
        return metrics.value(name)

    assert await read() == 0
    await provoke(world, clock)
    assert least <= await read() <= most


@pytest.fixture
def world(indexed: Database) -> World:
    return World(database=indexed)
