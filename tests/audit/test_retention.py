"""Audit events are forgotten by age, of every organization, however many there are."""

from datetime import timedelta
from uuid import uuid4

from netautod.audit import store
from netautod.audit.service import AuditLog
from netautod.audit.store import AuditStore
from netautod.core.clock import SystemClock
from netautod.store.client import Database


async def test_old_events_go_and_the_others_stay(indexed: Database) -> None:
    events, now = indexed.collection(store.COLLECTION), SystemClock().now()
    count = store.DELETE_BATCH + 2
    await events.insert_many(
        [
            {"_id": str(uuid4()), "org_id": f"o{number % 2}", "at": now - timedelta(days=500 - number % 2)}
            for number in range(count)
        ]
    )
    await events.insert_many([{"_id": f"young {n}", "org_id": f"o{n}", "at": now} for n in range(2)])
    log = AuditLog(store=AuditStore(indexed), clock=SystemClock())
    await log.sweep(keep_days=0)
    assert len(await events.find({})) == count + 2
    await log.sweep(keep_days=400)
    assert {event["_id"] for event in await events.find({})} == {"young 0", "young 1"}
