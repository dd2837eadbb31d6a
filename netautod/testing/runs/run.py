"""The run of one executor without a server, by the code that runs it in the service."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from netautod.automation.agents.models import Chained
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.outcome import Finished, Outcome, Parked, Retried
from netautod.automation.executions.running.attempt import Attempt
from netautod.automation.executions.running.environment import ActingFactory, Owners, RunEnvironment
from netautod.automation.executions.running.registered_executors import prepared_executor
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.plugin_api import (
    AgentTool,
    ApprovalDecision,
    BlockingExecutor,
    DeviceResult,
    Executor,
    ModelBackend,
    ResultTotals,
    RunContext,
)
from netautod.store.leases.lease import Lease, LeaseTimes
from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.runs.agent_desk import KeptTranscripts
from netautod.testing.runs.run_devices import COMMAND, READ, RunDevice, RunServices
from netautod.testing.runs.run_records import Kept, LogLine, attempt_record, first_execution
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient

LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True, kw_only=True)
class ExecutorRun:
    """The result of one run, as the service would store it.

    `state` is `completed`, `failed`, `timeout`, `pending` (it is tried again) or `approval_pending`. `error`
    is the text that users see; `exception` is what the executor raised, for tests of what went wrong.
    `results` and `totals` are those of all attempts, by the name of the device; `snapshots` the names of the
    snapshots by their ids. `request` and `resume` are those of NeedsApproval. `transcript` is that of an
    agent. `progress` is (done, total).
    """

    state: str
    output: Any
    error: str | None
    exception: BaseException | None
    results: Mapping[str, DeviceResult]
    totals: ResultTotals
    log: Sequence[LogLine]
    progress: tuple[int, int] | None
    snapshots: Mapping[str, str]
    request: Mapping[str, Any] | None
    resume: Any
    execution: Execution
    transcript: Sequence[Chained] = ()


async def run_executor(
    executor: Executor | BlockingExecutor,
    parameters: Mapping[str, Any] | None = None,
    *,
    devices: Iterable[RunDevice | SimulatedDevice] = (),
    previous: ExecutorRun | None = None,
    approval: ApprovalDecision | None = None,
    permissions: Collection[str] = (READ, COMMAND),
    model: ModelBackend | None = None,
    tools: Iterable[AgentTool] = (),
    allow: Iterable[str] = LOOPBACK,
    http: GuardedClient | None = None,
    task_name: str = "task",
    max_retries: int = 0,
    timeout_seconds: int = 60,
) -> ExecutorRun:
    """Run one attempt: parameters checked by the schema, the time limit kept, the end judged as by the
    service.

    `permissions` are those of the task's owner; `model` and `tools` are what `context.acting.agent` has;
    `allow` the local addresses that `context.http` may reach; `http` takes its place (`FakeGuardedClient`).
    The attempt that follows `previous` keeps its execution: parameters, results, limits, attempt number, and
    after `approval_pending` what was saved for it, with `approval` (default: approved).
    """
    execution = (
        first_execution(
            executor.task_type,
            parameters or {},
            task_name=task_name,
            max_retries=max_retries,
            timeout_seconds=timeout_seconds,
        )
        if previous is None
        else _next(previous, approval)
    )
    kept = Kept(() if previous is None else previous.results.values())
    watched = _Watched(prepared_executor(executor))
    services: list[RunServices] = []
    client = http or GuardedClient(AddressRules.allowing(allow))
    run_devices = [RunDevice.of(device) for device in devices]
    transcripts = KeptTranscripts(() if previous is None else previous.transcript)

    def acting(work: Work, execution: Execution) -> RunServices:
        services.append(
            RunServices(
                work=work,
                execution=execution,
                devices=run_devices,
                http=client,
                model=model,
                tools=tools,
                transcripts=transcripts,
            )
        )
        return services[-1]

    environment = _environment(watched, _Owner(frozenset(permissions)), acting, kept)
    after = _after(execution, await _attempted(environment, execution))
    if after.state == "timeout":  # the last line of its log, as in the service
        kept.lines.append(LogLine(level="error", text=after.error_message or "", device_id=None))
    return ExecutorRun(
        state=after.state,
        output=after.output,
        error=after.error_message,
        exception=watched.exception,
        results={result.device_name: result for result in kept.results.values()},
        totals=kept.sums(),
        log=kept.lines,
        progress=kept.progress,
        snapshots={} if not services else services[-1].snapshots,
        request=after.approval_request,
        resume=after.resume,
        execution=after,
        transcript=transcripts.events,
    )


async def _attempted(environment: RunEnvironment, execution: Execution) -> Outcome:
    attempt = Attempt(environment=environment, execution=execution, held=_lease(execution))
    try:
        ended = await attempt.run()
    finally:
        await attempt.stop()
    await attempt.flush()
    assert ended is not None  # only an attempt that loses its lease has no outcome
    return ended


def _environment(executor: "_Watched", owners: Owners, acting: ActingFactory, kept: Kept) -> RunEnvironment:
    return RunEnvironment(
        executors={executor.task_type: cast(Executor, executor)},
        owners=owners,
        acting=acting,
        progress=kept,
        logs=kept,
        results=kept,
        settings=ExecutionSettings(),
        clock=SystemClock(),
        metrics=Metrics(),
    )


def _lease(execution: Execution) -> Lease:
    """Build a lease that is never lost."""
    return Lease(
        row_id=execution.id,
        epoch=len(execution.attempts),
        row={},
        clock=SystemClock(),
        times=LeaseTimes(lease=math.inf, heartbeat=math.inf, abandon=math.inf),
        acknowledged_at=math.inf,
    )


class _Watched:
    """The executor, and what it raised."""

    parameters_schema: Any
    idempotent: Any
    task_type: Any

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.parameters_schema = executor.parameters_schema
        self.idempotent = executor.idempotent
        self.task_type = executor.task_type
        self.exception: BaseException | None = None

    async def run(self, context: RunContext) -> Any:
        try:
            return await self._executor.run(context)
        except BaseException as error:
            self.exception = error
            raise


class _Owner:
    def __init__(self, permissions: frozenset[str]) -> None:
        self._permissions = permissions

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        return Caller(user_id=user_id, org_id=org_id, username="owner", permissions=self._permissions)


def _next(previous: ExecutorRun, approval: ApprovalDecision | None) -> Execution:
    before = previous.execution
    if previous.state not in ("pending", "approval_pending"):
        raise ValueError(f"nothing follows a run that is {previous.state}")
    if approval is None and previous.state == "approval_pending":
        at = datetime.now(UTC)
        approval = ApprovalDecision(decision="approved", by="approver", comment=None, at=at)
    attempts = (*before.attempts, attempt_record(len(before.attempts) + 1))
    return replace(before, state="running", attempts=attempts, approval=approval or before.approval)


def _after(execution: Execution, ended: Outcome) -> Execution:
    """Return the execution as the service would store it, as far as the next attempt can tell."""
    changed = replace(execution, state=ended.state, error_message=ended.error_message)
    if isinstance(ended, Parked):
        return replace(changed, approval=None, approval_request=ended.request, resume=ended.resume)
    if isinstance(ended, Finished | Retried) and ended.output is not None:
        changed = replace(changed, output=ended.output)
    if isinstance(ended, Retried):
        changed = replace(changed, retry_count=execution.retry_count + 1)
    return changed
