"""The outbox of blocked tasks. Their order is kept by task."""

from collections.abc import Sequence

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.names import TASK_BLOCKED
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.automation.tasks.owners.store import UNDELIVERED, TaskOwnerStore
from netautod.core.identity.caller import OrgId
from netautod.store.client import Document


def blocked_task_outbox(store: TaskOwnerStore) -> Outbox:
    """Build the outbox; its events have the data of TaskBlocked."""
    return Outbox(store.undelivered, _events)


async def _events(document: Document) -> Sequence[Event]:
    stored = document[UNDELIVERED]
    event = Event(
        id=stored["id"],
        org_id=OrgId(document["org_id"]),
        name=TASK_BLOCKED,
        subject=f"task:{document['_id']}",
        at=stored["at"],
        data=stored["data"],
        record=document["_id"],
    )
    return [event]
