"""The way from the change to its delivery: an event is written with the change itself, and never lost.

A node that dies behind the change is one that never looks: the event is there, and another node's look makes
the deliveries, once, however often it is repeated.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.webhooks.delivery.store import COLLECTION
from netautod.activity.webhooks.outbox import relay
from netautod.activity.webhooks.outbox.relay import SETTLED
from netautod.automation.executions.abandoned.models import Blocked, GivenUp
from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.models import Execution
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.owners.models import OWNER_DELETED, TaskBlocked
from netautod.core.errors import Unavailable
from netautod.core.work.context import Work
from netautod.maintenance.archive.settling import settle
from netautod.network.configs.backups.stale_store import Overdue
from netautod.network.devices.records.documents import no_backup
from netautod.network.devices.sessions.store import LoginKey
from netautod.plugin_api import ExecutionFailed, NeedsApproval, RunContext
from tests.activity.webhooks.conftest import Hooks, config_of
from tests.network.discovery.tables.worlds import NOTE
from tests.support.execution import FAST, Body, Does, DoesOnce, World, eventually, manual_run, task

URL = "http://198.51.100.7/hook"


@pytest.fixture
async def followed(hooks: Hooks) -> Hooks:
    """Return hooks with one webhook for everything, which this node knows; no node delivers."""
    await hooks.hook(URL)
    return hooks


async def collected(hooks: Hooks) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (event, subject, data) of the deliveries, after two looks of a node that has just started."""
    await asyncio.sleep(SETTLED.total_seconds() * 2)
    other = await hooks.another_node()
    for _ in range(2):
        await other.relay._subscriptions.refresh()
        await other.relay.collect()
    return [(row["event"], row["subject"], json.loads(row["body"])["data"]) for row in await hooks.rows()]


async def undelivered(hooks: Hooks) -> int:
    found = 0
    for name, field in (
        ("executions", "owed_at"),
        ("configs", "owed"),
        ("devices", "backup.owed"),
        ("suspended_logins", "owed"),
        ("discovered", "owed"),
        ("tasks", "blocked_event"),
    ):
        found += await hooks.database.collection(name).count({field: {"$exists": True}})
    return found


DEVICE_ID = str(uuid4())


async def version_stored(hooks: Hooks) -> dict[str, Any]:
    event = {"device_name": "sw1", "execution_id": "e"}
    work = Work(caller=hooks.caller)
    await hooks.installation.stores.configs.insert(config_of(hooks, DEVICE_ID, 2), work, event=event)
    return {
        "org_id": hooks.org_id,
        "device_id": DEVICE_ID,
        "device_name": "sw1",
        "version": 2,
        "previous_version": 1,
        "config_hash": None,  # that of the text as shown; this node follows no rules of redaction
        "execution_id": "e",
    }


async def login_refused(hooks: Hooks) -> dict[str, Any]:
    clock, store = hooks.installation.clock, hooks.installation.stores.suspensions
    login = LoginKey(device_id=DEVICE_ID, credential_id="c", revision=1, device_updated_at=clock.now())
    data = {
        "device_id": DEVICE_ID,
        "device_name": "sw1",
        "credential_id": "c",
        "credential_name": "$wrong",
    }
    counted = await store.count(hooks.org_id, login, at=clock.now(), data=data)
    # It works again before the first look: the event stays undelivered, the suspension is over.
    await store.lift(hooks.org_id, [login])
    assert await store.suspended(clock.now()) == 0
    [left] = await store.of(Work(caller=hooks.caller), [login])
    assert left.until <= clock.now() + timedelta(seconds=1)
    until = counted.until.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"org_id": hooks.org_id, **data, "failures": 1, "until": until}


async def backup_stale(hooks: Hooks) -> dict[str, Any]:
    clock, stores = hooks.installation.clock, hooks.installation.stores
    since = clock.now()
    device = {"_id": DEVICE_ID, "org_id": hooks.org_id, "name": "sw1", "live": True}
    await hooks.database.collection("devices").insert({**device, "backup": no_backup(since)})
    overdue = Overdue(
        org_id=hooks.org_id, device_id=DEVICE_ID, name="sw1", fresh_at=since, last_success_at=None
    )
    data = {
        "org_id": hooks.org_id,
        "device_id": DEVICE_ID,
        "device_name": "sw1",
        "last_success_at": None,
        "hours": 26.0,
    }
    assert await stores.stale_backups.take(overdue, at=clock.now(), data=data)
    # A good capture before the first look does not make it undone.
    await stores.backup_states.record(Work(caller=hooks.caller), DEVICE_ID, at=clock.now(), error=None)
    return data


async def task_blocked(hooks: Hooks) -> dict[str, Any]:
    stores = hooks.installation.stores
    left = task(org_id=hooks.org_id)
    await stores.tasks.insert(left)
    event = TaskBlocked(
        org_id=hooks.org_id,
        task_id=left.id,
        task_name=left.name,
        owner_id=left.owner_id,
        reason=OWNER_DELETED,
    )
    at = hooks.installation.clock.now()
    assert await stores.task_owners.take(event, at=at)
    assert not await stores.task_owners.take(event, at=at)
    # Another owner does not make it undone.
    await stores.tasks.change(hooks.org_id, left.id, {}, {"owner_id": hooks.caller.user_id})
    return asdict(event)


async def device_lost(hooks: Hooks) -> dict[str, Any]:
    clock, tables = hooks.installation.clock, hooks.installation.stores.discovered
    event: dict[str, Any] = {
        "id": str(uuid4()),
        "device_name": "sw1",
        "at": clock.now(),
        "kind": "device_unreachable",
        "interface": None,
        "neighbor_name": None,
        "neighbor_chassis_id": None,
    }
    note = replace(NOTE, at=clock.now())
    await tables.note(hooks.org_id, DEVICE_ID, note, events=[event])
    # Observers have been notified: that is another list.
    await tables.unnotified.clear({DEVICE_ID: [event["id"]]})
    at = event["at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {**event, "org_id": hooks.org_id, "device_id": DEVICE_ID, "at": at}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        pytest.param(version_stored, "config_changed", id="a version"),
        pytest.param(login_refused, "credential_suspended", id="a refused login"),
        pytest.param(backup_stale, "backup_stale", id="a stale backup"),
        pytest.param(device_lost, "device_unreachable", id="a device that a poll has lost"),
    ],
)
async def test_an_event_of_a_device_is_delivered_without_its_node(
    followed: Hooks, change: Callable[[Hooks], Awaitable[dict[str, Any]]], name: str
) -> None:
    data = await change(followed)
    assert await undelivered(followed) == 1
    assert await collected(followed) == [(name, f"device:{DEVICE_ID}", data)]
    assert await undelivered(followed) == 0


@pytest.mark.parametrize(
    ("change", "collection", "fields"),
    [
        pytest.param(version_stored, "configs", ["owed.at"], id="an event of a document"),
        pytest.param(device_lost, "discovered", ["owed_at", "owed.0.at"], id="a list of events"),
        pytest.param(version_stored, "webhooks", ["created_at"], id="a webhook made before the step"),
    ],
)
async def test_a_clock_that_was_set_back_by_a_day_holds_no_event(
    followed: Hooks, change: Callable[[Hooks], Awaitable[dict[str, Any]]], collection: str, fields: list[str]
) -> None:
    await change(followed)
    ahead = followed.installation.clock.now() + timedelta(days=1)
    rows = followed.database.collection(collection)
    assert await rows.update({}, {"$set": dict.fromkeys(fields, ahead)})
    assert len(await collected(followed)) == 1
    assert await undelivered(followed) == 0


async def test_a_blocked_task_is_delivered_without_its_node(followed: Hooks) -> None:
    data = await task_blocked(followed)
    assert await undelivered(followed) == 1
    assert await collected(followed) == [("task_blocked", f"task:{data['task_id']}", data)]
    assert await undelivered(followed) == 0


@pytest.mark.parametrize("change", [version_stored, backup_stale, device_lost, task_blocked])
async def test_an_event_that_no_webhook_wants_is_not_stored(
    hooks: Hooks, change: Callable[[Hooks], Awaitable[dict[str, Any]]]
) -> None:
    await hooks.hook(URL, events=["execution_finished", "credential_suspended"])
    await change(hooks)
    assert await undelivered(hooks) == 0


async def nothing(context: RunContext) -> Any:
    return {}


async def fails(context: RunContext) -> Any:
    raise ExecutionFailed("no luck")


async def hangs(context: RunContext) -> Any:
    await asyncio.Event().wait()


async def requests_approval(context: RunContext) -> Any:
    raise NeedsApproval({"command": "reload"})


async def test_every_end_that_observers_get_reaches_webhooks(followed: Hooks) -> None:
    """Check all that end executions: its node, another one, a person, the clock, the process that follows."""
    world = World(database=followed.database)
    await world.stores.subscriptions.refresh()
    ours = {"org_id": followed.org_id}

    async def until_notified(run: Execution) -> None:
        async def look() -> bool:
            return run.id in {one.id for one in world.finished}

        await eventually(look)

    async def ended(body: Body, of: Task) -> None:
        async with world.node(Does(body), runs=replace(FAST, approval_hours=0.1 / 3600)):
            if await world.stores.tasks.get(followed.org_id, of.id) is None:
                await world.add(of)
            run = manual_run(of)
            await world.executions.insert(run)
            await until_notified(run)

    of = task(**ours)
    await ended(fails, of)
    await ended(nothing, of)
    await ended(hangs, task(**ours, timeout_seconds=1))
    await ended(requests_approval, task(**ours))
    waiting = await world.run(task(**ours, task_type="agent_task"))
    cancelled = await world.executions.cancel(followed.org_id, waiting.id, by="u", name="ann")
    assert cancelled is not None
    await FinishNotifier(store=world.executions, observers=world.finished).notify(
        cancelled, cancelled.state, cancelled.error_message
    )
    async with world.node(DoesOnce(hangs), node_id="given up"):
        blocking = await world.run(task(**ours, task_type="agent_task"))
        lost = await world.run(task(**ours, task_type="agent_task"))
        for run in (blocking, lost):
            await world.until(run, "running")
    blocked = Blocked(execution_id=blocking.id, epoch=1, text="it has blocked its node")
    await world.aftermath.settle([GivenUp(node_id="given up", by=blocked)])
    async with world.node(DoesOnce(hangs), node_id="dead"):
        dead = await world.run(task(**ours, task_type="agent_task"))
        await world.until(dead, "running")
    async with world.node(DoesOnce(nothing)):
        await until_notified(dead)
    found = await collected(followed)
    assert [name for name, _, _ in found] == ["execution_finished"] * 8
    assert [data for _, _, data in found] == [asdict(one) for one in world.finished]
    assert [subject for _, subject, _ in found] == [f"task:{one.task_id}" for one in world.finished]
    assert (found[1][2]["recovered"], found[0][2]["recovered"]) == (True, False)
    assert await undelivered(followed) == 0


async def test_a_crash_before_events_are_cleared_makes_no_second_delivery(
    followed: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    await version_stored(followed)
    await asyncio.sleep(SETTLED.total_seconds() * 2)
    dying = followed.parts.relay

    async def dies(ids: object) -> None:
        raise Unavailable("the node dies here")

    with monkeypatch.context() as patch:
        patch.setattr(followed.installation.stores.configs.undelivered, "clear", dies)
        with pytest.raises(Unavailable):
            await dying.collect()
    assert (len(await followed.rows()), await undelivered(followed)) == (1, 1)
    assert len(await collected(followed)) == 1
    assert await undelivered(followed) == 0


async def test_no_later_event_of_a_device_is_there_without_the_earlier_ones(
    followed: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take few events in a look: those of one resource, and of several."""
    monkeypatch.setattr(relay, "AT_ONCE", 2)
    work, event = Work(caller=followed.caller), {"device_name": "sw1", "execution_id": None}
    store = followed.installation.stores.configs
    for version in range(2, 7):
        await store.insert(config_of(followed, DEVICE_ID, version), work, event=event)
        await asyncio.sleep(0.002)
    await login_refused(followed)
    await asyncio.sleep(SETTLED.total_seconds() * 2)
    whole = [*["config_changed"] * 5, "credential_suspended"]
    seen: list[list[str]] = []
    while await followed.parts.relay._pass():
        seen.append([row["event"] for row in await followed.rows()])
    assert len(seen) >= 2
    assert all(events == whole[: len(events)] for events in seen), seen
    versions = [data["version"] for name, _, data in await collected(followed) if name == "config_changed"]
    assert versions == list(range(2, 7))
    assert [row["event"] for row in await followed.rows()] == whole


async def test_a_restore_discards_undelivered_events_and_waiting_deliveries(followed: Hooks) -> None:
    settings = followed.installation.settings
    await followed.publish("device:1")
    await followed.database.collection(COLLECTION).update(
        {}, {"$set": {"status": "delivered"}, "$unset": {"waiting": ""}}
    )
    await followed.publish("device:2")
    await version_stored(followed)
    await login_refused(followed)
    await device_lost(followed)
    await backup_stale(followed)
    await task_blocked(followed)
    assert await undelivered(followed) == 5
    now = followed.installation.clock.now()

    async def confirm() -> None:
        """Accept: no other restore is at work."""

    await settle(
        followed.database, settings, confirm=confirm, backup_id="b", taken_at=now, authenticated=True
    )
    assert await undelivered(followed) == 0
    assert [row["subject"] for row in await followed.rows()] == ["device:1"]


async def test_events_of_plugins_have_happened_when_they_are_published(followed: Hooks) -> None:
    webhook = await followed.hook(URL, events=["weather.storm"])
    publisher = followed.parts.publisher
    data = {"device_id": DEVICE_ID, "wind": 12}
    common: dict[str, Any] = {"org_id": followed.org_id, "permission": None}
    await publisher.publish(name="weather.storm", data=data, **common)
    await publisher.publish(name="weather.storm", data={"wind": 13}, **common)
    await publisher.publish(name="weather.sun", data={}, **common)
    found = await followed.rows(webhook_id=webhook["id"])
    assert [row["subject"] for row in found] == [f"device:{DEVICE_ID}", "event:weather.storm"]
    assert json.loads(found[0]["body"])["data"] == data
