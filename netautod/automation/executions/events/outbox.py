"""Ends of executions that webhooks are owed, as their events."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from netautod.activity.webhooks.models import Event, derived_event_id
from netautod.activity.webhooks.names import EXECUTION_FINISHED
from netautod.automation.executions.events.notifier import finished
from netautod.automation.executions.logs.attempt_log import BAD
from netautod.automation.executions.models import Execution
from netautod.automation.executions.store import ExecutionStore


class OwedExecutions:
    """What they say is what observers are told (FinishNotifier). Their order is kept by task."""

    def __init__(self, store: ExecutionStore) -> None:
        self._store = store

    async def owed(self, *, before: datetime, limit: int) -> list[Event]:
        found = await self._store.owed(before=before, limit=limit)
        return [await self._event(at, execution) for at, execution in found]

    async def paid(self, events: Sequence[Event]) -> None:
        await self._store.paid([event.record for event in events])

    async def _event(self, at: datetime, execution: Execution) -> Event:
        recovered = execution.state == "completed" and await self._failed_before(execution)
        told = finished(
            execution, state=execution.state, error_message=execution.error_message, recovered=recovered
        )
        return Event(
            id=derived_event_id(execution.id, EXECUTION_FINISHED),
            org_id=execution.org_id,
            name=EXECUTION_FINISHED,
            subject=f"task:{execution.task_id or execution.id}",
            at=at,
            data=asdict(told),
            record=execution.id,
        )

    async def _failed_before(self, execution: Execution) -> bool:
        """Return whether the execution before this one failed.

        Only executions that were created before this one count: later ones may have ended by now.
        """
        last = await self._store.last_finished(
            execution.org_id, execution.task_id, but=execution.id, before=execution.created_at
        )
        return last in BAD
