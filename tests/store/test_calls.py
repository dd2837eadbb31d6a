"""How long calls to a database that never answers may take, in whose threads, and which are tried again."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pymongo
import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from netautod.core.errors import Duplicate, Unavailable, UnknownOutcome
from netautod.core.metrics import Metrics
from netautod.core.work.deadlines import LEASE_SECONDS, begin_request, unhurried
from netautod.store.client import Database
from netautod.store.connection import connect
from netautod.store.driver.calls import Calls, LaneFramework, in_lane
from tests.support.observed import observed
from tests.support.programs.started import free_port

SHORT = 0.2


class Silent:
    """A database that never answers; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.driver_seconds: list[float | None] = []

    async def __call__(self) -> Any:
        self.asked += 1
        self.driver_seconds.append(pymongo._csot.remaining())
        await asyncio.Event().wait()


class Broken:
    """Breaks the connection so often, then answers."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked = 0

    async def __call__(self) -> str:
        self.asked += 1
        if self.asked <= self.times:
            raise AutoReconnect("gone")
        return "answer"


async def read(calls: Calls, ask: Callable[[], Awaitable[Any]]) -> Any:
    return await calls.read(ask)


async def write(calls: Calls, ask: Callable[[], Awaitable[Any]]) -> Any:
    return await calls.write(ask)


async def part(calls: Calls, ask: Callable[[], Awaitable[Any]]) -> Any:
    return await calls.part(ask, first=True)


async def once(calls: Calls, ask: Callable[[], Awaitable[Any]]) -> Any:
    return await calls.read_once(ask)


@pytest.mark.parametrize("way", [read, write, part, once])
async def test_a_request_asks_a_silent_database_once_and_then_never_again(
    way: Callable[[Calls, Any], Awaitable[Any]],
) -> None:
    """Whatever it does with the failure: its time is used up, so the next calls end at once."""
    calls, silent = Calls(), Silent()
    begin_request(SHORT)
    with pytest.raises(Unavailable):
        await way(calls, silent)
    for again in (read, write, part, once):
        with pytest.raises(Unavailable):
            await again(calls, silent)
    assert silent.asked == 1


async def test_without_a_request_each_call_has_its_own_time() -> None:
    calls, silent = Calls(seconds=SHORT), Silent()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await calls.read(silent)
    assert silent.asked == 2


async def test_a_write_that_was_cut_off_may_have_happened() -> None:
    with pytest.raises(UnknownOutcome):
        await Calls(seconds=SHORT).write(Silent())


@pytest.mark.parametrize("failures", [1, 3])
async def test_a_read_is_tried_again(failures: int) -> None:
    broken = Broken(failures)
    assert await Calls(seconds=60).read(broken) == "answer"
    assert broken.asked == failures + 1


async def test_a_write_is_not_tried_again() -> None:
    broken = Broken(1)
    with pytest.raises(UnknownOutcome):
        await Calls(seconds=60).write(broken)
    assert broken.asked == 1


@pytest.mark.parametrize("way", [read, write, part, once])
async def test_a_thread_that_hangs_is_not_waited_for_and_what_waits_behind_it_is_not_done(
    way: Callable[[Calls, Any], Awaitable[Any]],
) -> None:
    calls, released, late = Calls(seconds=SHORT, pool=1), threading.Event(), list[str]()
    hanging = way(calls, lambda: in_lane(released.wait))  # in the only thread
    behind = [way(calls, lambda: in_lane(lambda: late.append("done"))) for _ in range(3)]
    for found in await asyncio.gather(hanging, *behind, return_exceptions=True):
        assert type(found) is (UnknownOutcome if way is write else Unavailable)
    released.set()
    assert await calls.read(lambda: in_lane(lambda: "next")) == "next"
    assert late == []
    calls.close()


async def test_a_call_that_waits_for_a_thread_is_told_by_its_lane() -> None:
    metrics, released = Metrics(), threading.Event()
    calls = Calls(seconds=60, pool=1, metrics=metrics)
    hanging = calls.read(lambda: in_lane(released.wait))  # in the only thread
    behind = calls.read(lambda: in_lane(lambda: "next"))
    asyncio.get_running_loop().call_later(SHORT, released.set)
    await asyncio.gather(hanging, behind)
    await calls.for_leases().read(lambda: in_lane(lambda: "at once"))
    waits = {lane: observed(metrics, "database_thread_wait_seconds", lane) for lane in ("ordinary", "leases")}
    assert {lane: sum(wait.counts) for lane, wait in waits.items()} == {"ordinary": 2, "leases": 1}
    assert waits["ordinary"].total >= SHORT * 0.9
    calls.close()


async def test_the_driver_gives_up_before_we_do() -> None:
    """Else its threads would hang longer than those who asked, and run out."""
    silent = Silent()
    for calls in (Calls(seconds=SHORT), Calls().for_leases()):
        begin_request(SHORT)
        with pytest.raises(Unavailable):
            await calls.write(silent)
    assert all(seconds is not None and 0 < seconds < SHORT for seconds in silent.driver_seconds)


@pytest.mark.parametrize("way", [read, write, part, once])
async def test_what_gets_no_answer_is_counted(way: Callable[[Calls, Any], Awaitable[Any]]) -> None:
    metrics = Metrics()
    calls = Calls(seconds=SHORT, metrics=metrics)
    for ask in (Silent(), Silent()):
        with pytest.raises(Unavailable):
            await way(calls, ask)
    assert metrics.value("database_failures") == 2
    with pytest.raises(Unavailable):
        await calls.awaiting(Silent(), SHORT)
    assert metrics.value("database_failures") == 3


async def test_a_call_without_any_server_is_counted() -> None:
    """The driver has nobody to send a command to, and tells its listeners of none."""
    metrics = Metrics()
    gone = connect(f"mongodb://127.0.0.1:{free_port()}", "gone", timeout_seconds=SHORT, metrics=metrics)
    with pytest.raises(Unavailable):
        await gone.collection("rows").find_one({})
    assert metrics.value("database_failures") == 1
    gone.close()


async def test_a_refusal_is_counted_and_a_duplicate_is_none(mongo_uri: str, database: Database) -> None:
    metrics = Metrics()
    counted = connect(mongo_uri, database.name, timeout_seconds=60, metrics=metrics)
    rows = counted.collection("rows")
    await rows.insert({"_id": 1})
    with pytest.raises(Duplicate):
        await rows.insert({"_id": 1})
    assert (await rows.insert_many([{"_id": 1}, {"_id": 2}])).duplicates == (0,)
    assert metrics.value("database_failures") == 0
    with pytest.raises(OperationFailure):
        await rows.aggregate([{"$nothing": {}}])
    assert metrics.value("database_failures") == 1
    counted.close()


async def test_leases_have_less_time_and_sweeps_have_more() -> None:
    calls, seen = Calls(), list[float]()

    async def look() -> None:
        seen.append(pymongo._csot.remaining() or 0.0)

    await calls.write(look)
    await calls.for_leases().write(look)
    with unhurried():
        await calls.write(look)
        await calls.for_leases().write(look)
    ordinary, lease, sweep, lease_of_sweep = seen
    assert max(lease, lease_of_sweep) <= LEASE_SECONDS < ordinary < sweep


async def test_leases_do_not_wait_behind_requests_and_sweeps() -> None:
    """All threads of the others hang, and more wait for one: a heartbeat goes out all the same."""
    base = type("Base", (), {})()
    framework, calls, released, sent = (
        LaneFramework(base),
        Calls(seconds=60),
        threading.Event(),
        threading.Event(),
    )
    loop = asyncio.get_running_loop()

    async def hangs() -> None:
        await framework.run_on_executor(loop, released.wait)

    async def sweeps() -> None:
        with unhurried():
            await calls.read(hangs)

    async def beat() -> None:
        await framework.run_on_executor(loop, sent.set)

    hanging = [asyncio.create_task(work()) for work in [lambda: calls.read(hangs), sweeps] * 200]
    await asyncio.sleep(0)
    try:
        await calls.for_leases().write(beat)
        assert sent.is_set()
    finally:
        released.set()
        await asyncio.gather(*hanging)
        calls.close()


async def test_a_long_answer_comes_in_parts(database: Database) -> None:
    rows = database.collection("many")
    await rows.insert_many([{"_id": number} for number in range(1200)])
    begin_request(60)
    assert [row["_id"] async for row in rows.stream({}, sort=[("_id", 1)])] == list(range(1200))
    assert len(await rows.find({})) == 1200
