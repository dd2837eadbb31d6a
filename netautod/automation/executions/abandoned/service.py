"""Ends the runs of a process that was killed; the process that follows it does that."""

import logging
from collections.abc import Iterable

from netautod.automation.executions.abandoned.models import Blocked, GivenUp
from netautod.automation.executions.abandoned.store import AbandonedRunStore
from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records import outcome
from netautod.automation.executions.records.claims import DeadRun
from netautod.automation.executions.records.outcome import Outcome

logger = logging.getLogger(__name__)


class AbandonedRuns:
    """A service that ends the runs of nodes that are certainly dead, without waiting for their leases."""

    def __init__(self, *, store: AbandonedRunStore, notifier: FinishNotifier, closing: LogClosing) -> None:
        self._store = store
        self._notifier = notifier
        self._closing = closing

    async def settle(self, given_up: Iterable[GivenUp]) -> None:
        """End every run of these nodes.

        Raises Unavailable. What was ended before that stays so; the next call finds the rest.
        """
        for one in given_up:
            if one.by is not None:
                await self._fail(one.by, one.node_id)
            for run in await self._store.runs_of(one.node_id):
                await self._report(await self._store.end_claim(run, _ended(run, one)))

    async def _fail(self, blocked: Blocked, node_id: str) -> None:
        """Fail the execution that blocked the node, wherever it is by now.

        If this call comes late, the run waits for its next node or is running on it.
        """
        await self._report(await self._store.fail(blocked, node_id))

    async def _report(self, execution: Execution | None) -> None:
        """Log the end of an execution and notify the observers; do nothing without one."""
        if execution is None:
            return
        logger.warning(
            "execution %s ran on a node that was killed: it is %s now", execution.id, execution.state
        )
        await self._closing.ended(execution)
        await self._notifier.notify(execution, execution.state, execution.error_message)


def _ended(run: DeadRun, one: GivenUp) -> Outcome:
    if one.by is None:
        # Any of them may have blocked the node: each counts as a retry, so that this ends.
        return outcome.lost(run.execution, idempotent=run.idempotent)
    return outcome.stopped(idempotent=run.idempotent)
