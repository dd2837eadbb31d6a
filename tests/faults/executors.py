"""What the nodes of the fault tests execute: made-up work whose every device command is on record."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import Executor, RunContext
from netautod.store.client import Database
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from tests.support.execution import Does

SENT = "sent"


class Wire:
    """Stands for the session with a device: each command passes the guard and leaves a document in `sent`."""

    http = GuardedClient(AddressRules())
    repeatable = True
    unclear = False

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


class Pace:
    """`seconds` of work in all, `pause` seconds between two commands: the parameters of the task."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.seconds = float(parameters.get("seconds", 0))
        self.pause = float(parameters.get("pause", 0.05))
        self._end = time.monotonic() + self.seconds

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end


async def noop(context: RunContext, wire: Wire, pace: Pace) -> None:
    return


async def slow(context: RunContext, wire: Wire, pace: Pace) -> None:
    """Waits, and sends nothing."""
    await asyncio.sleep(pace.seconds)


async def send(context: RunContext, wire: Wire, pace: Pace) -> None:
    """Commands a device until its time is over."""
    while not pace.over:
        await wire.send(context)
        await asyncio.sleep(pace.pause)


async def deaf(context: RunContext, wire: Wire, pace: Pace) -> None:
    """Ignores its cancellation and goes on commanding as long as it is let."""
    while not pace.over:
        with suppress(asyncio.CancelledError, LeaseLostError):
            await wire.send(context)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(pace.pause)


async def killer(context: RunContext, wire: Wire, pace: Pace) -> None:
    """Takes its whole process down, as a fault in a C library does."""
    await asyncio.sleep(pace.seconds)
    os.kill(os.getpid(), signal.SIGKILL)


KINDS = {"noop": noop, "slow": slow, "send": send, "agent_task": send, "deaf": deaf, "killer": killer}


def executor(node: str, name: str) -> Executor:
    """An agent is not to be started a second time."""

    async def work(context: RunContext) -> Any:
        await KINDS[name](context, cast(Wire, context.acting), Pace(context.parameters))
        return {"node": node}

    class Kind(Does):
        task_type = name
        idempotent = name != "agent_task"

    return Kind(work)
