"""The event loop of the service: exits end nothing but what raised them, and it is known whose code runs."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from netautod.core.watch.board import ENTRY, Board, MarkedRun
from netautod.core.watch.loop import Mark, Ticker, WatchedLoop, marked_task
from netautod.core.watch.share import MOST_WAITS
from netautod.core.watch.uv_loop import WatchedUvLoop

OnWatchedLoop = Callable[[Coroutine[Any, Any, Any]], Any]
RUN = MarkedRun(execution_id="id", epoch=1, task="task", plugin="acme")


@pytest.fixture(params=[WatchedLoop, WatchedUvLoop])
def on_watched_loop(request: pytest.FixtureRequest) -> OnWatchedLoop:
    """Runs it on a loop of either kind."""

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(work)

    return run


def busy(*, seconds: float) -> None:
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        pass


async def _itself() -> None:
    sys.exit(3)


async def _interrupt() -> None:
    raise KeyboardInterrupt


async def _child() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_itself())


async def _gathered() -> None:
    await asyncio.gather(_itself(), _interrupt())


async def _thread() -> None:
    await asyncio.to_thread(sys.exit)


@pytest.mark.parametrize("work", [_itself, _interrupt, _child, _gathered, _thread])
def test_an_exit_ends_only_the_task_that_raises_it(
    on_watched_loop: OnWatchedLoop, work: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    async def service() -> str:
        task = marked_task(work(), Mark(Board(), RUN), name="run")
        await asyncio.wait({task})
        assert isinstance(task.exception(), SystemExit | KeyboardInterrupt | BaseExceptionGroup)
        return "still here"

    assert on_watched_loop(service()) == "still here"


async def _soon(ended: asyncio.Event) -> None:
    asyncio.get_running_loop().call_soon(sys.exit)
    asyncio.get_running_loop().call_soon(ended.set)


async def _later(ended: asyncio.Event) -> None:
    asyncio.get_running_loop().call_later(0.001, sys.exit)
    asyncio.get_running_loop().call_later(0.002, ended.set)


@pytest.mark.parametrize("marked", [True, False], ids=["of a run", "of anything else"])
@pytest.mark.parametrize("start", [_soon, _later])
def test_an_exit_in_a_callback_ends_nothing(
    on_watched_loop: OnWatchedLoop,
    start: Callable[[asyncio.Event], Coroutine[Any, Any, None]],
    marked: bool,
) -> None:
    async def service() -> str:
        ended = asyncio.Event()
        if marked:
            await marked_task(start(ended), Mark(Board(), RUN), name="run")
        else:
            await start(ended)
        await ended.wait()
        return "still here"

    assert on_watched_loop(service()) == "still here"


def test_whose_code_runs_is_on_the_board_in_all_that_a_run_starts(on_watched_loop: OnWatchedLoop) -> None:
    board, seen = Board(), list[str]()

    def look() -> None:
        run = board.current()
        seen.append("nobody" if run is None else run.task)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        look()
        await asyncio.sleep(0)
        look()
        await asyncio.create_task(_looks())
        loop.call_soon(look)
        loop.call_later(0.001, look)
        await asyncio.sleep(0.01)

    async def _looks() -> None:
        await asyncio.sleep(0)
        look()

    async def service() -> None:
        task = marked_task(run(), Mark(board, RUN), name="run")
        look()
        await task
        look()

    on_watched_loop(service())
    assert seen == ["nobody", *["task"] * 5, "nobody"]


def test_runs_do_not_hold_up_what_others_do_in_many_turns(on_watched_loop: OnWatchedLoop) -> None:
    """Twenty runs with endless steps of 2 ms each, and a request that takes 40 turns of the loop."""
    steps, twice, ended = list[int](), asyncio.Event(), asyncio.Event()

    async def run(number: int) -> None:
        while not ended.is_set():
            busy(seconds=0.002)
            steps.append(number)
            if len(steps) == 40:
                twice.set()
            await asyncio.sleep(0)

    async def service() -> int:
        runs = [marked_task(run(number), Mark(Board(), RUN), name="run") for number in range(20)]
        await twice.wait()
        before = len(steps)
        for _ in range(40):
            await asyncio.sleep(0)
        meanwhile = len(steps) - before
        ended.set()
        await asyncio.gather(*runs)
        return meanwhile

    meanwhile = on_watched_loop(service())
    assert steps[:40] == [*range(20)] * 2
    assert 40 // (MOST_WAITS + 1) <= meanwhile <= 3 * (40 // (MOST_WAITS + 1) + 1)


def test_a_callback_of_a_run_can_be_cancelled_and_may_fail(on_watched_loop: OnWatchedLoop) -> None:
    called, told = list[str](), list[str]()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(str(context["exception"])))
        loop.call_soon(called.append, "first").cancel()
        loop.call_soon(lambda: 1 // 0)
        loop.call_soon(called.append, "last")
        await asyncio.sleep(0)

    async def service() -> None:
        await marked_task(run(), Mark(Board(), RUN), name="run")

    on_watched_loop(service())
    assert (called, told) == (["last"], ["integer division or modulo by zero"])


def test_what_a_run_leaves_behind_is_nobodys(on_watched_loop: OnWatchedLoop) -> None:
    board = Board(entries=1)

    async def service() -> None:
        left = Mark(board, RUN)
        left.leave()
        now = Mark(board, MarkedRun(execution_id="other", epoch=1, task="other", plugin="acme"))
        found = list[MarkedRun | None]()
        left.step(lambda: found.append(board.current()))
        now.step(lambda: found.append(board.current()))
        assert [run and run.task for run in found] == [None, "other"]

    on_watched_loop(service())


def test_a_full_board_and_a_long_name() -> None:
    board = Board(entries=1)
    long = MarkedRun(execution_id="id", epoch=1, task="\N{SNOWMAN}" * ENTRY, plugin="p" * ENTRY)
    board.mark(board.enter(long))
    shown = board.current()
    assert shown is not None
    assert (shown.task, shown.plugin) == ("\N{SNOWMAN}" * 40, "p" * 40)
    assert board.enter(RUN) == 0


async def test_it_ticks_between_its_start_and_its_end() -> None:
    board, told = Board(), list[int]()
    board.count_stall()
    async with Ticker(board, told.append):
        assert board.ticks == 1
    assert (board.ticks, told) == (0, [1])
    board.count_restarts(2)
    board.clear()
    assert (board.stalls, board.restarts) == (1, 2)
