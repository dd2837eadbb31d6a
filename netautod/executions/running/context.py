"""What an executor sees of its run: the `RunContext` of one attempt, and its per-device results."""

from netautod.core.work import Work
from netautod.executions.models import Execution
from netautod.executions.running.environment import DeviceResults, Progress, RunActing
from netautod.executions.running.log_writer import LogWriter
from netautod.plugin_api import Acting, ApprovalDecision, DeviceResult, ExecutionInfo, ResultTotals
from netautod.store.leases.keeper import Lease


class RunResults:
    """The `results` of a run context: those of one execution, written only while the lease is held."""

    def __init__(self, *, store: DeviceResults, work: Work, execution_id: str, epoch: int) -> None:
        self._store = store
        self._work = work
        self._execution_id = execution_id
        self._epoch = epoch

    async def record(self, result: DeviceResult) -> None:
        self._work.guard()
        await self._store.record(self._work, self._execution_id, self._epoch, result)

    async def settled(self) -> frozenset[str]:
        return await self._store.settled(self._work.org_id, self._execution_id)

    async def totals(self) -> ResultTotals:
        return await self._store.totals(self._work.org_id, self._execution_id)


class Context:
    """The `RunContext` of one attempt."""

    def __init__(
        self,
        *,
        execution: Execution,
        info: ExecutionInfo,
        acting: RunActing,
        results: RunResults,
        log: LogWriter,
        held: Lease,
        progress: Progress,
    ) -> None:
        self.execution = info
        self.parameters = execution.parameters
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
        self._held.guard()
        await self._progress.save_progress(self._held, done, total)
