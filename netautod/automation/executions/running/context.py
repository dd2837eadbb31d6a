"""The `RunContext` that the executor of one attempt gets, and its results of devices."""

from contextlib import suppress
from functools import partial
from typing import Any

from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import DeviceResults, Progress, RunActing
from netautod.automation.executions.running.log_writer import LogWriter
from netautod.core.errors import Unavailable
from netautod.core.work.context import Work
from netautod.plugin_api import Acting, ApprovalDecision, DeviceResult, ExecutionInfo, ResultTotals
from netautod.store.leases.lease import Lease


class RunResults:
    """The `results` of a run context, written only while the run is known to be this node's.

    A result that waits for the database is not lost with the executor: `flush` writes it before the end of
    the attempt, whatever that is.
    """

    def __init__(self, *, store: DeviceResults, work: Work, held: Lease) -> None:
        self._store = store
        self._work = work
        self._held = held
        self._waiting: dict[str, DeviceResult] = {}

    async def record(self, result: DeviceResult) -> None:
        self._work.guard()
        self._waiting[result.device_id] = result
        await self._work.persist(partial(self._write, result))

    async def flush(self) -> None:
        for result in list(self._waiting.values()):
            await self._write(result)

    async def settled(self) -> frozenset[str]:
        return await self._work.persist(partial(self._store.settled, self._work.org_id, self._held.row_id))

    async def totals(self) -> ResultTotals:
        return await self._work.persist(partial(self._store.totals, self._work.org_id, self._held.row_id))

    async def _write(self, result: DeviceResult) -> None:
        await self._held.known()
        work = self._work.under(self._held.writable)
        await self._store.record(work, self._held.row_id, self._held.epoch, result)
        if self._waiting.get(result.device_id) is result:
            del self._waiting[result.device_id]


class Context:
    """The `RunContext` of one attempt."""

    def __init__(
        self,
        *,
        execution: Execution,
        parameters: Any,
        info: ExecutionInfo,
        acting: RunActing,
        results: RunResults,
        log: LogWriter,
        held: Lease,
        progress: Progress,
    ) -> None:
        self.execution = info
        self.parameters = parameters
        self.results = results
        self.acting: Acting = acting
        self.http = acting.http
        self.approval: ApprovalDecision | None = execution.approval
        self.resume = execution.resume
        self._log = log
        self._held = held
        self._progress = progress

    async def log(self, level: str, text: str, device_id: str | None = None) -> None:
        await self._log.write(level, text, device_id)

    async def progress(self, done: int, total: int) -> None:
        """Store the progress.

        A failure is ignored: the next call brings newer figures.
        """
        self._held.guard()
        with suppress(Unavailable):
            await self._progress.save_progress(self._held, done, total)
