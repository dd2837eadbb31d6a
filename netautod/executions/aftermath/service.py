"""What becomes of the runs of a process that was given up: the one that follows it settles them."""

import logging
from collections.abc import Iterable

from netautod.core.clock import Clock
from netautod.executions import outcome
from netautod.executions.aftermath.models import GivenUp
from netautod.executions.aftermath.store import AftermathStore
from netautod.executions.claims import DeadRun
from netautod.executions.models import LogEntry
from netautod.executions.notifier import FinishNotifier
from netautod.executions.outcome import Outcome
from netautod.executions.running.environment import LogLines

logger = logging.getLogger(__name__)


class Aftermath:
    """Ends what still counts as run by nodes that are certainly dead; nobody has to wait for their leases."""

    def __init__(
        self, *, store: AftermathStore, logs: LogLines, notifier: FinishNotifier, clock: Clock
    ) -> None:
        self._store = store
        self._logs = logs
        self._notifier = notifier
        self._clock = clock

    async def settle(self, given_up: Iterable[GivenUp]) -> None:
        """Raises Unavailable; what was settled by then stays, and the rest is found by the next try."""
        for one in given_up:
            await self._fail_elsewhere(one)
            for run in await self._store.runs_of(one.node_id):
                await self._end(run, _ended(run, one), blocked=_blocked(run, one))

    async def _fail_elsewhere(self, one: GivenUp) -> None:
        """Should the settling have taken so long that another node has claimed what blocks, it ends there."""
        if one.execution_id is None or one.epoch is None:
            return
        for run in await self._store.run_since(one.execution_id, one.epoch):
            await self._end(run, outcome.failed(one.text), blocked=True)

    async def _end(self, run: DeadRun, ended: Outcome, *, blocked: bool) -> None:
        execution = run.execution
        if blocked and ended.error_message is not None:
            await self._log(run, ended.error_message)
        if not await self._store.end_claim(run, ended):
            return
        logger.warning("execution %s of the node that was given up: %s", execution.id, ended.state)
        await self._notifier.notify(execution, ended.state, ended.error_message)

    async def _log(self, run: DeadRun, text: str) -> None:
        execution = run.execution
        last, _, _ = await self._logs.size(execution.org_id, execution.id)
        line = LogEntry(seq=last + 1, at=self._clock.now(), level="error", device_id=None, message=text)
        await self._logs.append(execution.org_id, execution.id, [line])


def _blocked(run: DeadRun, one: GivenUp) -> bool:
    return run.execution.id == one.execution_id and run.epoch == one.epoch


def _ended(run: DeadRun, one: GivenUp) -> Outcome:
    if _blocked(run, one):
        return outcome.failed(one.text)
    if one.execution_id is None:
        # Any of them may have done it: each counts as a retry, so that it does not go on for ever.
        return outcome.lost(run.execution, idempotent=run.idempotent)
    return outcome.stopped(idempotent=run.idempotent)
