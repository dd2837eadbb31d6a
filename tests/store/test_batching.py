import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from netautod.core.errors import Conflict, Duplicate, NotFound, Unavailable
from netautod.core.identity.caller import OrgId, system_caller
from netautod.core.work.context import Work
from netautod.core.work.guard import Guard, no_guard
from netautod.store.batching import Batcher, batched_changes, batched_inserts
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

ACME, OTHER = OrgId("acme"), OrgId("other")
FOREVER = 3600.0


def work(*, bulk: bool = True, guard: Guard = no_guard) -> Work:
    return Work(caller=system_caller(ACME), bulk=bulk, guard=guard)


class Trips:
    """What went to the database in one round trip each; `go` lets them arrive."""

    def __init__(self, **options: Any) -> None:
        self.made: list[tuple[str, list[int]]] = []
        self.go = asyncio.Event()
        self.go.set()
        self.begun = asyncio.Event()
        self.batcher: Batcher[str, int, int] = Batcher(self._act, **options)

    async def _act(self, key: str, items: Sequence[int]) -> Sequence[int | Conflict]:
        self.made.append((key, list(items)))
        self.begun.set()
        await self.go.wait()
        if 0 in items:
            raise Unavailable("it is away")
        return [Conflict("it is odd") if item % 2 else item * 10 for item in items]

    def ask(
        self, item: int, *, key: str = "a", bulk: bool = True, guard: Guard = no_guard
    ) -> "asyncio.Task[int]":
        return asyncio.create_task(self.batcher.ask(key, item, work(bulk=bulk, guard=guard)))


async def test_bulk_work_shares_one_round_trip_and_each_gets_its_own_answer() -> None:
    trips = Trips(seconds=0.001)
    answers = await asyncio.gather(*map(trips.ask, (2, 3, 4)), return_exceptions=True)
    assert trips.made == [("a", [2, 3, 4])]
    assert (answers[0], answers[2]) == (20, 40)
    assert isinstance(answers[1], Conflict)


@pytest.mark.parametrize(
    ("calls", "made"),
    [
        pytest.param([(2, "a", True), (4, "a", False)], [("a", [2, 4])], id="somebody waits"),
        pytest.param(
            [(2, "b", True), (4, "a", False)], [("a", [4])], id="who waits takes no other key along"
        ),
        pytest.param([(2, "a", True), (4, "a", True), (6, "a", True)], [("a", [2, 4, 6])], id="it is full"),
    ],
)
async def test_a_batch_goes_without_waiting(
    calls: list[tuple[int, str, bool]], made: list[tuple[str, list[int]]]
) -> None:
    trips = Trips(seconds=FOREVER, most=3)
    asked = [trips.ask(item, key=key, bulk=bulk) for item, key, bulk in calls]
    await asked[-1]
    assert trips.made == made
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)


async def test_a_failed_round_trip_fails_everybody_in_it() -> None:
    trips = Trips(seconds=0.001)
    answers = await asyncio.gather(trips.ask(0), trips.ask(2), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Unavailable, Unavailable]


async def test_nobody_is_told_before_the_round_trip_has_ended() -> None:
    trips = Trips()
    trips.go.clear()
    asked = trips.ask(2, bulk=False)
    await trips.begun.wait()
    assert not asked.done()
    trips.go.set()
    assert await asked == 20


async def test_a_guard_is_asked_directly_before_the_round_trip_and_drops_its_call() -> None:
    trips = Trips(seconds=FOREVER)
    lost = False

    def guard() -> None:
        if lost:
            raise NotFound("the lease is lost")

    asked = trips.ask(2, guard=guard)
    await asyncio.sleep(0)
    lost = True
    assert await trips.ask(4, bulk=False) == 40
    with pytest.raises(NotFound, match="lost"):
        await asked
    assert trips.made == [("a", [4])]


async def test_a_cancelled_call_is_dropped_and_disturbs_no_other() -> None:
    trips = Trips(seconds=FOREVER)
    early = trips.ask(2)
    await asyncio.sleep(0)
    early.cancel()
    await asyncio.gather(early, return_exceptions=True)
    trips.go.clear()
    late, other = trips.ask(4), trips.ask(6, bulk=False)
    await trips.begun.wait()
    late.cancel()
    trips.go.set()
    assert await other == 60
    assert trips.made == [("a", [4, 6])]
    assert early.cancelled()


async def test_batched_inserts_tell_each_of_its_own_duplicate(database: Database) -> None:
    rows = scoped(database, "things")
    inserts = batched_inserts(rows)

    def insert(org_id: OrgId, name: str) -> Any:
        return inserts.ask(org_id, {"_id": name}, work())

    answers = await asyncio.gather(
        insert(ACME, "x"), insert(ACME, "y"), insert(ACME, "x"), insert(OTHER, "z"), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [type(None), type(None), Duplicate, type(None)]
    assert await _ids(database, ACME) == ["x", "y"]
    assert await _ids(database, OTHER) == ["z"]


async def test_batched_upserts_stay_inside_their_organization(database: Database) -> None:
    rows = scoped(database, "things")
    upserts, changes = batched_changes(rows, upsert=True), batched_changes(rows)
    change: Document = {"$set": {"said": 1}}
    await upserts.ask(ACME, ({"_id": "x"}, change))
    with pytest.raises(Duplicate):
        await upserts.ask(OTHER, ({"_id": "x"}, {"$set": {"said": 2}}))
    await changes.ask(OTHER, ({"_id": "x"}, {"$set": {"said": 3}}))
    assert [row["said"] for row in await rows.find(ACME, {})] == [1]
    assert await _ids(database, OTHER) == []


async def _ids(database: Database, org_id: OrgId) -> list[str]:
    return [row["_id"] for row in await scoped(database, "things").find(org_id, {}, sort=[("_id", 1)])]
