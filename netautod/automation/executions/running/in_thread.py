"""Runs an executor that blocks in a thread of its own, whose context hands every call to the event loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, TypeVar

from netautod.core.watch.loop import current_run
from netautod.plugin_api import (
    BackupState,
    BlockingExecutor,
    CaptureOutcome,
    CommandOutcome,
    DeviceInfo,
    DeviceResult,
    ResultTotals,
    RunContext,
    RunEnded,
)
from netautod.transport.outbound.client import OutboundAnswer, OutboundRequest

T = TypeVar("T")


class Bridge:
    """A bridge that runs coroutines on the loop for the threads of one run, until it is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._open = True
        self._pending: set[Future[Any]] = set()
        self._changing = threading.Lock()

    @property
    def closed(self) -> bool:
        return not self._open

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Return or raise what the coroutine does.

        Raises RunEnded once the run is over, whatever the coroutine would have returned.
        """
        with self._changing:  # `close` cancels the pending calls, and later calls are refused
            if not self._open:
                work.close()
                raise RunEnded
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._pending.add(future)
        try:
            return future.result()
        except CancelledError:
            raise RunEnded from None
        finally:
            with self._changing:
                self._pending.discard(future)

    def close(self) -> None:
        with self._changing:
            self._open = False
            future = list(self._pending)
        for one in future:
            one.cancel()


class _Results:
    def __init__(self, context: RunContext, bridge: Bridge) -> None:
        self._results = context.results
        self._bridge = bridge

    def record(self, result: DeviceResult) -> None:
        self._bridge.call(self._results.record(result))

    def settled(self) -> frozenset[str]:
        return self._bridge.call(self._results.settled())

    def totals(self) -> ResultTotals:
        return self._bridge.call(self._results.totals())


class _Acting:
    def __init__(self, context: RunContext, bridge: Bridge) -> None:
        self._acting = context.acting
        self._bridge = bridge

    def devices(self, *, site: str | None = None, device_type: str | None = None) -> Iterator[DeviceInfo]:
        found = self._acting.devices(site=site, device_type=device_type)
        while (device := self._bridge.call(_next_of(found))) is not None:
            yield device

    def backups(self, *, site: str | None = None, device_type: str | None = None) -> Iterator[BackupState]:
        found = self._acting.backups(site=site, device_type=device_type)
        while (state := self._bridge.call(_next_of(found))) is not None:
            yield state

    def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome:
        return self._bridge.call(self._acting.capture_config(device_id, credential_id=credential_id))

    def run_command(self, device_id: str, command: str, *, timeout_seconds: float = 30.0) -> CommandOutcome:
        future = self._acting.run_command(device_id, command, timeout_seconds=timeout_seconds)
        return self._bridge.call(future)

    def create_snapshot(self, name: str, totals: ResultTotals) -> str:
        return self._bridge.call(self._acting.create_snapshot(name, totals))


async def _next_of(found: AsyncIterator[T]) -> T | None:
    """Return the next item, None at the end: StopAsyncIteration cannot cross from the loop to a thread."""
    return await anext(found, None)


class _Http:
    def __init__(self, context: RunContext, bridge: Bridge) -> None:
        self._http = context.http
        self._bridge = bridge

    def check(self, url: str) -> None:
        self._bridge.call(self._http.check(url))

    def fetch(self, request: OutboundRequest) -> OutboundAnswer:
        return self._bridge.call(self._http.fetch(request))


class ThreadContext:
    """The `SyncRunContext` of one attempt."""

    def __init__(self, context: RunContext, bridge: Bridge) -> None:
        self.execution = context.execution
        self.parameters = context.parameters
        self.approval = context.approval
        self.resume = context.resume
        self.results = _Results(context, bridge)
        self.acting = _Acting(context, bridge)
        self.http = _Http(context, bridge)
        self._context = context
        self._bridge = bridge

    @property
    def ended(self) -> bool:
        return self._bridge.closed

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        return self._bridge.call(work)

    def log(self, level: str, text: str, device_id: str | None = None) -> None:
        self._bridge.call(self._context.log(level, text, device_id))

    def progress(self, done: int, total: int) -> None:
        self._bridge.call(self._context.progress(done, total))


class InThread:
    """The `Executor` that stands for an executor with `blocking = True`."""

    def __init__(self, executor: BlockingExecutor) -> None:
        self.wrapped = executor
        self.task_type = executor.task_type
        self.parameters_schema = executor.parameters_schema
        self.idempotent = executor.idempotent

    async def run(self, context: RunContext) -> Any:
        """Run the executor in a thread and return when the thread has ended.

        Cancelled, it still waits for the thread: a thread cannot be cancelled.
        """
        loop = asyncio.get_running_loop()
        bridge, over = Bridge(loop), loop.create_future()
        work = _Work(self.wrapped, ThreadContext(context, bridge), loop, over)
        # A daemon thread: an executor that never returns must not keep the process from ending.
        name = f"run {context.execution.id}"
        threading.Thread(target=work.run, args=(copy_context(),), name=name, daemon=True).start()
        try:
            return await asyncio.shield(over)
        except asyncio.CancelledError:
            bridge.close()
            await asyncio.wait({over})
            raise
        finally:
            bridge.close()  # threads that the executor has started may be left
            if over.done() and not over.cancelled():
                over.exception()  # retrieves it: asyncio would log it as never retrieved


class _Work:
    """The work of the thread: the run, and the hand-over of how it ended."""

    def __init__(
        self,
        executor: BlockingExecutor,
        context: ThreadContext,
        loop: asyncio.AbstractEventLoop,
        over: "asyncio.Future[Any]",
    ) -> None:
        self._executor = executor
        self._context = context
        self._loop = loop
        self._over = over

    def run(self, within: Context) -> None:
        try:
            result = within.run(self._run)
        except BaseException as error:  # noqa: BLE001  # any exception is the end of the run
            self._set_end(self._over.set_exception, _future_exception(error))
        else:
            self._set_end(self._over.set_result, result)

    def _run(self) -> Any:
        mark = current_run.get()
        if mark is not None:
            mark.note_thread()
        return self._executor.run(self._context)

    def _set_end(self, end: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended: an executor that was left behind
            self._loop.call_soon_threadsafe(self._end, end, value)

    def _end(self, end: Callable[[Any], None], value: Any) -> None:
        if not self._over.done():
            end(value)


def _future_exception(error: BaseException) -> BaseException:
    if isinstance(error, StopIteration | asyncio.CancelledError | CancelledError):
        made = RuntimeError(f"the executor raised {type(error).__name__}")
        made.__cause__ = error
        return made
    return error
