"""The queries that nodes make every second use an index, however long the history is."""

from datetime import timedelta

from netautod.assembly.activity import build_outboxes
from tests.activity.webhooks.conftest import Hooks
from tests.support.profiler import profiled

URL = "http://198.51.100.7/hook"


async def test_no_look_reads_a_whole_collection(hooks: Hooks, mongo_uri: str) -> None:
    hook, stores = await hooks.hook(URL), hooks.installation.stores
    await hooks.publish(*(f"device:{number}" for number in range(30)))
    rows = hooks.database.collection("webhook_deliveries")
    now = hooks.installation.clock.now()
    ended = {"$set": {"status": "delivered", "ended_at": now}, "$unset": {"waiting": ""}}
    await rows.update_many({"subject": {"$ne": "device:1"}}, ended)
    for collection in ("executions", "configs", "backup_facts", "suspended_logins", "discovered"):
        await hooks.database.collection(collection).insert({"_id": "x", "org_id": "o", "version": 1})
    deliveries, webhook = stores.webhook_deliveries, await stores.webhooks.of_any(hook["id"])
    assert webhook is not None
    with profiled(hooks.database, mongo_uri) as profile:
        assert await deliveries.webhooks_waited_for() == [hook["id"]]
        assert len(await deliveries.front(webhook, but=["device:7"], limit=10)) == 1
        assert await deliveries.waiting() == 1
        assert await deliveries.waiting_by_webhook() == {hook["id"]: 1}
        assert await deliveries.oldest_waiting() is not None
        assert await deliveries.expire(before=now - timedelta(days=1), reason="x", at=now) == 0
        for outbox in build_outboxes(stores):
            assert await outbox.undelivered(before=now, limit=1) == []
        read = profile.take()
        assert await deliveries.delete_ended(before=now - timedelta(days=1)) == 0
        await deliveries.delete_waiting(hook["id"])
        await deliveries.delete_of(hooks.org_id, hook["id"])
        deleted = profile.take()
    plans = [entry["planSummary"] for entry in (*read, *deleted) if "planSummary" in entry]
    assert len(plans) >= 14
    assert [plan for plan in plans if "COLLSCAN" in plan] == []
    # The history is not looked at: one waits, and so one entry of an index is read, or two at its end.
    assert max(entry["keysExamined"] for entry in read if "webhook_deliveries" in entry["ns"]) <= 2
