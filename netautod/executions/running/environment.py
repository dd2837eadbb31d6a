"""What every run on a node works with: stores, settings, executors, and the callers that they act as."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from netautod.core.clock import Clock
from netautod.core.identity import Caller, OrgId
from netautod.core.metrics import Metrics
from netautod.core.work import Work
from netautod.executions.log_store import ExecutionLogStore
from netautod.executions.models import Execution
from netautod.executions.result_store import DeviceResultStore
from netautod.executions.settings import ExecutionSettings
from netautod.executions.store import ExecutionStore
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import Acting, Executor


class RunActing(Acting, Protocol):
    """The product's services for one run, and its client for requests to other systems."""

    @property
    def http(self) -> GuardedClient: ...


class ActingFactory(Protocol):
    """Makes the product's services for one run."""

    def __call__(self, work: Work, execution: Execution) -> RunActing: ...


class Owners(Protocol):
    """Gives the caller that a run acts as."""

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """The owner of a task with the permissions of now; None if disabled or gone."""
        ...


@dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """What every run on this node works with."""

    executors: Mapping[str, Executor]
    owners: Owners
    acting: ActingFactory
    executions: ExecutionStore
    logs: ExecutionLogStore
    results: DeviceResultStore
    settings: ExecutionSettings
    clock: Clock
    metrics: Metrics
