"""The event loop of the service where the extra `uvloop` is installed: it takes less processor time."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

import uvloop

from netautod.core.watch.loop import current_run, marked, outlasting_exits
from netautod.core.watch.share import RunShare

Ts = TypeVarTuple("Ts")


class WatchedUvLoop(uvloop.Loop):
    """A WatchedLoop of uvloop, whose `call_later` does not come through its `call_at`."""

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

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        call, given = marked(context, callback, args)
        return super().call_later(delay, call, *given, context=context)

    def run_forever(self) -> None:
        outlasting_exits(super().run_forever)
