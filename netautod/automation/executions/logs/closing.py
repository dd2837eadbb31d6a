"""Ends the logs of executions that were ended from outside: the last line says how, and who did it.

Such an execution is over at once, but its executor may still close its sessions. So its row says how the log
has to end (`Closing`), and the log is complete when that line is written: by the node that ran it when the
executor has ended, at once by whoever ended it if no node did, and by any node if the first one died before.
"""

import logging
from typing import Protocol

from netautod.automation.executions.logs.attempt_log import tell_end
from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import Execution
from netautod.automation.executions.store import ExecutionStore
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller
from netautod.store.leases.lease import Lease

logger = logging.getLogger(__name__)
BATCH = 100


class LogRest(Protocol):
    """The log of an attempt that is over, and its lines that are not written yet."""

    async def flush_rest(self) -> None: ...


class LogClosing:
    """No method raises for a database that is away: what is left open now is closed by `close_left`."""

    def __init__(self, *, store: ExecutionStore, logs: ExecutionLogStore, clock: Clock) -> None:
        self._store = store
        self._logs = logs
        self._clock = clock

    async def ended(self, execution: Execution) -> None:
        """After it was ended: closes its log now, unless it is for the node that ran it to do so."""
        if execution.closing is not None and execution.closing.node is None:
            await self._close(execution)

    async def executor_ended(self, held: Lease, log: LogRest | None) -> None:
        """On the node that held the lease, once the executor has ended or is left behind.

        What it said while it was cancelled is kept if the execution was ended from outside, or is still ours.
        """
        try:
            execution = await self._store.held_or_closing(held)
            if execution is None:
                return
            if log is not None:
                await log.flush_rest()
            if execution.closing is not None:
                await self._close(execution)
        except Unavailable as error:
            logger.warning("the log of execution %s cannot be ended yet: %s", held.row_id, error)

    async def close_left(self, seconds: float) -> None:
        """Those whose node has had that time to do it. Raises Unavailable."""
        for execution in await self._store.left_open(seconds, limit=BATCH):
            await self._close(execution)

    async def task_deleted(self, caller: Caller, task_id: str) -> None:
        """Cancels what a deleted task still had waiting; idempotent."""
        while execution := await self._store.cancel_waiting_of(
            caller.org_id, task_id, by=caller.user_id, name=caller.username
        ):
            await self.ended(execution)
            tell_end(execution, execution.state, execution.error_message, now=self._clock.now())

    async def _close(self, execution: Execution) -> None:
        assert execution.closing is not None
        try:
            await self._logs.append_last(execution.org_id, execution.id, execution.closing, self._clock.now())
            # If we die here the line is there, and `close_left` finds it.
            await self._store.closed(execution.org_id, execution.id)
        except Unavailable as error:
            logger.warning("the log of execution %s cannot be ended yet: %s", execution.id, error)
