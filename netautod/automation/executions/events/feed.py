"""The events that listeners get of an execution: each of its states, and its approvals.

A row keeps when each attempt began and ended, so any node can derive all states from it at any time. It does
not keep the decision on an earlier request once it is parked again.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from netautod.activity.events.models import APPROVAL, EXECUTION, OPERATE, Event, key_of
from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import AttemptRecord, Execution, LogEntry
from netautod.automation.executions.records.documents import to_execution
from netautod.automation.executions.store import COLLECTION, ExecutionStore
from netautod.automation.executions.transitions import State
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text, to_text
from netautod.store.client import Database, Document

PARKED: State = "approval_pending"
RETRIED = ("failed", "lost")
# Steps of a row: each attempt has its beginning, its end, and the decision behind it.
PER_ATTEMPT, LAST = 3, 0xFFFE
UNNEEDED = ("output", "resume", "parameters", "approval_request", "scope")


class ExecutionFeed:
    """The event feed of executions (the protocol stands in activity/events/feed.py)."""

    collection = COLLECTION
    watched = "state"
    unneeded: Sequence[str] = UNNEEDED

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)

    def derive(self, document: Document) -> Iterable[Event]:
        execution = to_execution(document)
        yield from _states(execution)
        yield from _approvals(execution)

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        """Yield the rows that may have an event since that moment.

        A waiting row was created, handed back or decided on at its `not_before`, or is to be retried then.
        Running and parked rows are few, so all of them are read.
        """
        where = {
            "org_id": {"$in": list(orgs)},
            "$or": [
                {"state": "pending", "not_before": {"$gte": moment}},
                {"state": "running"},
                {"state": PARKED},
                # The type, or the server does not use the partial index.
                {"completed_at": {"$type": "date", "$gte": moment}},
            ],
        }
        return self._all.stream(where, fields=dict.fromkeys(UNNEEDED, 0))


class ExecutionLogs:
    """The `Logs` of activity/events/feed.py."""

    def __init__(self, *, executions: ExecutionStore, logs: ExecutionLogStore) -> None:
        self._executions = executions
        self._logs = logs

    async def last_seq(self, org_id: OrgId, execution_id: str) -> int | None:
        if await self._executions.get(org_id, execution_id) is None:
            return None
        return await self._logs.last_seq(org_id, execution_id)

    async def after(
        self, wanted: Mapping[str, tuple[OrgId, int]], limit: int
    ) -> Mapping[str, Sequence[LogEntry]]:
        return await self._logs.after(wanted, limit)


def _states(execution: Execution) -> Iterator[Event]:
    """Yield the state events in the order of their steps and of time.

    The clocks of nodes and server may differ by milliseconds, so no event is earlier than the one before.
    """
    last = execution.created_at
    for step, at, seen in _steps(execution):
        last = max(last, at)
        yield Event(
            at=last,
            key=key_of(COLLECTION, execution.id, step),
            name=EXECUTION,
            org_id=execution.org_id,
            permission=OPERATE,
            data={**seen.to_list_item(), "at": to_text(last)},
        )


def _steps(execution: Execution) -> Iterator[tuple[int, datetime, Execution]]:
    """Yield (step, moment, the execution as it was then)."""
    then = _as_created(execution)
    yield 0, execution.created_at, then
    for number, attempt in enumerate(execution.attempts):
        first = number * PER_ATTEMPT + 1
        then = replace(then, state="running", started_at=then.started_at or attempt.started_at)
        yield first, attempt.started_at, then
        if attempt.completed_at is not None and not _ends(execution, attempt):
            then = _after(then, attempt)
            yield first + 1, attempt.completed_at, then
        if execution.approval is not None and number == _last_parked(execution):
            then = replace(then, state="pending")
            yield first + 2, execution.approval.at, then
    if execution.terminal and execution.completed_at is not None:
        yield LAST, execution.completed_at, execution


def _as_created(execution: Execution) -> Execution:
    """Return the execution as it was when it was created."""
    return replace(
        execution,
        state="pending",
        started_at=None,
        completed_at=None,
        error_message=None,
        retry_count=0,
        cancelled_by=None,
    )


def _after(then: Execution, attempt: AttemptRecord) -> Execution:
    if attempt.outcome == PARKED:
        return replace(then, state=PARKED)
    if attempt.outcome in RETRIED:
        count = then.retry_count + 1
        return replace(then, state="pending", error_message=attempt.error_message, retry_count=count)
    return replace(then, state="pending")


def _ends(execution: Execution, attempt: AttemptRecord) -> bool:
    """Return whether the execution ended with this attempt."""
    return execution.terminal and attempt.completed_at == execution.completed_at


def _last_parked(execution: Execution) -> int | None:
    """Return the number of the last parked attempt: the decision belongs to that one."""
    parked = [number for number, attempt in enumerate(execution.attempts) if attempt.outcome == PARKED]
    return parked[-1] if parked else None


def _approvals(execution: Execution) -> Iterator[Event]:
    last, number = _last_parked(execution), -1
    for number, attempt in enumerate(execution.attempts):
        if attempt.outcome == PARKED and attempt.completed_at is not None:
            expires_at = execution.approval_expires_at if number == last else None
            details = {"decision": None, "expires_at": optional_text(expires_at)}
            yield _approval(execution, number * PER_ATTEMPT, attempt.completed_at, details)
    if last is None:
        return
    step = last * PER_ATTEMPT + 1
    if execution.approval is not None:
        decision = execution.approval
        details = {"decision": decision.decision, "by": decision.by, "comment": decision.comment}
        yield _approval(execution, step, decision.at, details)
    elif last == number and execution.terminal and execution.completed_at is not None:
        over = "cancelled" if execution.state == "cancelled" else "expired"
        yield _approval(execution, step, execution.completed_at, {"decision": over})


def _approval(execution: Execution, step: int, at: datetime, details: Mapping[str, Any]) -> Event:
    data = {
        "execution_id": execution.id,
        "task_id": execution.task_id,
        "task_name": execution.task_name,
        "decision": None,
        "by": None,
        "comment": None,
        "expires_at": None,
        **details,
        "at": to_text(at),
    }
    return Event(
        at=at,
        key=key_of(f"{COLLECTION}.{APPROVAL}", execution.id, step),
        name=APPROVAL,
        org_id=execution.org_id,
        permission=OPERATE,
        data=data,
    )
