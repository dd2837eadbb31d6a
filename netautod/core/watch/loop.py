"""The event loop of the service: it says whose code it runs, and goes on when that wants to exit."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar, TypeVarTuple

from netautod.core.watch.board import Board, MarkedRun
from netautod.core.watch.share import RunShare

logger = logging.getLogger(__name__)
TICK_SECONDS = 0.25
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Mark:
    """A mark that stands for a run in the context of all that it starts: tasks, callbacks, threads."""

    def __init__(self, board: Board, run: MarkedRun) -> None:
        self._board = board
        self._run = run
        self._entry = board.enter(run)

    def step(self, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Call a callback for the run. An exit that it raises, which a task has as its result, gets no
        further.
        """
        self._board.mark(self._entry)
        try:
            callback(*args)
        except (SystemExit, KeyboardInterrupt) as error:
            logger.error("execution %s raised %r on the event loop", self._run.execution_id, error)
        finally:
            self._board.mark(0)

    def note_thread(self) -> None:
        self._board.note_thread(self._entry, self._run)

    def leave(self) -> None:
        """End the mark when the run is over; what the run left behind belongs to no run."""
        self._board.leave(self._entry)
        self._entry = 0


current_run: ContextVar[Mark | None] = ContextVar("current_run", default=None)


def marked_task(work: Coroutine[Any, Any, T], mark: Mark, *, name: str) -> "asyncio.Task[T]":
    """Start a task of the run; what it starts belongs to the run, too. The mark ends when the task is
    done."""
    context = copy_context()
    context.run(current_run.set, mark)
    task = asyncio.get_running_loop().create_task(work, name=name, context=context)
    task.add_done_callback(lambda _: mark.leave())
    return task


def mark_in(context: Context | None) -> Mark | None:
    """Return the mark of the run in whose context (None: the current one) something happens."""
    return current_run.get() if context is None else context.get(current_run)


def marked(
    context: Context | None, callback: Callable[..., object], args: tuple[Any, ...]
) -> tuple[Callable[..., object], tuple[Any, ...]]:
    """Return what the loop calls instead of a callback: for the run of its context, or unchanged without
    one."""
    mark = mark_in(context)
    return (callback, args) if mark is None else (mark.step, (callback, *args))


def outlasting_exits(run_forever: Callable[[], None]) -> None:
    """Run the loop until it is stopped: a loop ends for an exit that any callback raises."""
    while True:
        try:
            return run_forever()
        except (SystemExit, KeyboardInterrupt):
            logger.exception("something raised an exit on the event loop, which goes on")


class WatchedLoop(asyncio.SelectorEventLoop):
    """An event loop that knows whose code it runs: each step and callback comes through one of two
    methods."""

    def __init__(self) -> None:
        super().__init__()
        self._soon = super().call_soon
        self._share = RunShare(self._soon)

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        # Called some dozen times for a request, so written out.
        mark = current_run.get() if context is None else context.get(current_run)
        if mark is None:
            self._share.others_are_ready = True
            return self._soon(callback, *args, context=context)
        return self._share.add(asyncio.Handle(mark.step, (callback, *args), self, context))

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        call, given = marked(context, callback, args)
        return super().call_at(when, call, *given, context=context)

    def run_forever(self) -> None:
        outlasting_exits(super().run_forever)


class Ticker:
    """A ticker: within `async with` the loop ticks, and one that is held up does not."""

    def __init__(
        self, board: Board, stalled: Callable[[int], None], *, late: Callable[[float], None] = lambda _: None
    ) -> None:
        self._board = board
        self._stalled = stalled
        self._late = late
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> "Ticker":
        self._tick()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._board.rest()

    def _tick(self) -> None:
        self._board.tick()
        self._stalled(self._board.stalls)
        loop = asyncio.get_running_loop()
        if self._due:
            self._late(max(0.0, loop.time() - self._due))
        self._due = loop.time() + TICK_SECONDS
        self._timer = loop.call_at(self._due, self._tick)
