"""A run context for tests: what an executor, or a tool of agents, is handed."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from netautod.core.identity.caller import Caller
from netautod.core.work.context import Work
from netautod.plugin_api import Acting, ApprovalDecision, DeviceResult, ExecutionInfo, ResultTotals
from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.runs.agent_desk import KeptTranscripts
from netautod.testing.runs.fakes import FakeGuardedClient
from netautod.testing.runs.run_devices import COMMAND, READ, RunDevice, RunServices
from netautod.testing.runs.run_records import Kept, LogLine, first_execution
from netautod.transport.outbound.client import GuardedClient

_LEVELS = ("debug", "info", "warning", "error")


class FakeRunContext:
    """A `RunContext`, and a `ToolContext`, for one call: `await MyExecutor().run(FakeRunContext(...))`.

    `parameters` are handed on as they are, no schema looks at them; `run_executor` makes whole runs.
    What happened: `lines` of the log, `progressed` (done, total), `admitted` ids of devices, `results.kept`.
    """

    def __init__(
        self,
        parameters: Any = None,
        *,
        devices: Iterable[RunDevice | SimulatedDevice] = (),
        http: GuardedClient | None = None,
        permissions: Collection[str] = (READ, COMMAND),
        approval: ApprovalDecision | None = None,
        resume: Any = None,
        attempt: int = 1,
    ) -> None:
        execution = first_execution("task", {})
        caller = Caller(
            user_id=execution.owner_id,
            org_id=execution.org_id,
            username="owner",
            permissions=frozenset(permissions),
        )
        self.parameters = {} if parameters is None else parameters
        self.http = http or FakeGuardedClient()
        self.approval = approval
        self.resume = resume
        self.org_id = str(execution.org_id)
        self.execution = ExecutionInfo(
            id=execution.id,
            org_id=self.org_id,
            task_id=execution.task_id,
            task_name=execution.task_name,
            attempt=attempt,
            deadline=datetime.now(UTC) + timedelta(seconds=execution.timeout_seconds),
        )
        self.acting: Acting = RunServices(
            work=Work(caller=caller),
            execution=execution,
            devices=[RunDevice.of(device) for device in devices],
            http=self.http,
            transcripts=KeptTranscripts(),
        )
        self.results = FakeResults()
        self.lines: list[LogLine] = []
        self.progressed: tuple[int, int] | None = None
        self.admitted: list[str] = []

    async def log(self, level: str, text: str, device_id: str | None = None) -> None:
        if level not in _LEVELS:
            raise ValueError(f"level is one of {', '.join(_LEVELS)}, not {level!r}")
        self.lines.append(LogLine(level=level, text=text, device_id=device_id))

    async def progress(self, done: int, total: int) -> None:
        self.progressed = done, total

    def admit(self, device_id: str) -> None:
        self.admitted.append(device_id)


class FakeResults:
    """A store of results in memory; `kept` are those of each device by its id."""

    def __init__(self) -> None:
        self._rows = Kept()

    @property
    def kept(self) -> dict[str, DeviceResult]:
        return self._rows.results

    async def record(self, result: DeviceResult) -> None:
        self._rows.results[result.device_id] = result

    async def settled(self) -> frozenset[str]:
        return self._rows.done()

    async def totals(self) -> ResultTotals:
        return self._rows.sums()
