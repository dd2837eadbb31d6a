"""The event loop of the service where the extra `uvloop` is installed: it takes less processor time."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

import uvloop

from netautod.core.watch.loop import marked, outlasting_exits

Ts = TypeVarTuple("Ts")


class WatchedUvLoop(uvloop.Loop):
    """As WatchedLoop; `call_later` of uvloop does not come through its `call_at`."""

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        call, given = marked(context, callback, args)
        return super().call_soon(call, *given, context=context)

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
