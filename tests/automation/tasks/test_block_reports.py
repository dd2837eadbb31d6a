"""Reports of blocked tasks: one for each block, whoever looks and however often."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from netautod.automation.tasks.models import Task
from netautod.automation.tasks.owners import store as owner_store
from netautod.automation.tasks.owners.reporting import BlockedTasks
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.store.client import Collection, Database
from tests.support.clock import MovableClock
from tests.support.databases import stores_of
from tests.support.execution import Owners, blocked_tasks, task


class Blocks:
    """Nodes that look for blocked tasks in one database."""

    def __init__(self, database: Database) -> None:
        self.users = Owners()
        self.database = database
        self.stores = stores_of(database)

    def look_of_a_node(self) -> BlockedTasks:
        clock = SystemClock()
        return blocked_tasks(self.database, TaskOwners(users=self.users, clock=clock), clock=clock)

    async def reported(self) -> int:
        return await self.look_of_a_node().look()

    async def add(self, **fields: Any) -> Task:
        made = task(**fields)
        await self.stores.tasks.insert(made)
        return made

    async def audited(self) -> list[dict[str, Any]]:
        return await self.database.collection("audit_events").find({"action": "task_blocked"})


@pytest.fixture
def blocks(indexed: Database) -> Blocks:
    return Blocks(indexed)


async def test_a_block_is_reported_once(blocks: Blocks) -> None:
    left, _ = await blocks.add(), await blocks.add()
    assert await blocks.reported() == 0
    blocks.users.disabled.add(left.owner_id)
    assert await blocks.reported() == 1
    blocks.users.disabled.clear()
    blocks.users[left.owner_id] = None  # from disabled to deleted is no other block
    assert await blocks.reported() == 0
    [event] = await blocks.audited()
    assert (event["resource_type"], event["resource_id"]) == ("task", left.id)
    details = {"name": left.name, "owner_id": left.owner_id, "reason": "owner disabled"}
    assert event["details"] == details


async def test_several_nodes_report_a_block_once(blocks: Blocks) -> None:
    owner = str(uuid4())
    for number in range(5):
        await blocks.add(owner_id=owner, name=f"task {number}")
    blocks.users[owner] = None
    counts = await asyncio.gather(*(blocks.look_of_a_node().look() for _ in range(3)))
    assert sum(counts) == len(await blocks.audited()) == 5


class ReadLate(Owners):
    """Owners who may change after they were read, before the reader has their states: `after_read`, once."""

    def __init__(self) -> None:
        super().__init__()
        self.after_read: Callable[[], Awaitable[Any]] | None = None

    async def active_states(self, ids: Iterable[str]) -> dict[str, bool]:
        states = await super().active_states(ids)
        change, self.after_read = self.after_read, None
        if change is not None:
            await change()
        return states


@pytest.mark.parametrize(
    "changed", ["within the second before", "while the owners are read", "with a report"]
)
async def test_a_node_that_saw_the_owner_active_does_not_forget_the_report(
    blocks: Blocks, changed: str
) -> None:
    left = await blocks.add()
    blocks.users = users = ReadLate()
    clock = SystemClock()
    owners = TaskOwners(users=users, clock=clock)
    late = blocked_tasks(blocks.database, owners, clock=clock)
    counts: list[int] = []

    async def disable() -> None:
        users.disabled.add(left.owner_id)
        counts.append(await blocks.reported())

    async def heal_and_disable() -> None:
        users.disabled.clear()
        counts.append(await blocks.reported())
        await disable()

    if changed == "within the second before":
        await owners.block_reasons([left.owner_id])
        await disable()
    elif changed == "while the owners are read":
        users.after_read = disable
    else:  # there is a report of an earlier block when the look begins
        await disable()
        users.disabled.clear()
        counts.clear()
        users.after_read = partial(_set_after, users, heal_and_disable)
    await late.look()
    await blocks.reported()
    assert sum(counts) == 1
    assert len(await blocks.audited()) == (2 if changed == "with a report" else 1)


async def _set_after(users: ReadLate, change: Callable[[], Awaitable[Any]]) -> None:
    users.after_read = change  # with the second read of the same look


@pytest.mark.parametrize("healed_by", ["the same owner", "another owner"])
async def test_the_next_block_is_reported_anew(blocks: Blocks, healed_by: str) -> None:
    left = await blocks.add()
    blocks.users.disabled.add(left.owner_id)
    assert await blocks.reported() == 1
    if healed_by == "the same owner":
        blocks.users.disabled.clear()
        assert await blocks.reported() == 0
        blocks.users.disabled.add(left.owner_id)
    else:
        other = str(uuid4())
        await blocks.stores.tasks.change(left.org_id, left.id, {}, {"owner_id": other})
        blocks.users.disabled.add(other)
    assert await blocks.reported() == 1


async def test_tasks_of_an_organization_that_is_being_deleted_are_not_reported(indexed: Database) -> None:
    left = task()
    stores, clock, users = stores_of(indexed), SystemClock(), Owners()
    await stores.tasks.insert(left)
    users[left.owner_id] = None

    async def leaving() -> list[OrgId]:
        return [left.org_id]

    blocked = blocked_tasks(indexed, TaskOwners(users=users, clock=clock), clock=clock, leaving=leaving)
    assert await blocked.look() == 0


async def test_a_look_takes_many_owners_in_pieces(blocks: Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_store, "OWNERS_AT_ONCE", 2)
    for _ in range(5):
        left = await blocks.add()
        blocks.users[left.owner_id] = None
    assert await blocks.reported() == 5


async def test_a_list_reads_its_owners_in_one_query_and_not_again_within_a_second(
    indexed: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Any] = []
    clock = MovableClock()
    users = stores_of(indexed).users
    find = Collection.find

    async def counted(self: Collection, where: Any, **options: Any) -> Any:
        if self.name == "users":
            reads.append(where)
        return await find(self, where, **options)

    monkeypatch.setattr(Collection, "find", counted)
    owners = TaskOwners(users=users, clock=clock)  # type: ignore[arg-type]  # it reads no permissions here
    ids = [str(uuid4()) for _ in range(20)]
    for seconds, expected in ((0, 1), (0.5, 1), (0.6, 2)):
        clock.move(seconds)
        assert len(await owners.block_reasons(ids)) == 20
        assert len(reads) == expected
    owners.forget()
    await owners.block_reasons(ids)
    assert len(reads) == 3
