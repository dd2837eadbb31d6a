"""The contract of executors that run in a thread of their own, with plain functions."""

from collections.abc import Coroutine, Iterator
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from marshmallow import Schema

from netautod.plugin_api.acting import BackupState, CaptureOutcome, CommandOutcome, DeviceInfo
from netautod.plugin_api.executors.contract import (
    ApprovalDecision,
    DeviceResult,
    ExecutionInfo,
    ResultTotals,
)
from netautod.transport.outbound.client import OutboundAnswer, OutboundRequest

T = TypeVar("T")


class RunEnded(BaseException):
    """The run was cancelled, timed out or became another node's: nothing more can be done in its name.

    Every method of a `SyncRunContext` raises it from then on. Clean up and let it pass: it is no `Exception`,
    so that a handler of failures does not take it for one.
    """


class SyncResults(Protocol):
    """The `Results`, called from a thread."""

    def record(self, result: DeviceResult) -> None: ...

    def settled(self) -> frozenset[str]: ...

    def totals(self) -> ResultTotals: ...


class SyncActing(Protocol):
    """The `Acting`, called from a thread: the same services behind the same permission checks."""

    def devices(self, *, site: str | None = None, device_type: str | None = None) -> Iterator[DeviceInfo]: ...

    def backups(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> Iterator[BackupState]: ...

    def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome: ...

    def run_command(
        self, device_id: str, command: str, *, timeout_seconds: float = 30.0
    ) -> CommandOutcome: ...

    def create_snapshot(self, name: str, totals: ResultTotals) -> str: ...


class SyncHttp(Protocol):
    """The guarded HTTP client, called from a thread."""

    def check(self, url: str) -> None: ...

    def fetch(self, request: OutboundRequest) -> OutboundAnswer: ...


class SyncRunContext(Protocol):
    """The `RunContext` for an executor in a thread: each method waits for its answer, or raises `RunEnded`.

    They may be called from any thread that the executor starts.
    """

    @property
    def execution(self) -> ExecutionInfo: ...

    @property
    def parameters(self) -> Any: ...

    @property
    def results(self) -> SyncResults: ...

    @property
    def acting(self) -> SyncActing: ...

    @property
    def http(self) -> SyncHttp: ...

    @property
    def approval(self) -> ApprovalDecision | None: ...

    @property
    def resume(self) -> Any: ...

    @property
    def ended(self) -> bool:
        """Return whether the run is over: for a loop that calls none of the methods, which raise
        `RunEnded`.
        """
        ...

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return or raise what an asynchronous call of anything else that the plugin is lent does.

        An example is `context.wait_for(host.storage.get(org_id, key))`.
        """
        ...

    def log(self, level: str, text: str, device_id: str | None = None) -> None: ...

    def progress(self, done: int, total: int) -> None: ...


class BlockingExecutor(Protocol):
    """An `Executor` for work that waits or computes without the event loop: libraries that block, long loops.

    `run` is a plain function. It is called in a thread of its own and ends as that of an `Executor` does. A
    thread cannot be cancelled: when the run is over the methods of its context raise `RunEnded`, and one that
    calls none of them is left behind, where it can do nothing more in the name of the run.
    """

    blocking: ClassVar[Literal[True]]
    task_type: ClassVar[str]
    parameters_schema: ClassVar[type[Schema] | None]
    idempotent: ClassVar[bool]

    def run(self, context: SyncRunContext) -> Any: ...
