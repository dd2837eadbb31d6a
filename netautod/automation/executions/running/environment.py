"""The things that every run uses: stores, settings, executors, and the callers that the runs act as."""

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
        """Return False once something was done that must not be done twice."""
        ...

    @property
    def unclear(self) -> bool:
        """Return whether the run is in the middle of a change whose result would be unknown."""
        ...


class ActingFactory(Protocol):
    """The maker of the product's services for one run."""

    def __call__(self, work: Work, execution: Execution) -> RunActing: ...


class Owners(Protocol):
    """The source of the caller that a run acts as."""

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """Return the owner of a task with the permissions of now; None if disabled or gone."""
        ...


class Progress(Protocol):
    """The part of ExecutionStore that a run needs."""

    async def save_progress(self, held: Lease, done: int, total: int) -> None: ...


class LogLines(Protocol):
    """The part of ExecutionLogStore that a run needs."""

    async def append(self, org_id: OrgId, execution_id: str, entries: Sequence[LogEntry]) -> None: ...

    async def size(self, org_id: OrgId, execution_id: str) -> tuple[int, int, int]: ...


class DeviceResults(Protocol):
    """The part of DeviceResultStore that a run needs."""

    async def record(self, work: Work, execution_id: str, epoch: int, result: DeviceResult) -> None: ...

    async def settled(self, org_id: OrgId, execution_id: str) -> frozenset[str]: ...

    async def totals(self, org_id: OrgId, execution_id: str) -> ResultTotals: ...


@dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """The things that every run uses, on a node or in a test without one."""

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
