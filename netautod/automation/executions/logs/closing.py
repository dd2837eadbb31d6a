"""Ends the logs of executions that were ended from outside: the last line says how, and who did it.

Such an execution is over at once, but its executor may still close its sessions. So its row holds the last
line of the log (`Closing`), and the log is complete when that line is written: by the node that ran it when
the executor has ended, at once if no node ran it, and by any node if the one that ran it died before.
"""

import logging
from typing import Protocol

from netautod.automation.executions.logs.attempt_log import log_attempt_end
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
    """A service that writes the last lines of logs.

    No method raises when the database is away: `close_left` closes later what stays open now.
    """

    def __init__(self, *, store: ExecutionStore, logs: ExecutionLogStore, clock: Clock) -> None:
        self._store = store
        self._logs = logs
        self._clock = clock

    async def ended(self, execution: Execution) -> None:
        """Close the log of an execution that was ended from outside.

        If a node still runs it, that node closes the log.
        """
        if execution.closing is not None and execution.closing.node is None:
            await self._close(execution)

    async def executor_ended(self, held: Lease, log: LogRest | None) -> None:
        """Close the log on the node that held the lease, once the executor has ended or is left behind.

        The lines that the executor wrote while it was cancelled are kept if the execution was ended from
        outside or still belongs to this node.
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
        """Close the logs that their node has left open for so many seconds. Raises Unavailable."""
        for execution in await self._store.left_open(seconds, limit=BATCH):
            await self._close(execution)

    async def task_deleted(self, caller: Caller, task_id: str) -> None:
        """Cancel the waiting executions of a deleted task; idempotent."""
        while execution := await self._store.cancel_waiting_of(
            caller.org_id, task_id, by=caller.user_id, name=caller.username
        ):
            await self.ended(execution)
            log_attempt_end(execution, execution.state, execution.error_message, now=self._clock.now())

    async def _close(self, execution: Execution) -> None:
        assert execution.closing is not None
        try:
            await self._logs.append_last(execution.org_id, execution.id, execution.closing, self._clock.now())
            # If we die here the line is there, and `close_left` finds it.
            await self._store.closed(execution.org_id, execution.id)
        except Unavailable as error:
            logger.warning("the log of execution %s cannot be ended yet: %s", execution.id, error)
