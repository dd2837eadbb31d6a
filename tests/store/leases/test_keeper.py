"""The keeper of leases: what a heartbeat renews, what it may not touch, and what a failed one leads to."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.work.guard import LeaseLostError
from netautod.store.client import Database
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease, LeaseTimes
from netautod.store.leases.named import NamedLeases
from tests.support.clock import SetClocks

# The heartbeat comes when it is asked for: a regular one lies behind the end of every test.
TIMES = LeaseTimes(lease=3600.0, heartbeat=900.0, abandon=1800.0)


def keeper(database: Database, node: str = "a", times: LeaseTimes = TIMES) -> LeaseKeeper:
    return LeaseKeeper(
        collection=database.collection("leases"), node_id=node, clock=SystemClock(), times=times
    )


async def held_by(one: LeaseKeeper, name: str = "x") -> Lease:
    held = await NamedLeases(one).acquire(name)
    assert held is not None
    return held


async def row_of(database: Database, name: str = "x") -> Any:
    return await database.collection("leases").find_one({"_id": name})


async def test_epochs_count_from_one(database: Database) -> None:
    held = await held_by(keeper(database))
    assert held.epoch == 1
    assert held.fence == {"_id": "x", "owner": "a", "epoch": 1}


async def test_a_heartbeat_renews_what_is_ours_and_leaves_what_another_took(database: Database) -> None:
    one = keeper(database)
    mine, taken = await held_by(one, "mine"), await held_by(one, "taken")
    rows = database.collection("leases")
    await rows.update({"_id": "taken"}, {"$set": {"owner": "b", "epoch": 2}})
    before = {name: await row_of(database, name) for name in ("mine", "taken")}
    await asyncio.sleep(0.002)  # the server's clock counts milliseconds
    await one.renew()
    assert (await row_of(database, "mine"))["lease_until"] > before["mine"]["lease_until"]
    assert await row_of(database, "taken") == before["taken"]
    assert (mine.lost, taken.lost) == (False, True)


async def test_a_lease_that_was_taken_and_claimed_anew_is_lost_to_its_first_holder(
    database: Database,
) -> None:
    one = keeper(database)
    first = await held_by(one)
    await database.collection("leases").delete({"_id": "x"})
    second = await held_by(one)
    assert (first.lost, second.lost) == (True, False)
    one.release(first)
    assert one.holds("x", second.epoch)


async def test_what_is_released_while_a_heartbeat_is_under_way_is_not_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keeper(database)
    held = await held_by(one)
    find = one.collection.find

    async def late(*given: Any, **named: Any) -> Any:
        await NamedLeases(one).release(held)
        return await find(*given, **named)

    monkeypatch.setattr(one.collection, "find", late)
    await one.renew()
    assert not held.lost


async def test_a_released_lease_is_no_longer_renewed(database: Database) -> None:
    one = keeper(database)
    held = await held_by(one)
    assert one.holds("x", held.epoch)
    await NamedLeases(one).release(held)
    assert not one.holds("x", held.epoch)
    assert await row_of(database) is None


async def test_a_block_that_fails_frees_its_lease(database: Database) -> None:
    leases = NamedLeases(keeper(database))
    with pytest.raises(ZeroDivisionError):
        async with leases.hold("x", wait_seconds=30):
            raise ZeroDivisionError
    assert await row_of(database) is None
    async with leases.hold("x", wait_seconds=30):
        assert await row_of(database) is not None
    assert await row_of(database) is None


@pytest.mark.parametrize("failure", [Unavailable("away"), TimeoutError(), RuntimeError("a bug")])
async def test_after_a_failed_heartbeat_there_is_another(
    database: Database, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """Soon where the database was away: before half of the regular time is over."""
    again, waited_long = asyncio.Event(), asyncio.Event()
    calls = 0

    async def fails(*_: object, **__: object) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            asyncio.get_running_loop().call_later(times.heartbeat / 2, waited_long.set)
            raise failure
        again.set()
        raise Unavailable("away")

    times = LeaseTimes(lease=3600.0, heartbeat=2.0, abandon=1800.0)
    async with keeper(database, times=times) as one:
        held = await held_by(one)
        monkeypatch.setattr(one.collection, "update_many", fails)
        held.hurry()
        async with asyncio.timeout(60):
            await again.wait()
        assert waited_long.is_set() is isinstance(failure, RuntimeError)
        assert one.failed_at is not None


async def test_the_end_of_each_outage_is_told(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    times = LeaseTimes(lease=3600.0, heartbeat=0.2, abandon=1800.0)
    async with keeper(database, times=times) as one:
        await held_by(one)
        for _ in range(2):
            await _an_outage(one, monkeypatch)
    told = [record.getMessage() for record in caplog.records]
    assert sum("leases failed: it works again (failed 3 times" in text for text in told) == 2


async def _an_outage(one: LeaseKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three heartbeats fail, the next two succeed."""
    renew = one.renew
    beats, over = 0, asyncio.Event()

    async def counted() -> None:
        nonlocal beats
        beats += 1
        if beats <= 3:
            raise Unavailable("away")
        await renew()
        if beats == 5:
            over.set()

    with monkeypatch.context() as patch:
        patch.setattr(one, "renew", counted)
        async with asyncio.timeout(60):
            await over.wait()


async def test_a_claim_whose_answer_came_late_is_renewed_before_it_is_used(database: Database) -> None:
    class Late(SystemClock):
        """Every question to it takes as long as half a lease, until a heartbeat has been sent."""

        ahead = 0.0
        asked = 0

        def monotonic(self) -> float:
            self.asked += 1
            if self.asked == 2:  # the first one was before the claim
                self.ahead = TIMES.lease / 2
            return super().monotonic() + self.ahead

    one = LeaseKeeper(
        collection=database.collection("leases"), node_id="a", clock=(clock := Late()), times=TIMES
    )
    held = await held_by(one)
    assert clock.ahead
    assert not held.used_up
    held.guard()


async def test_a_claim_that_was_lost_before_it_could_be_used_is_none(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keeper(database)
    monkeypatch.setattr(Lease, "used_up", property(lambda _: True))

    async def lost() -> None:
        raise LeaseLostError("taken")

    monkeypatch.setattr(one, "renew", lost)
    assert await NamedLeases(one).acquire("x") is None
    assert not one.holds("x", 1)


@pytest.mark.parametrize(
    ("seconds", "kept"),
    [
        pytest.param(3500, True, id="a lease that lasts as long as it may"),
        pytest.param(7200, False, id="the database's clock was set back"),
    ],
)
async def test_a_lease_lasts_no_longer_than_a_new_one(database: Database, seconds: int, kept: bool) -> None:
    """Its node may be dead, and no heartbeat correct it."""
    one = keeper(database)
    await held_by(one)
    now = await database.now()
    until = now + timedelta(seconds=seconds)
    await database.collection("leases").update({"_id": "x"}, {"$set": {"lease_until": until}})
    await keeper(database, "b").align()
    lease_until = (await row_of(database))["lease_until"]
    assert (lease_until == until) == kept
    assert lease_until <= now + timedelta(seconds=TIMES.lease + 60)


@pytest.mark.parametrize(
    ("jump", "taken"),
    [
        pytest.param(7200, False, id="set forward: its node may be about to renew it"),
        pytest.param(0, True, id="a dead node's"),
    ],
)
@pytest.mark.parametrize("owner", ["a", "b"])
async def test_a_lease_that_a_set_clock_has_ended_is_not_taken(
    database: Database, owner: str, jump: float, taken: bool
) -> None:
    clocks = SetClocks()
    clock = clocks.of(database)
    await clock.refresh()
    one = replace(keeper(database), clock=clock, settled=partial(clock.settled, TIMES.lease))
    assert await NamedLeases(one).acquire("new") is not None
    await held_by(keeper(database, owner))
    # As the clock that was set forward shows it.
    ended = await database.now() - timedelta(seconds=60)
    await database.collection("leases").update({"_id": "x"}, {"$set": {"lease_until": ended}})
    clocks.database = jump
    unseen = await NamedLeases(one).acquire("x")
    await clock.refresh()
    seen = await NamedLeases(one).acquire("x")
    assert (unseen is not None, seen) == (taken, None)
    one.settled = partial(clock.settled, 0)  # a lease's time later
    assert (await NamedLeases(one).acquire("x") is None) is taken
