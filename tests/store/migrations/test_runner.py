"""Migrations: in order, once, by one node at a time, whatever dies; a newer database is refused."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from netautod import __version__
from netautod.assembly.data.leases import named_leases
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import SystemClock
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.work.guard import Guard, LeaseLostError, no_guard
from netautod.store.client import Database
from netautod.store.migrations.model import Migration, MigrationFailed, NewerDatabase, in_pages
from netautod.store.migrations.runner import LEASE, MigrationRunner
from netautod.store.migrations.store import COLLECTION, MigrationStore
from tests.support.execution import FAST


class Crash(Exception):
    """What ends a node in the middle."""


class Work:
    """Migrations that say what was done; `until` holds those of a name back, `crash` ends them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun = asyncio.Event()
        self.until: dict[str, asyncio.Event] = {}
        self.crash: set[str] = set()

    def migration(self, number: int, name: str, *, background: bool = False) -> Migration:
        async def apply(guard: Guard) -> None:
            self.begun.set()
            if name in self.until:
                await self.until[name].wait()
            guard()
            self.done.append(name)
            if name in self.crash:
                raise Crash

        return Migration(number=number, since="0.1.0", name=name, apply=apply, in_background=background)

    def of(self, *names: str) -> list[Migration]:
        return [self.migration(number, name) for number, name in enumerate(names, 1)]


@asynccontextmanager
async def runner(
    database: Database,
    migrations: Sequence[Migration],
    *,
    node: str = "one",
    settings: ExecutionSettings = FAST,
) -> AsyncIterator[MigrationRunner]:
    leasing = named_leases(database=database, node_id=node, clock=SystemClock(), settings=settings)
    async with leasing as leases:
        yield MigrationRunner(database, migrations, leases=leases)


async def brought_up(database: Database, migrations: Sequence[Migration], node: str = "one") -> None:
    async with runner(database, migrations, node=node) as made:
        await made.bring_up()


async def through(node: MigrationRunner) -> None:
    await node.bring_up()
    await node.go_on_in_background()


async def recorded(database: Database) -> dict[int, bool]:
    """Whether each one is done."""
    return {one.number: one.done_at is not None for one in await MigrationStore(database).all()}


async def test_each_is_done_once_and_in_order(database: Database) -> None:
    work, again = Work(), list[str]()

    async def catch_up(guard: Guard) -> None:
        again.append("first")

    first, second = work.of("first", "second")
    known = [replace(first, catch_up=catch_up), second]
    for _ in range(2):
        await brought_up(database, known)
    assert work.done == ["first", "second"]
    assert again == ["first", "first"]
    found = await MigrationStore(database).all()
    assert [(one.number, one.name) for one in found] == [(1, "first"), (2, "second")]
    assert all(one.host and one.version and one.seconds is not None for one in found)
    await brought_up(database, [*known, work.migration(3, "third")])
    assert work.done == ["first", "second", "third"]
    assert [one.began_at for one in await MigrationStore(database).all()][:2] == [
        one.began_at for one in found
    ]


async def test_those_that_do_the_same_do_it_once_for_all(database: Database) -> None:
    """As migrations of indexes: each makes all that there are by now."""
    work, again = Work(), list[str]()

    async def catch_up(guard: Guard) -> None:
        again.append("indexes")

    first, between = work.of("first", "between")
    last = replace(first, number=3, name="last", catch_up=catch_up)
    known = [replace(first, catch_up=catch_up), between, last]
    await brought_up(database, known)
    assert (work.done, again) == (["first", "between"], ["indexes"])
    assert await recorded(database) == {1: True, 2: True, 3: True}
    await brought_up(database, [*known, replace(last, number=4, name="later")])
    assert (work.done, again) == (["first", "between", "first"], ["indexes"] * 2)


async def test_one_that_died_in_the_middle_is_done_again_and_those_before_it_are_not(
    database: Database,
) -> None:
    work = Work()
    work.crash.add("second")
    with pytest.raises(Crash):
        await brought_up(database, work.of("first", "second", "third"))
    assert await recorded(database) == {1: True, 2: False}
    work.crash.clear()
    await brought_up(database, work.of("first", "second", "third"), node="two")
    assert work.done == ["first", "second", "second", "third"]
    assert await recorded(database) == {1: True, 2: True, 3: True}


@pytest.mark.parametrize(
    ("error", "raised", "text"),
    [
        pytest.param(InvalidInput("two are equal"), MigrationFailed, "two are equal", id="the data"),
        pytest.param(KeyError("name"), KeyError, "KeyError: 'name'", id="a mistake of ours"),
    ],
)
@pytest.mark.parametrize("background", [False, True])
async def test_one_that_fails_says_which_and_why_until_it_is_done(
    database: Database, error: Exception, raised: type[Exception], text: str, background: bool
) -> None:
    work = Work()

    async def fail(guard: Guard) -> None:
        raise error

    second = work.migration(2, "second", background=background)
    known = [work.migration(1, "first"), replace(second, apply=fail)]
    async with runner(database, known) as node:
        with pytest.raises(raised) as caught:
            await through(node)
    said = f"migration 2 (second) cannot be done: {text}"
    assert said in (str(caught.value), *getattr(caught.value, "__notes__", ()))
    assert [one.error for one in await MigrationStore(database).all()] == [None, text]
    async with runner(database, [known[0], second], node="two") as node:
        await through(node)
    assert [(one.error, one.done_at is None) for one in await MigrationStore(database).all()] == [
        (None, False),
        (None, False),
    ]


@pytest.mark.parametrize("error", [LeaseLostError("gone"), Unavailable("The database is away")])
async def test_what_passes_by_itself_is_no_failure_of_a_migration(
    database: Database, error: Exception
) -> None:
    tries = 0

    async def fail(guard: Guard) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise error

    with nullcontext() if isinstance(error, LeaseLostError) else pytest.raises(Unavailable):
        await brought_up(database, [Migration(number=1, since="0.1.0", name="first", apply=fail)])
    [one] = await MigrationStore(database).all()
    assert (one.error, tries) == (None, 2 if one.done_at else 1)


async def test_a_second_node_waits_until_the_first_is_through(database: Database) -> None:
    work, other = Work(), Work()
    work.until["first"] = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(brought_up(database, work.of("first"), "one"))
        await work.begun.wait()
        waiting = tasks.create_task(brought_up(database, other.of("first"), "two"))
        # It has looked when it has found the lease taken.
        await asyncio.sleep(1)
        assert not waiting.done()
        work.until["first"].set()
    assert (work.done, other.done) == (["first"], [])


async def test_a_node_that_lost_its_lease_stops_and_another_takes_over(database: Database) -> None:
    other, lost = Work(), asyncio.Event()
    begun = asyncio.Event()

    async def apply(guard: Guard) -> None:
        begun.set()
        try:
            while True:
                guard()
                await asyncio.sleep(0.01)
        finally:
            lost.set()

    async with asyncio.TaskGroup() as tasks:
        slow = tasks.create_task(
            brought_up(database, [Migration(number=1, since="0.1.0", name="first", apply=apply)])
        )
        await begun.wait()
        await database.collection("leases").delete({"_id": LEASE})  # as if it had run out
        other.until["first"] = asyncio.Event()
        tasks.create_task(brought_up(database, other.of("first"), "two"))
        await other.begun.wait()
        await lost.wait()
        assert not slow.done()
        assert await recorded(database) == {1: False}
        other.until["first"].set()
    assert other.done == ["first"]
    assert await recorded(database) == {1: True}


@pytest.mark.parametrize("finished", [True, False])
async def test_what_a_newer_version_has_migrated_is_refused_before_anything_is_changed(
    database: Database, finished: bool
) -> None:
    work = Work()
    newer, store = work.migration(3, "new form of tasks"), MigrationStore(database)
    await store.begin(newer)
    if finished:
        await store.finish(newer, seconds=1.0)
    with pytest.raises(NewerDatabase, match=r"has migrated this database to number 3 \(new form of tasks\)"):
        await brought_up(database, work.of("first", "second"))
    assert work.done == []
    assert await recorded(database) == {3: finished}


@pytest.mark.parametrize(
    ("row", "version"),
    [
        pytest.param({"version": "0.2.7", "since": "0.2.1"}, "0.2.1", id="the version that it came with"),
        pytest.param({"version": "0.2.0"}, "0.2.0", id="of a record without it, the one that has migrated"),
    ],
)
async def test_the_refusal_names_a_version_that_helps(
    database: Database, row: dict[str, str], version: str
) -> None:
    far = {"_id": 3, "name": "new form of tasks", "host": "far", "began_at": datetime.now(UTC), **row}
    await database.collection(COLLECTION).insert(far)
    with pytest.raises(NewerDatabase, match=rf"it needs netautod {version} or newer; install that"):
        await brought_up(database, Work().of("first"))


async def test_a_record_has_the_version_that_the_migration_came_with(database: Database) -> None:
    await brought_up(database, [replace(Work().migration(1, "first"), since="0.0.7")])
    [found] = await MigrationStore(database).all()
    assert (found.since, found.version) == ("0.0.7", __version__)


async def test_what_may_take_long_goes_on_while_the_service_works(database: Database) -> None:
    work = Work()
    known = [work.migration(1, "first"), work.migration(2, "long", background=True)]
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(runner(database, known, node=name)) for name in ("a", "b")]
        await nodes[0].bring_up()
        assert work.done == ["first"]
        work.until["long"] = asyncio.Event()
        going = asyncio.create_task(nodes[0].go_on_in_background())
        work.begun.clear()
        await work.begun.wait()
        await nodes[1].go_on_in_background()  # the other one is at it
        await nodes[1].bring_up()  # and keeps no start waiting
        assert work.done == ["first"]
        work.until["long"].set()
        await going
        for node in nodes:
            await node.go_on_in_background()
        assert work.done == ["first", "long"]
        assert await recorded(database) == {1: True, 2: True}


async def test_beside_a_newer_version_a_running_node_leaves_the_data_alone(database: Database) -> None:
    work = Work()
    known = [work.migration(1, "long", background=True)]
    async with runner(database, known) as node:
        await MigrationStore(database).begin(work.migration(2, "of the next version"))
        await node.go_on_in_background()
    assert work.done == []


async def test_a_large_collection_is_changed_in_pages_and_goes_on_where_it_was_left(
    database: Database,
) -> None:
    things, pages = database.collection("things"), 0
    await things.insert_many([{"_id": f"{number:03}", "old": number != 7} for number in range(25)])

    def dying() -> None:
        nonlocal pages
        pages += 1
        if pages > 2:
            raise LeaseLostError("gone")

    change = {"$set": {"old": False}}
    with pytest.raises(LeaseLostError):
        await in_pages(things, {"old": True}, change, guard=dying, page=5)
    assert await things.count({"old": True}) == 14
    assert await in_pages(things, {"old": True}, change, guard=no_guard, page=5) == 14
    assert await things.count({"old": False}) == 25
