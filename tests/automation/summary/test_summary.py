"""The summary of an organization: what it counts, what changed lately, and who sees which part."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.assembly.automation import build_system
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.summary.service import Summaries
from netautod.automation.system.models import Pause
from netautod.automation.system.pauses import FollowedPauses
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import NewUser
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.testing import ios_config
from tests.network.configs.fleet import Fleet, background_runs
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.execution import blocked_tasks, manual_run, task
from tests.support.installation import bare_base
from tests.support.serving import Serve

PATH = "/api/summary"
NO_BACKUPS = {"success": 0, "failed": 0, "never": 0, "stale": 0, "by_kind": {}}
NO_RUNS = {"running": 0, "pending": 0, "failed_24h": 0}
EMPTY = {
    "devices": 0,
    "backups": NO_BACKUPS,
    "executions": NO_RUNS,
    "approvals": 0,
    "blocked_tasks": 0,
    "paused": None,
    "recent_changes": [],
}


@dataclass(frozen=True, kw_only=True)
class Summarized:
    fleet: Fleet
    served: ServedRoutes

    def with_permissions(self, *permissions: str, org_id: str | None = None) -> ApiClient:
        return self.served.client(*permissions, org_id=org_id or self.fleet.org_id)[0]

    async def read(self) -> Any:
        return (await self.with_permissions("devices.access", "tasks.operate").get(PATH)).expect()

    async def changes(self) -> list[tuple[str, int, int | None, int | None]]:
        return [
            (row["device_name"], row["version"], row["additions"], row["deletions"])
            for row in (await self.read())["recent_changes"]
        ]


@pytest.fixture
async def summarized(fleet: Fleet, serve: Serve) -> Summarized:
    installation, stores = fleet.installation, fleet.installation.stores
    system = build_system(
        bare_base(
            fleet.database,
            stores=stores,
            audit=installation.audit,
            plugins=PluginManager(LoadedPlugins.of({})),
            pauses=FollowedPauses(store=stores.system),
            risks=(),
        )
    )
    _, executions, *_ = background_runs(fleet.database)
    owners = TaskOwners(users=installation.people.users, clock=SystemClock())
    summaries = Summaries(
        backups=fleet.configs.backups,
        blocked=blocked_tasks(fleet.database, owners, clock=SystemClock()),
        executions=executions,  # type: ignore[arg-type]  # the second of them
        system=system,
        changes=fleet.configs.recent,
    )
    return Summarized(fleet=fleet, served=await serve(summaries))


async def runs(fleet: Fleet) -> None:
    """Insert runs: 2 run, 3 wait, 1 failed lately, 1 long ago, 1 waits for a decision, 1 for too long."""
    now = SystemClock().now()
    states: tuple[tuple[str, Mapping[str, Any]], ...] = (
        *(("running", {}), ("running", {}), ("pending", {}), ("pending", {}), ("pending", {})),
        ("failed", {"completed_at": now - timedelta(hours=23)}),
        ("failed", {"completed_at": now - timedelta(hours=25)}),
        ("completed", {"completed_at": now}),
        ("approval_pending", {"approval_expires_at": now + timedelta(hours=1)}),
        ("approval_pending", {"approval_expires_at": now - timedelta(hours=1)}),
    )
    for org_id in (fleet.org_id, OrgId(str(uuid4()))):
        made = [
            replace(manual_run(task(org_id=org_id)), state=state, **fields)  # type: ignore[arg-type]
            for state, fields in states
        ]
        await ExecutionStore(fleet.database).insert_many(made)


async def test_an_organization_with_nothing(summarized: Summarized) -> None:
    assert await summarized.read() == EMPTY
    elsewhere = summarized.with_permissions("*", org_id=str(uuid4()))
    assert (await elsewhere.get(PATH)).expect() == EMPTY


async def test_what_concerns_runs_is_for_those_who_operate_tasks(summarized: Summarized) -> None:
    fleet = summarized.fleet
    await runs(fleet)
    pause = Pause(reason="core", by="admin", at=SystemClock().now())
    await fleet.installation.stores.system.put_pause(fleet.org_id, pause)
    seen = await summarized.read()
    assert seen["executions"] == {"running": 2, "pending": 3, "failed_24h": 1}
    assert (seen["approvals"], seen["paused"]) == (1, pause.to_json())
    viewer = (await summarized.with_permissions("devices.access").get(PATH)).expect()
    assert viewer == {**seen, "executions": None, "approvals": None, "blocked_tasks": None, "paused": None}
    assert_error(await summarized.with_permissions("tasks.operate").get(PATH), 403)


async def test_tasks_whose_owners_are_gone_are_counted(summarized: Summarized) -> None:
    fleet = summarized.fleet
    people = fleet.installation.people
    new = NewUser(username="ann", roles=(), password="a long enough passphrase")
    ann = await people.users.create(fleet.caller, new)
    bob = await people.users.create(fleet.caller, replace(new, username="bob"))
    for org_id, owner_id in (
        (fleet.org_id, ann.id),
        (fleet.org_id, ann.id),
        (fleet.org_id, bob.id),
        (OrgId(str(uuid4())), str(uuid4())),
    ):
        await fleet.installation.stores.tasks.insert(task(org_id=org_id, owner_id=owner_id))
    await people.users.delete(fleet.caller, ann.id)
    assert (await summarized.read())["blocked_tasks"] == 2


async def test_devices_and_their_backups(summarized: Summarized) -> None:
    fleet = summarized.fleet
    states = fleet.installation.stores.backup_states
    ids = [await fleet.entry(name, 22) for name in ("a", "b", "c", "d")]
    now = SystemClock().now()
    await states.record(fleet.work(), ids[0], at=now - timedelta(hours=49), error=None)
    await states.record(fleet.work(), ids[1], at=now, error="no", kind="auth")
    await states.record(fleet.work(), ids[2], at=now, error=None)
    seen = await summarized.read()
    kinds = {"success": 2, "failed": 1, "never": 1, "stale": 1, "by_kind": {"auth": 1}}
    assert (seen["devices"], seen["backups"]) == (4, kinds)


async def test_the_newest_versions_with_the_lines_that_each_changed(summarized: Summarized) -> None:
    fleet, first, second = summarized.fleet, "hostname sw\nend\n", "hostname sw\nntp server 192.0.2.1\nend\n"
    stored = await fleet.stored("sw1", *(ios_config("sw1", community=name) for name in ("a", "b")))
    await fleet.pulled(stored)  # no change is no news
    await fleet.stored("sw2", ios_config("sw2"))
    found = await summarized.changes()
    lines = len(ios_config("sw2").removesuffix("\n").split("\n"))
    diff = (await fleet.api.get(f"/api/config/devices/{stored}/diff")).expect()
    assert (diff["additions"], diff["deletions"]) == (1, 1)
    assert found[:2] == [("sw2", 1, lines, 0), ("sw1", 2, 1, 1)]
    assert [row[:2] for row in found[2:]] == [("sw1", 1)]
    assert first != second
    # Of a device that is gone nothing is shown; an imported version is no news.
    await fleet.api.delete(f"/api/devices/{stored}")
    [version] = await fleet.rows("configs", version=1, device_id={"$ne": stored})
    old = {**version, "_id": "imported", "version": 2, "source": "import", "created_at": SystemClock().now()}
    await fleet.database.collection("configs").insert(old)
    assert await summarized.changes() == [("sw2", 1, lines, 0)]


async def test_lines_are_counted_once(summarized: Summarized, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = summarized.fleet
    await fleet.stored("sw1", *(ios_config("sw1", community=name) for name in "abcdefghijkl"))
    read: list[str] = []
    service = fleet.configs.service
    counted = service.changed_lines

    async def counting(config: Any) -> Any:
        read.append(config.id)
        return await counted(config)

    monkeypatch.setattr(service, "changed_lines", counting)
    found = await asyncio.gather(*(summarized.changes() for _ in range(4)))
    assert found == [[("sw1", version, 1, 1) for version in range(12, 2, -1)]] * 4
    assert len(read) == len(set(read)) == 10
    # They stay with the version: another node reads no text either.
    kept = await fleet.rows("configs", changed={"additions": 1, "deletions": 1})
    assert [row["version"] for row in kept] == list(range(3, 13))


async def test_a_lost_text_is_no_number(summarized: Summarized) -> None:
    fleet = summarized.fleet
    await fleet.stored("sw1", *(ios_config("sw1", community=name) for name in ("a", "b")))
    texts = fleet.database.collection("config_texts")
    rows = await texts.find({})
    [first, _] = await fleet.rows("configs")
    await texts.delete({"_id": first["text_id"]})
    assert await summarized.changes() == [("sw1", 2, None, None), ("sw1", 1, None, None)]
    await texts.insert(next(row for row in rows if row["_id"] == first["text_id"]))
    assert (await summarized.changes())[0] == ("sw1", 2, 1, 1)
