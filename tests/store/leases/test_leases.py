"""Leases: one holder at a time, renewed by heartbeats, given up when they cannot be confirmed."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.work.guard import LeaseLostError
from netautod.store.client import Database, Document
from netautod.store.expressions import literal
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease, LeaseTimes
from netautod.store.leases.named import NamedLeases
from tests.support.execution import eventually

TIMES = LeaseTimes(lease=1.0, heartbeat=0.2, abandon=0.6)


class SettableClock(SystemClock):
    """A monotonic clock that a test can push ahead, as a pause of the process does."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


def keeper(database: Database, node: str, clock: SystemClock | None = None) -> LeaseKeeper:
    return LeaseKeeper(
        collection=database.collection("leases"), node_id=node, clock=clock or SystemClock(), times=TIMES
    )


async def test_twenty_nodes_want_one_name_and_one_gets_it(database: Database) -> None:
    wanting = [NamedLeases(keeper(database, f"n{number}")) for number in range(20)]
    got = await asyncio.gather(*(leases.acquire("device:1") for leases in wanting))
    assert sum(held is not None for held in got) == 1


async def test_a_released_lease_is_free_and_a_kept_one_is_not(database: Database) -> None:
    async with keeper(database, "a") as one, keeper(database, "b") as other:
        mine = await NamedLeases(one).acquire("x")
        assert mine is not None
        # Longer than a lease: only the heartbeats keep it.
        await asyncio.sleep(TIMES.lease * 1.5)
        mine.guard()
        assert await NamedLeases(other).acquire("x") is None
        await NamedLeases(one).release(mine)
        assert await NamedLeases(other).acquire("x") is not None


async def test_a_dead_holders_lease_runs_out(database: Database) -> None:
    assert await NamedLeases(keeper(database, "dead")).acquire("x") is not None
    alive = NamedLeases(keeper(database, "alive"))

    async def taken() -> Lease | None:
        return await alive.acquire("x")

    held = await eventually(taken, seconds=TIMES.lease * 3)
    assert held.epoch == 2


async def test_hold_waits_for_its_turn_and_gives_up_in_time(database: Database) -> None:
    leases = NamedLeases(keeper(database, "a"))
    async with leases.hold("x", wait_seconds=1):
        with pytest.raises(TimeoutError):
            async with leases.hold("x", wait_seconds=0.3):
                pytest.fail("two holders at once")
    async with leases.hold("x", wait_seconds=1) as held:
        held.guard()


@pytest.mark.parametrize("same_node", [True, False])
async def test_the_holder_is_told_that_somebody_waits(database: Database, same_node: bool) -> None:
    async with keeper(database, "a") as one, keeper(database, "b") as other:
        holder, waiter = NamedLeases(one), NamedLeases(one if same_node else other)
        mine = await holder.acquire("x")
        assert mine is not None
        told = asyncio.Event()
        mine.on_wanted = told.set
        with pytest.raises(TimeoutError):
            async with waiter.hold("x", wait_seconds=0.05):
                pytest.fail("two holders at once")
        await asyncio.sleep(TIMES.heartbeat * 2)
        assert not told.is_set()
        waiting = asyncio.create_task(_held(waiter, "x"))
        await told.wait()
        await holder.release(mine)
        assert await waiting


async def _held(leases: NamedLeases, name: str) -> bool:
    async with leases.hold(name, wait_seconds=10, wanting=True):
        return True


async def test_a_want_is_of_one_holder_and_not_of_the_next(database: Database) -> None:
    async with keeper(database, "a") as one:
        leases = NamedLeases(one)
        first = await leases.acquire("x")
        assert first is not None
        await keeper(database, "b").want("x")
        told: list[None] = []
        await leases.release(first)
        second = await leases.acquire("x")
        assert second is not None
        second.on_wanted = lambda: told.append(None)
        await one.renew()
        assert told == []


async def test_a_paused_process_may_do_nothing_with_its_lease(database: Database) -> None:
    clock = SettableClock()
    held = await NamedLeases(keeper(database, "a", clock)).acquire("x")
    assert held is not None
    held.guard()
    clock.ahead = TIMES.abandon + 0.1
    with pytest.raises(LeaseLostError):
        held.guard()
    clock.ahead = 0
    with pytest.raises(LeaseLostError):
        held.guard()  # lost stays lost


async def test_a_taken_row_is_noticed_at_the_next_heartbeat(database: Database) -> None:
    lost = asyncio.Event()
    async with keeper(database, "a") as one:
        held = await NamedLeases(one).acquire("x")
        assert held is not None
        held.on_lost = lost.set
        await one.collection.update({"_id": "x"}, {"$set": {"owner": "b"}})
        async with asyncio.timeout(TIMES.heartbeat * 5):
            await lost.wait()
    with pytest.raises(LeaseLostError):
        held.guard()


async def test_without_a_database_the_holder_gives_up_by_itself(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = asyncio.Event()
    async with keeper(database, "a") as one:
        held = await NamedLeases(one).acquire("x")
        assert held is not None
        held.on_lost = lost.set

        async def away(*_: object, **__: object) -> int:
            raise Unavailable("away")

        monkeypatch.setattr(one.collection, "update_many", away)
        async with asyncio.timeout(TIMES.abandon * 2):
            await lost.wait()
        assert one.failed_at is not None


async def test_a_database_that_hangs_does_not_delay_the_giving_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = asyncio.Event()
    async with keeper(database, "a") as one:
        held = await NamedLeases(one).acquire("x")
        assert held is not None
        held.on_lost = lost.set

        async def hangs(*_: object, **__: object) -> int:
            await asyncio.sleep(60)
            return 0

        monkeypatch.setattr(one.collection, "update_many", hangs)
        async with asyncio.timeout(TIMES.abandon * 2):
            await lost.wait()


async def test_values_of_a_claim_are_no_expressions(database: Database) -> None:
    one = keeper(database, "a")
    await one.collection.insert({"_id": "row", "epoch": 0, "state": "pending"})
    held = await one.claim("row", 0, {"state": "pending"}, literal({"text": "$state", "at": "$$NOW"}))
    assert held is not None
    row: Document = held.row
    assert (row["text"], row["at"]) == ("$state", "$$NOW")
    assert await one.claim("row", 1, {"state": "done"}, {}) is None


def late(one: LeaseKeeper, clock: SettableClock, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The acknowledgement of the next claim takes so long, by the clock of its node."""
    claim = one.collection.find_and_update

    async def slow(*args: Any, **options: Any) -> Any:
        row = await claim(*args, **options)
        clock.ahead += seconds
        return row

    monkeypatch.setattr(one.collection, "find_and_update", slow)


@pytest.mark.parametrize(
    ("late_by", "renewed"),
    [
        pytest.param(0, False, id="in time: nothing more is asked"),
        pytest.param(0.5, True, id="half of it is gone: renewed before the work begins"),
    ],
)
async def test_work_begins_with_most_of_its_lease_left(
    database: Database, monkeypatch: pytest.MonkeyPatch, late_by: float, renewed: bool
) -> None:
    clock = SettableClock()
    one = LeaseKeeper(
        collection=database.collection("leases"), node_id="a", clock=clock, times=replace(TIMES, lease=60)
    )
    late(one, clock, monkeypatch, late_by * 60)
    renewals = []
    renew = one.renew

    async def counted() -> None:
        renewals.append(1)
        await renew()

    monkeypatch.setattr(one, "renew", counted)
    one.times = replace(one.times, abandon=50)
    before = clock.monotonic()
    held = await NamedLeases(one).acquire("x")
    assert held is not None
    held.guard()
    assert bool(renewals) is renewed
    assert held.acknowledged_at >= before + late_by * 60
    assert clock.monotonic() - held.acknowledged_at < 60 / 3


async def test_a_lease_that_was_taken_before_its_late_acknowledgement_is_not_had(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SettableClock()
    one = keeper(database, "a", clock)
    late(one, clock, monkeypatch, TIMES.lease / 2)
    claim = one.collection.find_and_update

    async def taken(*args: Any, **options: Any) -> Any:
        row = await claim(*args, **options)
        await one.collection.update({"_id": "x"}, {"$set": {"owner": "b"}, "$inc": {"epoch": 1}})
        return row

    monkeypatch.setattr(one.collection, "find_and_update", taken)
    assert await NamedLeases(one).acquire("x") is None


async def test_what_is_done_waits_for_the_word_of_the_database(database: Database) -> None:
    """After its own limit the node may not act any more, and may write once the lease is confirmed."""
    clock = SettableClock()
    async with keeper(database, "a", clock) as one:
        held = await NamedLeases(one).acquire("x")
        assert held is not None
        clock.ahead = TIMES.abandon * 2
        with pytest.raises(LeaseLostError):
            held.guard()
        await held.known()
        held.writable()
        with pytest.raises(LeaseLostError):
            held.guard()
        await one.collection.update({"_id": "x"}, {"$set": {"owner": "b"}})
        clock.ahead = TIMES.abandon * 4
        with pytest.raises(LeaseLostError):
            await held.known()
        with pytest.raises(LeaseLostError):
            held.writable()
