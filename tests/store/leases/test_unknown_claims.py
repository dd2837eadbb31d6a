"""Claims of unknown outcome: looked for as long as it takes, void or given back if nobody uses them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from netautod.core.errors import Unavailable, UnknownOutcome
from netautod.store.client import Database
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.named import NamedLeases
from tests.store.leases.test_keeper import keeper
from tests.store.leases.test_leases import SettableClock
from tests.support.execution import eventually

PENDING = {"_id": "row", "epoch": 3, "state": "pending"}


def unanswered(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch, *, arrives: bool) -> Callable[[], Any]:
    """The next claim is sent and nobody hears of it; what is returned makes it arrive (again)."""
    send, sent = one.collection.find_and_update, list[Any]()

    async def claim(*given: Any, **options: Any) -> Any:
        sent.append((given, options))
        if arrives:
            await send(*given, **options)
        raise UnknownOutcome("away")

    async def arrive() -> Any:
        given, options = sent[0]
        return await send(*given, **options)

    monkeypatch.setattr(one.collection, "find_and_update", claim)
    return arrive


async def test_a_claim_that_was_done_is_held(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    one = keeper(database)
    await one.collection.insert(dict(PENDING))
    unanswered(one, monkeypatch, arrives=True)
    held = await one.claim("row", 3, {"state": "pending"}, {"state": "running"})
    assert held is not None
    assert (held.epoch, one.holds("row", 4)) == (4, True)


async def test_a_claim_that_was_not_done_cannot_arrive_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that hung goes on with what it was sent: then nobody waits for it any more."""
    one = keeper(database)
    await one.collection.insert(dict(PENDING))
    arrive = unanswered(one, monkeypatch, arrives=False)
    assert await one.claim("row", 3, {"state": "pending"}, {"state": "running"}) is None
    assert await arrive() is None
    row = await one.collection.find_one({"_id": "row"})
    assert row is not None
    assert row["state"] == "pending"
    monkeypatch.undo()
    assert await one.claim("row", row["epoch"], {"state": "pending"}, {"state": "running"}) is not None


@pytest.mark.parametrize(
    "meanwhile",
    [
        pytest.param({"owner": None, "epoch": 4}, id="taken for one of a dead node"),
        pytest.param({"owner": "b", "epoch": 4}, id="given to another"),
        pytest.param({"owner": "a", "epoch": 5, "claim": "another"}, id="claimed again by this node"),
    ],
)
async def test_a_claim_that_somebody_has_ended_is_not_held(
    database: Database, monkeypatch: pytest.MonkeyPatch, meanwhile: dict[str, Any]
) -> None:
    one = keeper(database)
    await one.collection.insert(dict(PENDING))
    unanswered(one, monkeypatch, arrives=True)
    find = one.collection.find_one

    async def look(*given: Any) -> Any:
        await one.collection.update({"_id": "row"}, {"$set": meanwhile})
        return await find(*given)

    monkeypatch.setattr(one.collection, "find_one", look)
    assert await one.claim("row", 3, {"state": "pending"}, {"state": "running"}) is None


async def _acquire_unanswered(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    unanswered(one, monkeypatch, arrives=True)
    with pytest.raises(UnknownOutcome):
        await NamedLeases(one).acquire("x")


async def _acquire_cut_off(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for its turn gives up while the claim is under way."""
    send, done = one.collection.find_and_update, asyncio.Event()

    async def claim(*given: Any, **options: Any) -> Any:
        await send(*given, **options)
        done.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(one.collection, "find_and_update", claim)
    waiting = asyncio.create_task(NamedLeases(one).acquire("x"))
    await done.wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def _renew_in_vain(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer came late, and then the database is away."""
    clock = one.clock
    assert isinstance(clock, SettableClock)
    send = one.collection.find_and_update

    async def claim(*given: Any, **options: Any) -> Any:
        row = await send(*given, **options)
        clock.ahead += one.times.lease / 2
        return row

    monkeypatch.setattr(one.collection, "find_and_update", claim)
    monkeypatch.setattr(one.collection, "update_many", _away)
    with pytest.raises(Unavailable):
        await NamedLeases(one).acquire("x")


async def _release_in_vain(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder has done its work, and does not fail for the end of its lease."""
    leases = NamedLeases(one)
    async with leases.hold("x", wait_seconds=10):
        monkeypatch.setattr(one.collection, "delete_batch", _away)


async def _away(*given: Any) -> Any:
    raise Unavailable("away")


@pytest.mark.parametrize("lose", [_acquire_unanswered, _acquire_cut_off, _renew_in_vain, _release_in_vain])
async def test_what_nobody_holds_is_free_before_its_lease_runs_out(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    lose: Callable[[LeaseKeeper, pytest.MonkeyPatch], Awaitable[None]],
) -> None:
    clock = SettableClock()
    async with replace(keeper(database), clock=clock) as one:
        await lose(one, monkeypatch)
        monkeypatch.undo()

        async def free() -> bool:
            return await NamedLeases(keeper(database, "b")).acquire("x") is not None

        await eventually(free)


async def test_what_another_has_taken_since_is_not_given_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = keeper(database), NamedLeases(keeper(database, "b"))
    arrive = unanswered(one, monkeypatch, arrives=False)
    with pytest.raises(UnknownOutcome):
        await NamedLeases(one).acquire("x")
    held = await other.acquire("x")
    assert held is not None
    monkeypatch.undo()
    await one._unreleased.give_back()
    assert await one.collection.find_one({"_id": "x"}) == held.row
    await other.release(held)
    await arrive()  # long after it was given up: it is looked for as long as a lease lasts
    await one._unreleased.give_back()
    assert await one.collection.find_one({"_id": "x"}) is None
