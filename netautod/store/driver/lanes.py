"""Threads in which calls to the database wait.

Each call takes a thread and gives it back. `concurrent.futures` takes three times as long for that: most of
it goes into futures that threads can wait for, which no thread does here.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

logger = logging.getLogger(__name__)
T = TypeVar("T")


class _Work(NamedTuple):
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Any]"
    context: Context
    call: Callable[[], Any]
    queued_at: float  # on the clock of time.perf_counter


class LaneThreads:
    """A pool of at most `size` threads, each started when needed. They do not keep the process from ending.

    `waited` is called in the thread that takes up a call: for how many seconds none of them was free.
    """

    def __init__(self, size: int, name: str, *, waited: Callable[[float], None] | None = None) -> None:
        self._size = size
        self._name = name
        self._waited = waited
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads = 0
        self._under_way = 0  # counted on the loop alone, where no lock is needed

    def run(self, call: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `call` in one of the threads, in the current context, and return its future.

        Call it on the event loop. A future that is cancelled, or has failed by then, takes along a call that
        has not started.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._under_way += 1
        if self._threads < min(self._under_way, self._size):
            Thread(target=self._work, name=f"{self._name}_{self._threads}", daemon=True).start()
            self._threads += 1
        self._queue.put(_Work(loop, answer, copy_context(), call, time.perf_counter()))
        return answer

    def close(self) -> None:
        """End the threads without waiting: they end when all calls submitted by now are done."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            self._do(*work)
            del work  # the next one may be long in coming

    def _do(
        self,
        loop: asyncio.AbstractEventLoop,
        answer: "asyncio.Future[Any]",
        context: Context,
        call: Callable[[], Any],
        queued_at: float,
    ) -> None:
        result = failure = None
        try:
            if self._waited is not None:
                self._waited(time.perf_counter() - queued_at)
            if not answer.done():
                result = context.run(call)
        except BaseException as error:  # noqa: BLE001  # for the task that awaits it, as with an executor
            failure = error
        try:
            loop.call_soon_threadsafe(self._end, answer, result, failure)
        except RuntimeError:
            logger.debug("%s: the event loop has ended before its call", self._name)
        finally:
            del answer, failure  # the trace holds this frame: garbage that only a collection would find

    def _end(self, answer: "asyncio.Future[Any]", result: object, failure: BaseException | None) -> None:
        self._under_way -= 1
        if answer.done():
            return
        if failure is None:
            answer.set_result(result)
        else:
            answer.set_exception(failure)
