"""The records of a run without a server: its execution, log lines, results and progress."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from netautod.automation.executions.models import AttemptRecord, Execution, LogEntry
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.plugin_api import DeviceResult, ResultTotals
from netautod.store.leases.lease import Lease


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A line of the execution's log; `device_id` is None for a line about no device."""

    level: str
    text: str
    device_id: str | None


class Kept:
    """The log lines, results and progress of one execution: everything that an attempt reads from
    the stores.
    """

    def __init__(self, results: Iterable[DeviceResult] = ()) -> None:
        self.lines: list[LogLine] = []
        self.results: dict[str, DeviceResult] = {result.device_id: result for result in results}
        self.progress: tuple[int, int] | None = None

    async def append(self, org_id: OrgId, execution_id: str, entries: Sequence[LogEntry]) -> None:
        self.lines += [
            LogLine(level=entry.level, text=entry.message, device_id=entry.device_id) for entry in entries
        ]

    async def size(self, org_id: OrgId, execution_id: str) -> tuple[int, int, int]:
        return 0, 0, 0

    async def record(self, work: Work, execution_id: str, epoch: int, result: DeviceResult) -> None:
        self.results[result.device_id] = result

    async def settled(self, org_id: OrgId, execution_id: str) -> frozenset[str]:
        return self.done()

    async def totals(self, org_id: OrgId, execution_id: str) -> ResultTotals:
        return self.sums()

    async def save_progress(self, held: Lease, done: int, total: int) -> None:
        self.progress = done, total

    def done(self) -> frozenset[str]:
        return frozenset(
            result.device_id for result in self.results.values() if result.success or result.final
        )

    def sums(self) -> ResultTotals:
        good = [result for result in self.results.values() if result.success]
        return ResultTotals(
            devices_total=len(self.results),
            succeeded=len(good),
            failed=len(self.results) - len(good),
            changed=sum(result.changed is True for result in good),
            unchanged=sum(result.changed is False for result in good),
        )


def first_execution(
    task_type: str,
    parameters: Mapping[str, Any],
    *,
    task_name: str = "task",
    max_retries: int = 0,
    timeout_seconds: int = 60,
) -> Execution:
    """Build an execution that runs for the first time, started by a person."""
    now = datetime.now(UTC)
    return Execution(
        id=str(uuid4()),
        org_id=OrgId(str(uuid4())),
        task_id=str(uuid4()),
        task_name=task_name,
        task_type=task_type,
        state="running",
        triggered_by="manual",
        scheduled_for=None,
        owner_id=str(uuid4()),
        parameters=parameters,
        max_retries=max_retries,
        retry_delay_seconds=0,
        timeout_seconds=timeout_seconds,
        started_at=now,
        completed_at=None,
        output=None,
        error_message=None,
        retry_count=0,
        attempts=(attempt_record(1),),
        cancelled_by=None,
        approval=None,
        approval_request=None,
        resume=None,
        progress=None,
        created_at=now,
    )


def attempt_record(number: int) -> AttemptRecord:
    return AttemptRecord(
        number=number,
        started_at=datetime.now(UTC),
        completed_at=None,
        outcome=None,
        error_message=None,
        node="test",
    )
