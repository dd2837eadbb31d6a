"""What every run works with: stores, settings, executors, and the callers that they act as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from netautod.automation.executions.models import Execution, LogEntry
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.core.watch.board import Board
from netautod.core.work.context import Work
from netautod.plugin_api import Acting, DeviceResult, Executor, ResultTotals
from netautod.store.leases.lease import Lease
from netautod.transport.outbound.client import GuardedClient


class RunActing(Acting, Protocol):
    """The product's services for one run, and its client for requests to other systems."""

    @property
    def http(self) -> GuardedClient: ...

    @property
    def repeatable(self) -> bool:
        """False once something was done that must not be done twice."""
        ...

    @property
    def unclear(self) -> bool:
        """Whether it is in the middle of a change: nobody could tell what came of it."""
        ...


class ActingFactory(Protocol):
    """Makes the product's services for one run."""

    def __call__(self, work: Work, execution: Execution) -> RunActing: ...


class Owners(Protocol):
    """Gives the caller that a run acts as."""

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """The owner of a task with the permissions of now; None if disabled or gone."""
        ...


class Progress(Protocol):
    """What a run needs of ExecutionStore."""

    async def save_progress(self, held: Lease, done: int, total: int) -> None: ...


class LogLines(Protocol):
    """What a run needs of ExecutionLogStore."""

    async def append(self, org_id: OrgId, execution_id: str, entries: Sequence[LogEntry]) -> None: ...

    async def size(self, org_id: OrgId, execution_id: str) -> tuple[int, int, int]: ...


class DeviceResults(Protocol):
    """What a run needs of DeviceResultStore."""

    async def record(self, work: Work, execution_id: str, epoch: int, result: DeviceResult) -> None: ...

    async def settled(self, org_id: OrgId, execution_id: str) -> frozenset[str]: ...

    async def totals(self, org_id: OrgId, execution_id: str) -> ResultTotals: ...


@dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """What every run works with, on a node or in a test without one."""

    executors: Mapping[str, Executor]
    owners: Owners
    acting: ActingFactory
    progress: Progress
    logs: LogLines
    results: DeviceResults
    settings: ExecutionSettings
    clock: Clock
    metrics: Metrics
    board: Board = field(default_factory=Board)
    tracer: Tracer | None = None
