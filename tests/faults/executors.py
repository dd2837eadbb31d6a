"""What the nodes of the fault tests execute: made-up work whose every device command is on record."""

import asyncio
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, cast

from marshmallow import Schema

from netautod.core.guard import LeaseLostError
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import Executor, RunContext
from netautod.store.client import Database

SENT = "sent"


class Wire:
    """Stands for the session with a device: each command passes the guard and leaves a document in `sent`."""

    http = GuardedClient(AddressRules())

    def __init__(self, *, database: Database, node: str, guard: Callable[[], None]) -> None:
        self._sent = database.collection(SENT)
        self._node = node
        self._guard = guard
        self._seq = 0

    async def send(self, context: RunContext) -> None:
        """Raises LeaseLostError when the node may no longer act."""
        self._guard()
        self._seq += 1
        run = context.execution
        command = {"execution": run.id, "attempt": run.attempt, "node": self._node, "seq": self._seq}
        row_id = f"{run.id}:{run.attempt}:{self._node}:{self._seq}"
        # The time is the server's: the nodes' clocks may be off.
        await self._sent.update({"_id": row_id}, [{"$set": {**command, "at": "$$NOW"}}], upsert=True)


class Work(ABC):
    """Base of the executors; `parameters` of the task say how long (`seconds`) and how often (`pause`)."""

    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True
    task_type: ClassVar[str]

    def __init__(self, node: str) -> None:
        self.node = node

    async def run(self, context: RunContext) -> Any:
        await self.work(context, cast(Wire, context.acting), Pace(context.parameters))
        return {"node": self.node}

    @abstractmethod
    async def work(self, context: RunContext, wire: Wire, pace: "Pace") -> None: ...


class Pace:
    """`seconds` of work in all, `pause` seconds between two commands."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.seconds = float(parameters.get("seconds", 0))
        self.pause = float(parameters.get("pause", 0.05))
        self._end = time.monotonic() + self.seconds

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end


class Noop(Work):
    task_type = "noop"

    async def work(self, context: RunContext, wire: Wire, pace: Pace) -> None:
        return


class Slow(Work):
    """Waits, and sends nothing."""

    task_type = "slow"

    async def work(self, context: RunContext, wire: Wire, pace: Pace) -> None:
        await asyncio.sleep(pace.seconds)


class Send(Work):
    """Commands a device until its time is over."""

    task_type = "send"

    async def work(self, context: RunContext, wire: Wire, pace: Pace) -> None:
        while not pace.over:
            await wire.send(context)
            await asyncio.sleep(pace.pause)


class Agent(Send):
    """The same, but not to be started a second time."""

    task_type = "agent_task"
    idempotent = False


class Deaf(Work):
    """Ignores its cancellation and goes on commanding as long as it is let."""

    task_type = "deaf"

    async def work(self, context: RunContext, wire: Wire, pace: Pace) -> None:
        while not pace.over:
            with suppress(asyncio.CancelledError, LeaseLostError):
                await wire.send(context)
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(pace.pause)


class Killer(Work):
    """Takes its whole process down, as a fault in a C library does."""

    task_type = "killer"

    async def work(self, context: RunContext, wire: Wire, pace: Pace) -> None:
        await asyncio.sleep(pace.seconds)
        os.kill(os.getpid(), signal.SIGKILL)


KINDS = (Noop, Slow, Send, Agent, Deaf, Killer)


def executors(node: str) -> dict[str, Executor]:
    return {kind.task_type: kind(node) for kind in KINDS}
