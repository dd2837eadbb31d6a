"""The contract of executors, and what they are given."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol

from marshmallow import Schema

from netautod.plugin_api.acting import UserServices
from netautod.plugin_api.agents import AgentDesk
from netautod.transport.outbound.client import GuardedClient


class ExecutionFailed(Exception):
    """Raised when this attempt failed; it is retried while the task has retries left. `output` is kept."""

    def __init__(self, text: str, *, output: Any = None) -> None:
        super().__init__(text)
        self.text = text
        self.output = output


class PermanentFailure(ExecutionFailed):
    """The execution failed and trying again cannot help."""


class NeedsApproval(Exception):
    """Raised to park the execution until a user decides; `request` says on what, `state` is `resume` later.

    Approved or rejected, it is run again, in an attempt of its own, and `context.approval` is the decision.
    Until it has ended no other execution of the task starts. Without a decision in time it fails, "approval
    expired". Both are JSON values; `state` at most 1 MiB. `by_others`: neither the user who started the run
    nor the owner of the task may decide.
    """

    def __init__(self, request: Mapping[str, Any], *, state: Any = None, by_others: bool = False) -> None:
        super().__init__("approval needed")
        self.request = request
        self.state = state
        self.by_others = by_others


@dataclass(frozen=True, kw_only=True)
class ExecutionInfo:
    """The run. `attempt` counts from 1; `deadline` is when this attempt times out.

    `task_id` is None for a run that belongs to no task, such as a bulk pull.
    """

    id: str
    org_id: str
    task_id: str | None
    task_name: str
    attempt: int
    deadline: datetime


@dataclass(frozen=True, kw_only=True)
class ApprovalDecision:
    """A decision: `decision` is `approved` or `rejected`, and the run goes on either way. `by` is a
    username.
    """

    decision: str
    by: str
    comment: str | None
    at: datetime


@dataclass(frozen=True, kw_only=True)
class DeviceResult:
    """The result of one device. `error_kind` is one of the typed device failures (`auth`, ...).

    `final`: it failed and is not to be visited again by a retry.
    """

    device_id: str
    device_name: str
    success: bool
    duration_ms: int
    changed: bool | None = None
    version: int | None = None
    config_id: str | None = None
    config_hash: str | None = None
    credential_id: str | None = None
    error: str | None = None
    error_kind: str | None = None
    final: bool = False


@dataclass(frozen=True, kw_only=True)
class ResultTotals:
    """The sums over all results of the execution, earlier attempts included."""

    devices_total: int
    succeeded: int
    failed: int
    changed: int
    unchanged: int


class Results(Protocol):
    """The per-device results of this execution; they survive retries and the loss of a node."""

    async def record(self, result: DeviceResult) -> None:
        """Store the result, replacing the device's earlier one."""
        ...

    async def settled(self) -> frozenset[str]:
        """Return the ids of devices that need no further visit: they succeeded, or failed for good."""
        ...

    async def totals(self) -> ResultTotals:
        """Return the sums over all attempts."""
        ...


class Acting(UserServices, Protocol):
    """The services of the product, as the task's owner.

    A call without the permission raises Forbidden; let it pass, and the execution fails without a retry.
    """

    @property
    def agent(self) -> AgentDesk:
        """Return the desk for an executor that lets a language model work: the model, its tools and the
        transcript.
        """
        ...

    async def create_snapshot(self, name: str, totals: ResultTotals) -> str:
        """Create (or complete) this execution's config snapshot from its results; return its id."""
        ...


class RunContext(Protocol):
    """The context of an executor: its run, and the services of the product."""

    @property
    def execution(self) -> ExecutionInfo:
        """Return the run."""
        ...

    @property
    def parameters(self) -> Any:
        """The task's parameters as they were when the execution was made, loaded by the `parameters_schema`.

        What its `load` returns: a mapping with the defaults and the converted values, or what a `post_load`
        makes of it. Without a schema the mapping that is stored.
        """
        ...

    @property
    def results(self) -> Results:
        """Return the results of the devices, kept over attempts."""
        ...

    @property
    def acting(self) -> Acting:
        """The product's services, with the rights of the task's owner."""
        ...

    @property
    def http(self) -> GuardedClient:
        """The only way to make requests; it refuses local addresses, and sends nothing after the attempt."""
        ...

    @property
    def approval(self) -> ApprovalDecision | None:
        """The decision on its last request, when the run was parked before; a rejection, too."""
        ...

    @property
    def resume(self) -> Any:
        """Return what `NeedsApproval.state` was, when the run was parked before."""
        ...

    async def log(self, level: str, text: str, device_id: str | None = None) -> None:
        """Log one line of the execution; `level` is debug, info, warning or error."""
        ...

    async def progress(self, done: int, total: int) -> None:
        """Show how far the run is; each call is a write to the database."""
        ...


class Executor(Protocol):
    """An executor of the tasks of one type.

    `run` may be cancelled at any await and returns the JSON value of `output`. `ExecutionFailed` fails the
    attempt (retried), `PermanentFailure` the execution, `NeedsApproval` parks it; any other exception is a
    failure with a generic text and a logged trace. State, timeout, retry and leases are the host's.
    `idempotent` executors are started again on another node when theirs dies.
    """

    task_type: ClassVar[str]
    parameters_schema: ClassVar[type[Schema] | None]
    idempotent: ClassVar[bool]

    async def run(self, context: RunContext) -> Any: ...
