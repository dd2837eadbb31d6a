"""Executions as values, their attempts, log lines and results; and their JSON form."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha1
from typing import Any, NamedTuple

from netautod.automation.executions.transitions import TERMINAL, State
from netautod.automation.tasks.models import Task
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text, to_text
from netautod.core.schema.bulk_values import made
from netautod.plugin_api.executors.contract import ApprovalDecision, DeviceResult

LEVELS = ("debug", "info", "warning", "error")  # of log lines, each worse than the one before


@dataclass(frozen=True, kw_only=True)
class AttemptRecord:
    """A start of the executor.

    `outcome` is null while it runs, then a state, `lost` or `returned`.
    """

    number: int
    started_at: datetime
    completed_at: datetime | None
    outcome: str | None
    error_message: str | None
    node: str

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "started_at": to_text(self.started_at),
            "completed_at": optional_text(self.completed_at),
            "outcome": self.outcome,
            "error_message": self.error_message,
            "node": self.node,
        }


@dataclass(frozen=True, kw_only=True)
class Closing:
    """The last line that the log of an ended execution still needs.

    `node` is the one that ran it, None if none did.
    """

    level: str
    text: str
    node: str | None


@dataclass(frozen=True, kw_only=True)
class Execution:
    """An execution of a task.

    `requested_by` is the id of the user who started it, or who owned the task then; `set_by` that of the user
    who set what it does, None: the owner. With `approved_by_others` none of them may decide on its request.
    `unclear`: it is in the middle of a change of a device. `traceparent` names the span of the request that
    started it, if that was traced. `device_subset` holds the ids of the devices that it visits, None: its
    parameters say which; `retry_of` is the execution whose failed devices they are. `clock_step` is how often
    the database's clock had been set back when the tick fired, None: never, or the tick fires once whatever
    the clock does. An execution that belongs to no task has its own id as `task_id`, so that whatever counts
    by task counts it alone.
    """

    id: str
    org_id: OrgId
    task_id: str
    task_name: str
    task_type: str
    state: State
    triggered_by: str
    scheduled_for: datetime | None
    owner_id: str
    parameters: Mapping[str, Any]
    max_retries: int
    retry_delay_seconds: int
    timeout_seconds: int
    started_at: datetime | None
    completed_at: datetime | None
    output: Any
    error_message: str | None
    retry_count: int
    attempts: Sequence[AttemptRecord]
    cancelled_by: str | None
    approval: ApprovalDecision | None
    approval_request: Mapping[str, Any] | None
    resume: Any
    progress: Mapping[str, int] | None
    created_at: datetime
    scope: Sequence[str] | None = None
    closing: Closing | None = None
    requested_by: str | None = None
    approval_expires_at: datetime | None = None
    approved_by_others: bool | None = None
    unclear: bool | None = None
    traceparent: str | None = None
    device_subset: Sequence[str] | None = None
    retry_of: str | None = None
    clock_step: int | None = None
    set_by: str | None = None

    @property
    def of_task(self) -> str | None:
        """Return the id of its task, None if it belongs to none."""
        return None if self.task_id == self.id else self.task_id

    def is_own(self, user_id: str) -> bool:
        """Return whether the user started the run, owns its task or set what it does."""
        return user_id in (self.requested_by, self.owner_id, self.set_by)

    def needs_another_approver(self, user_id: str) -> bool:
        """Return whether this user may not decide on its request."""
        return bool(self.approved_by_others) and self.is_own(user_id)

    @property
    def log_ended(self) -> bool:
        """Return whether the log is complete."""
        return self.terminal and self.closing is None

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL

    def to_json(self) -> dict[str, Any]:
        """Return the whole execution, as single reads answer it."""
        return {
            **self.to_list_item(),
            "output": self.output,
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "approval": _approval_json(self.approval),
            "approval_request": self.approval_request,
            "approval_expires_at": optional_text(self._expires_at),
            "progress": self.progress,
        }

    @property
    def _expires_at(self) -> datetime | None:
        return self.approval_expires_at if self.state == "approval_pending" else None

    def to_list_item(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "task_id": self.of_task,
            "task_name": self.task_name,
            "task_type": self.task_type,
            "state": self.state,
            "triggered_by": self.triggered_by,
            "scheduled_for": optional_text(self.scheduled_for),
            "started_at": optional_text(self.started_at),
            "completed_at": optional_text(self.completed_at),
            "error_message": self.error_message,
            "retry_count": self.retry_count,
            "cancelled_by": self.cancelled_by,
            "retry_of": self.retry_of,
            "created_at": to_text(self.created_at),
        }


@dataclass(frozen=True, kw_only=True)
class ExecutionTally:
    """The counts of executions.

    `pending` wait for a slot or their time, `approvals` for a decision; `failed` have failed within 24 hours.
    """

    running: int
    pending: int
    failed: int
    approvals: int

    def to_json(self) -> dict[str, int]:
        return {"running": self.running, "pending": self.pending, "failed_24h": self.failed}


@dataclass(frozen=True, kw_only=True)
class DeviceRun:
    """A run that has visited a device, and the device's result."""

    execution: Execution
    result: DeviceResult


class FiredTick(NamedTuple):
    """The tick of an execution; `scheduled_for` is None for one that a user started."""

    task_id: str
    scheduled_for: datetime | None
    clock_step: int


@dataclass(frozen=True, kw_only=True)
class ResultCounts:
    """The counts of the device results of an execution.

    `by_kind` counts the failures by error kind, the most frequent first.
    """

    succeeded: int
    failed: int
    by_kind: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        return {"succeeded": self.succeeded, "failed": self.failed, "by_kind": dict(self.by_kind)}


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    seq: int
    at: datetime
    level: str
    device_id: str | None
    message: str

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "at": to_text(self.at),
            "level": self.level,
            "device_id": self.device_id,
            "message": self.message,
        }


def _approval_json(approval: ApprovalDecision | None) -> dict[str, Any] | None:
    if approval is None:
        return None
    return {
        "decision": approval.decision,
        "by": approval.by,
        "comment": approval.comment,
        "at": to_text(approval.at),
    }


# The fields of a new execution that get their values later.
_NOT_YET: Mapping[str, Any] = {
    **dict.fromkeys(("started_at", "completed_at", "output", "error_message", "cancelled_by", "closing")),
    **dict.fromkeys(("approval", "approval_request", "approval_expires_at", "approved_by_others")),
    **dict.fromkeys(("resume", "progress", "unclear", "device_subset", "retry_of")),
    "retry_count": 0,
    "attempts": (),
}


def scheduled_id(task_id: str, scheduled_for: datetime, clock_step: int = 0) -> str:
    """Return the id of the execution of a tick.

    It is the same on every node, so that two nodes that fire one tick insert one execution. A tick that the
    clock shows again after it was set back has another number, and another id; nodes of a version that knows
    no numbers make the ids of 0.
    """
    name = scheduled_for.isoformat()
    return _uuid5(task_id, f"{name} {clock_step}" if clock_step else name)


def _uuid5(namespace: str, name: str) -> str:
    """Return the same as `uuid.uuid5` (RFC 9562, 5.5), in a third of the time: every tick of every task needs
    one.
    """
    digest = bytearray(sha1(bytes.fromhex(namespace.replace("-", "")) + name.encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_execution(
    task: Task,
    *,
    execution_id: str,
    scheduled_for: datetime | None,
    created_at: datetime,
    requested_by: str | None = None,
    traceparent: str | None = None,
    clock_step: int = 0,
) -> Execution:
    """Build a pending execution with its own copy of the task's fields of now.

    `requested_by` is the user who starts it; None: the owner of the task.
    """
    fields = {
        "id": execution_id,
        "org_id": task.org_id,
        "task_id": task.id,
        "task_name": task.name,
        "task_type": task.task_type,
        "state": "pending",
        "triggered_by": "manual" if scheduled_for is None else "schedule",
        "scheduled_for": scheduled_for,
        "owner_id": task.owner_id,
        "parameters": task.parameters,
        "max_retries": task.max_retries,
        "retry_delay_seconds": task.retry_delay_seconds,
        "timeout_seconds": task.timeout_seconds,
        "created_at": created_at,
        "scope": task.scope,
        "set_by": task.set_by,
        "requested_by": requested_by or task.owner_id,
        "traceparent": traceparent,
        "clock_step": clock_step or None,
    }
    return made(Execution, {**_NOT_YET, **fields})


def result_to_json(result: DeviceResult) -> dict[str, Any]:
    shown = asdict(result)
    for internal in ("config_id", "final"):
        del shown[internal]
    return shown
