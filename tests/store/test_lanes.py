"""Threads for calls to the database: how many there are, and what becomes of a call and its outcome."""

import asyncio
import gc
import threading
import weakref
from contextlib import suppress
from contextvars import ContextVar
from functools import partial

import pytest

from netautod.store.driver.lanes import LaneThreads

place: ContextVar[str] = ContextVar("place", default="nowhere")


class Gone(Exception):
    """What a call raises."""


async def test_a_call_runs_in_a_thread_of_the_lane_with_the_context_of_its_caller() -> None:
    lane = LaneThreads(2, "lane")
    place.set("here")
    name, seen = await lane.run(lambda: (threading.current_thread().name, place.get()))
    assert (name, seen) == ("lane_0", "here")
    lane.close()


async def test_what_a_call_raises_comes_to_its_caller_and_the_thread_goes_on() -> None:
    lane = LaneThreads(1, "lane")
    for error in (Gone("away"), SystemExit(3)):

        def fails(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)) as found:
            await lane.run(fails)
        assert found.value is error
    assert await lane.run(lambda: "still there") == "still there"
    lane.close()


async def test_there_are_no_more_threads_than_calls_at_a_time_nor_than_the_lane_may_have() -> None:
    lane, release = LaneThreads(3, "lane"), threading.Event()
    idents = {await lane.run(threading.get_ident) for _ in range(5)}
    assert len(idents) == 1
    begun = [threading.Semaphore(0) for _ in range(5)]

    def hangs(number: int) -> int:
        begun[number].release()
        release.wait()
        return threading.get_ident()

    calls = [lane.run(partial(hangs, number)) for number in range(5)]
    for number in range(3):
        begun[number].acquire()
    assert not any(one.acquire(blocking=False) for one in begun[3:])
    release.set()
    assert len(set(await asyncio.gather(*calls))) == 3
    lane.close()


async def test_a_call_that_was_given_up_before_it_began_is_not_made() -> None:
    """A write whose request was cut off behind others that hang must not happen minutes later."""
    lane, begun, release, made = LaneThreads(1, "lane"), threading.Event(), threading.Event(), list[str]()

    def hangs() -> None:
        begun.set()
        release.wait()

    hanging = lane.run(hangs)
    waiting = lane.run(lambda: made.append("late"))
    cut_off = lane.run(lambda: made.append("later"))
    begun.wait()
    waiting.cancel()
    cut_off.set_exception(Gone())
    assert isinstance(cut_off.exception(), Gone)
    hanging.cancel()  # of this one only the answer is given up
    release.set()
    await lane.run(lambda: made.append("next"))
    assert made == ["next"]
    lane.close()


async def test_a_failure_leaves_no_garbage_that_only_a_collection_finds() -> None:
    """Collections are rare in the service, and the trace of a failure holds what the call worked with."""

    class Held:
        pass

    lane = LaneThreads(1, "lane")

    def fails() -> None:
        held = Held()
        seen.append(weakref.ref(held))
        raise Gone

    seen: list[weakref.ref[Held]] = []
    gc.disable()
    try:
        with suppress(Gone):  # pytest.raises would hold it
            await lane.run(fails)
        await lane.run(lambda: None)  # the thread has left the one before
        assert seen[0]() is None
    finally:
        gc.enable()
    lane.close()


async def test_closed_it_does_what_was_asked_for_and_then_its_threads_end() -> None:
    lane, release = LaneThreads(1, "to be closed"), threading.Event()
    calls = [lane.run(release.wait), lane.run(lambda: True)]
    (thread,) = [one for one in threading.enumerate() if one.name == "to be closed_0"]
    lane.close()
    release.set()
    assert await asyncio.gather(*calls) == [True, True]
    await asyncio.to_thread(thread.join)
    assert not thread.is_alive()
