"""Deliveries: what is sent, in which order, after which answers, and what is given up."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.webhooks.delivery.store import COLLECTION
from netautod.activity.webhooks.delivery.upkeep import DeliveryUpkeep
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.core.metrics import Metrics
from tests.activity.webhooks.conftest import QUICK, SECRET, Hooks
from tests.support.execution import eventually
from tests.support.programs.started import free_port
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving


def subjects(receiver: WebhookReceiver) -> list[str]:
    return [delivery.content["data"]["subject"] for delivery in receiver.received]


async def history(hooks: Hooks, hook: Any) -> Any:
    return (await hooks.api.get(f"/api/webhooks/{hook['id']}/deliveries")).expect()


async def test_an_event_is_posted_signed_and_listed_in_the_history(
    hooks: Hooks, receiver: WebhookReceiver
) -> None:
    hook = await hooks.hook(receiver.url)
    other = await hooks.hook(receiver.url, events=["backup_stale"])
    await hooks.running()
    events = await hooks.publish("device:1", "device:2")
    await hooks.parts.relay.publish(events[0])  # told again, after a crash
    await receiver.until(2)
    rows = await hooks.until_all("delivered")
    found = await history(hooks, hook)
    assert found == {
        "deliveries": [
            {
                "id": row["_id"],
                "event": "execution_finished",
                "at": to_text(event.at),
                "attempts": 1,
                "status": "delivered",
                "response_status": 204,
                "error": None,
            }
            for row, event in zip(reversed(rows), reversed(events), strict=True)
        ],
        "total": 2,
        "limit": 50,
        "offset": 0,
    }
    assert (await history(hooks, other))["total"] == 0
    by_id = {delivery.headers["X-Netautod-Delivery"]: delivery for delivery in receiver.received}
    for row, event in zip(rows, events, strict=True):
        delivery = by_id[row["_id"]]
        assert delivery.is_signed_with(SECRET)
        assert delivery.headers["X-Netautod-Event"] == "execution_finished"
        assert delivery.content == {
            "id": row["_id"],
            "event": "execution_finished",
            "at": to_text(event.at),
            "instance": "lab",
            "data": event.data,
        }
        assert "body" not in row
    shown = (await hooks.api.get(f"/api/webhooks/{hook['id']}")).json
    assert shown["last_status"] == "delivered"
    assert shown["last_delivery_at"] >= to_text(events[0].at)
    assert hooks.metrics.value("webhook_deliveries", "delivered") == 2


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Content-Encoding": "gzip"}, id="called gzip, but it is none"),
        pytest.param({"Content-Encoding": "zstd"}, id="an unknown encoding"),
        pytest.param({"Content-Type": "text/html; charset=utf-99"}, id="an unknown charset"),
    ],
)
async def test_an_accepted_event_is_delivered_whatever_the_answer_holds(
    hooks: Hooks, receiver: WebhookReceiver, headers: dict[str, str]
) -> None:
    receiver.answer = lambda _: (200, headers)
    hook = await hooks.hook(receiver.url)
    assert (await hooks.api.post(f"/api/webhooks/{hook['id']}/test")).json["success"] is True
    await hooks.running()
    await hooks.publish("device:1")
    [row] = await hooks.until_all("delivered")
    assert (row["attempts"], row["response_status"], row["error"]) == (1, 200, None)


async def test_a_failed_delivery_keeps_back_its_subject_and_no_other(
    hooks: Hooks, receiver: WebhookReceiver
) -> None:
    """Fail each try of the first event of device 1 until all others have arrived."""
    await hooks.hook(receiver.url)
    failing = {"device:1"}

    def answer(delivery: Any) -> tuple[int, dict[str, str]]:
        return (500 if delivery.content["data"]["subject"] in failing else 204), {}

    receiver.answer = answer
    await hooks.running()
    await hooks.publish("device:1", "device:1", "device:2", "device:3", "device:2")
    await receiver.until_that(lambda: {"device:2", "device:3"} <= set(subjects(receiver)))
    await receiver.until_that(lambda: subjects(receiver).count("device:1") >= 3)
    waiting = await hooks.rows(status="waiting")
    assert [(row["subject"], row["attempts"] > 0) for row in waiting] == [
        ("device:1", True),
        ("device:1", False),
    ]
    assert waiting[0]["error"] == "the receiver answered 500"
    failing.clear()
    rows = await hooks.until_all("delivered")
    firsts: dict[str, int] = {}
    for number, delivery in enumerate(receiver.received):
        firsts.setdefault(delivery.headers["X-Netautod-Delivery"], number)
    of_one = [row["_id"] for row in rows if row["subject"] == "device:1"]
    assert firsts[of_one[0]] < firsts[of_one[1]]
    # Every try had the same body, so that a receiver can tell a repeated one.
    bodies = {delivery.body for delivery in receiver.received}
    assert len(bodies) == 5
    assert hooks.metrics.value("webhook_deliveries", "retried") >= 3


async def test_a_receiver_that_is_down_holds_up_no_other(hooks: Hooks, receiver: WebhookReceiver) -> None:
    async with receiving() as silent:
        silent.free.clear()
        await hooks.hook(silent.url)
        down = await hooks.hook(f"http://127.0.0.1:{free_port()}/")
        await hooks.hook(receiver.url)
        await hooks.running()
        await hooks.publish(*(f"device:{number}" for number in range(20)))
        await receiver.until(20)
        silent.free.set()
        await silent.until(20)

    async def in_trouble() -> Any:
        found = await hooks.installation.stores.webhooks.of_any(down["id"])
        return found is not None and found.failures >= 6 and found

    # One at a time finds out whether it is back; the others of the twenty have never been tried.
    found = await eventually(in_trouble, seconds=30)
    assert found.resume_at is not None
    assert found.last_status == "waiting"
    waiting = await hooks.rows(webhook_id=down["id"])
    assert {row["status"] for row in waiting} == {"waiting"}
    tried = [row["error"] for row in waiting if row["attempts"]]
    assert all("cannot be reached" in error for error in tried)


async def test_retry_after_is_obeyed_within_bounds(hooks: Hooks, receiver: WebhookReceiver) -> None:
    """Request a day of silence: the receiver is left alone as long as the settings allow, then gets all in
    order.
    """
    receiver.answers = [(429, {"Retry-After": "86400"})]
    hook = await hooks.hook(receiver.url)
    await hooks.running()
    await hooks.publish("device:1")

    async def resume_time() -> Any:
        found = await hooks.installation.stores.webhooks.of_any(hook["id"])
        return found is not None and found.resume_at

    began_at = hooks.installation.clock.now()
    until = await eventually(resume_time)
    longest = timedelta(seconds=QUICK.longest_retry_seconds)
    assert until <= hooks.installation.clock.now() + longest
    assert until > began_at
    await receiver.until(2)
    await hooks.until_all("delivered")


async def test_410_disables_the_webhook_with_a_reason(hooks: Hooks, receiver: WebhookReceiver) -> None:
    receiver.answers = [(410, {})]
    hook = await hooks.hook(receiver.url)
    path = f"/api/webhooks/{hook['id']}"
    await hooks.running()
    await hooks.publish("device:1", "device:1")

    async def disabled() -> Any:
        shown = (await hooks.api.get(path)).json
        return not shown["enabled"] and shown["last_status"] and shown

    shown = await eventually(disabled)
    assert "410" in shown["disabled_reason"]
    assert shown["last_status"] == "failed"
    first, second = await hooks.rows()
    assert (first["status"], first["response_status"]) == ("failed", 410)
    assert (second["status"], second["attempts"]) == ("waiting", 0)
    # Nothing new for a disabled one; what waits goes on when it is enabled again.
    await hooks.installation.stores.subscriptions.refresh()
    await hooks.publish("device:2")
    assert len(await hooks.rows()) == 2
    again = (await hooks.api.put(path, {"enabled": True})).expect()
    assert again["disabled_reason"] is None
    await receiver.until(2)


async def test_a_deleted_webhook_takes_its_deliveries_with_it(
    hooks: Hooks, receiver: WebhookReceiver
) -> None:
    hook = await hooks.hook(receiver.url)
    await hooks.installation.stores.subscriptions.refresh()
    await hooks.publish("device:1")
    await hooks.api.delete(f"/api/webhooks/{hook['id']}")
    assert await hooks.rows() == []
    # A node that has read the webhook before made another one: it goes when a node is about to send it.
    other = await hooks.hook(receiver.url)
    await hooks.publish("device:1")
    await hooks.installation.stores.webhooks.delete(hooks.org_id, other["id"])
    await hooks.hook(receiver.url, events=["backup_stale"])
    await hooks.running()

    async def nothing_left() -> bool:
        return await hooks.rows() == []

    await eventually(nothing_left)
    assert receiver.received == []


async def test_events_before_the_webhook_and_of_other_organizations_are_not_its_business(
    hooks: Hooks, receiver: WebhookReceiver
) -> None:
    await hooks.hook(receiver.url)
    now = hooks.installation.clock.now()
    await hooks.parts.relay.publish(hooks.event(at=now - timedelta(minutes=1)))
    await hooks.parts.relay.publish(hooks.event(org_id=OrgId(str(uuid4()))))
    await hooks.parts.relay.publish(hooks.event(name="weather.storm"))
    assert await hooks.rows() == []


async def test_what_waits_for_too_long_or_is_too_much_expires(hooks: Hooks) -> None:
    hook = await hooks.hook(f"http://127.0.0.1:{free_port()}/")
    events = await hooks.publish(*(f"device:{number}" for number in range(5)))
    clock, metrics = hooks.installation.clock, Metrics()
    rows = hooks.database.collection("webhook_deliveries")
    long_ago = clock.now() - timedelta(hours=24, seconds=1)
    first = (await hooks.rows())[0]["_id"]
    await rows.update({"_id": first}, {"$set": {"at": long_ago, "error": "the receiver answered 500"}})
    upkeep = DeliveryUpkeep(
        deliveries=hooks.installation.stores.webhook_deliveries,
        clock=clock,
        metrics=metrics,
        settings=WebhooksSettings(queue=3),
    )
    assert await upkeep.expire() == 2
    found = {row["_id"]: row for row in await hooks.rows()}
    assert found[first]["error"] == "it was not accepted for 24 hours"
    [dropped] = [row for row in found.values() if "more than 3" in (row["error"] or "")]
    assert dropped["subject"] == events[1].subject
    assert {dropped["status"], found[first]["status"]} == {"expired"}
    assert metrics.value("webhook_deliveries", "expired") == 2
    assert await upkeep.expire() == 0
    shown = (await history(hooks, hook))["deliveries"]
    assert [one["status"] for one in shown] == ["waiting"] * 3 + ["expired"] * 2
    deliveries = hooks.installation.stores.webhook_deliveries
    assert await deliveries.delete_ended(before=clock.now() + timedelta(seconds=1)) == 2
    assert await deliveries.waiting() == 3
    assert await deliveries.oldest_waiting() == events[2].at


async def test_two_nodes_deliver_each_event_once(
    hooks: Hooks, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    await hooks.hook(receiver.url)
    await hooks.running()
    other = await hooks.another_node()
    for part in (other.dispatcher, other.relay):
        await hooks.stack.enter_async_context(part)
    await hooks.publish(*(f"device:{number % 7}" for number in range(60)))
    await hooks.until_all("delivered")
    delivered = [delivery.headers["X-Netautod-Delivery"] for delivery in receiver.received]
    assert len(delivered) == len(set(delivered)) == 60


async def test_a_node_that_was_stopped_in_the_middle_changes_nothing(
    hooks: Hooks, receiver: WebhookReceiver
) -> None:
    """Check that its result is dropped: another node has tried that delivery since."""
    await hooks.hook(receiver.url)
    await hooks.installation.stores.subscriptions.refresh()
    await hooks.publish("device:1")
    receiver.free.clear()
    [hook] = await hooks.installation.stores.webhooks.all()
    lanes = hooks.parts.dispatcher._lanes
    stale = asyncio.create_task(lanes.run(hook.id, guard=lambda: None, stopping=lambda: False))
    await receiver.until(1)
    await hooks.database.collection("webhook_deliveries").update(
        {}, {"$set": {"attempts": 3, "error": "noted by another node"}}
    )
    receiver.free.set()
    await stale
    [row] = await hooks.rows()
    assert (row["status"], row["attempts"], row["error"]) == ("waiting", 3, "noted by another node")


@pytest.mark.parametrize(
    ("seconds", "kept"),
    [
        pytest.param(50, True, id="within the longest pause"),
        pytest.param(600, False, id="the database's clock was set back"),
    ],
)
async def test_a_retry_waits_no_longer_than_the_longest_pause(
    hooks: Hooks, receiver: WebhookReceiver, seconds: int, kept: bool
) -> None:
    hook = await hooks.hook(receiver.url)
    now = await hooks.database.now()
    at = now + timedelta(seconds=seconds)
    rows, webhooks = hooks.database.collection(COLLECTION), hooks.database.collection("webhooks")
    await rows.insert({"_id": "d", "webhook_id": hook["id"], "waiting": True, "next_at": at})
    await webhooks.update({"_id": hook["id"]}, {"$set": {"resume_at": at}})
    stores = hooks.installation.stores
    await stores.webhook_deliveries.align(60.0)
    await stores.webhooks.align(60.0)
    delivery, webhook = await rows.find_one({"_id": "d"}), await webhooks.find_one({"_id": hook["id"]})
    assert delivery is not None
    assert webhook is not None
    for moment in (delivery["next_at"], webhook["resume_at"]):
        assert (moment == at) == kept
        assert moment - now < timedelta(seconds=120)
