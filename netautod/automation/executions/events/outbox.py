"""The outbox of executions: the event of each that has ended. Their order is kept by task."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from netautod.activity.webhooks.models import Event, derived_event_id
from netautod.activity.webhooks.names import EXECUTION_FINISHED
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.automation.executions.events.notifier import finished
from netautod.automation.executions.logs.attempt_log import BAD
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.documents import UNDELIVERED, to_execution
from netautod.automation.executions.store import ExecutionStore
from netautod.store.client import Document


def execution_outbox(store: ExecutionStore) -> Outbox:
    """Build the outbox; its events have the data that observers get (FinishNotifier)."""
    return Outbox(store.undelivered, partial(_events, store))


async def _events(store: ExecutionStore, document: Document) -> Sequence[Event]:
    execution = to_execution(document)
    recovered = execution.state == "completed" and await _failed_before(store, execution)
    data = finished(
        execution, state=execution.state, error_message=execution.error_message, recovered=recovered
    )
    event = Event(
        id=derived_event_id(execution.id, EXECUTION_FINISHED),
        org_id=execution.org_id,
        name=EXECUTION_FINISHED,
        subject=f"task:{execution.task_id or execution.id}",
        at=document[UNDELIVERED],
        data=asdict(data),
        record=execution.id,
    )
    return [event]


async def _failed_before(store: ExecutionStore, execution: Execution) -> bool:
    """Return whether the execution before this one failed.

    Only executions that were created before this one count: later ones may have ended by now.
    """
    last = await store.last_finished(
        execution.org_id, execution.task_id, but=execution.id, before=execution.created_at
    )
    return last in BAD
