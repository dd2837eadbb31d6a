"""Deliveries as documents: those that wait, and the history of the others.

A waiting delivery has `waiting: true` and a body; when it ends it loses both, and stays as history. Its id is
made of those of its webhook and its event, so that an event that is collected again makes no second one.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from netautod.activity.webhooks.delivery.decision import DeliveryUpdate
from netautod.activity.webhooks.models import Delivery, Webhook
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.store.client import Database, Document, Filter
from netautod.store.clock.alignment import wait_no_longer
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "webhook_deliveries"
WAITING = {"waiting": True}
# The first waiting deliveries, webhook by webhook. Without a condition on its first field the server would
# not use the index, partial or not: so its first field is one that all of them have.
FRONT = Index(
    collection=COLLECTION,
    keys=(("waiting", 1), ("webhook_id", 1), ("at", 1), ("place", 1)),
    partial=WAITING,
)
INDEXES = (
    Index(
        collection=COLLECTION, keys=(("org_id", 1), ("webhook_id", 1), ("at", -1), ("place", -1), ("_id", 1))
    ),
    FRONT,
    Index(collection=COLLECTION, keys=(("at", 1),), partial=WAITING),
    Index(collection=COLLECTION, keys=(("ended_at", 1),), partial={"ended_at": {"$type": "date"}}),
)
NEWEST_FIRST = [("at", -1), ("place", -1), ("_id", 1)]
IN_ORDER = [("at", 1), ("place", 1)]
_PLAIN = tuple(name for name in Delivery.__dataclass_fields__ if name not in ("id", "body"))


class DeliveryStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._deliveries = scoped(database, COLLECTION)

    async def insert(self, deliveries: Sequence[Delivery]) -> int:
        """Insert deliveries in their order, except those that exist already. Returns how many are new."""
        rows = [
            {
                "_id": one.id,
                **{name: getattr(one, name) for name in _PLAIN},
                "body": one.body,
                # Orders events of the same millisecond: the later one of a poll has the greater place.
                "place": place,
                **WAITING,
            }
            for place, one in enumerate(deliveries)
        ]
        return (await self._all.insert_many(rows)).inserted

    async def page(self, org_id: OrgId, webhook_id: str, page: Page) -> PageOf[Delivery]:
        """Return one page of deliveries, newest first, without the bodies."""
        where = {"webhook_id": webhook_id}
        found = await self._deliveries.find(
            org_id, where, fields={"body": 0}, sort=NEWEST_FIRST, limit=page.limit, offset=page.offset
        )
        total = await self._deliveries.count(org_id, where)
        return PageOf(items=[_delivery(document) for document in found], total=total, page=page)

    async def webhooks_waited_for(self) -> list[str]:
        """Return the ids of webhooks, of all organizations, that have waiting deliveries."""
        return [str(found) for found in await self._all.distinct("webhook_id", WAITING)]

    async def front(self, webhook: Webhook, *, but: Collection[str], limit: int) -> list[Delivery]:
        """Return the first waiting deliveries, in their order, except those of some subjects."""
        where: Document = {**WAITING, "webhook_id": webhook.id}
        if but:
            where["subject"] = {"$nin": list(but)}
        # The index of the history has this order as well, but in it waiting deliveries come last.
        found = await self._deliveries.find(
            webhook.org_id, where, sort=IN_ORDER, limit=limit, index=FRONT.name
        )
        return [_delivery(row) for row in found]

    async def settle(self, delivery: Delivery, settled: DeliveryUpdate, *, at: datetime) -> bool:
        """Store the result of a try; return False if another node has tried meanwhile, or it has ended."""
        where = {
            "_id": delivery.id,
            "webhook_id": delivery.webhook_id,
            **WAITING,
            "attempts": delivery.attempts,
        }
        change: Document = {
            "attempts": delivery.attempts + 1,
            "status": settled.status,
            "next_at": settled.next_at,
            "response_status": settled.response_status,
            "error": settled.error,
        }
        if settled.status == "waiting":
            return await self._deliveries.update(delivery.org_id, where, {"$set": change})
        return await self._deliveries.update(delivery.org_id, where, _ended({**change, "ended_at": at}))

    async def align(self, longest_seconds: float) -> None:
        """Let no delivery wait for longer than the longest pause: the database's clock was set back."""
        await wait_no_longer(self._all, "next_at", timedelta(seconds=longest_seconds), WAITING)

    async def expire(self, *, before: datetime, reason: str, at: datetime) -> int:
        """Give up what has waited since before then; return how many."""
        return await self._all.update_many({**WAITING, "at": {"$lt": before}}, _expired(reason, at))

    async def waiting_by_webhook(self) -> Mapping[str, int]:
        found = await self._all.aggregate(
            [{"$match": WAITING}, {"$group": {"_id": "$webhook_id", "count": {"$sum": 1}}}]
        )
        return {row["_id"]: row["count"] for row in found}

    async def expire_oldest(self, webhook_id: str, count: int, *, reason: str, at: datetime) -> int:
        """Give up the oldest deliveries of one webhook; return how many."""
        oldest = await self._all.find(
            {"webhook_id": webhook_id, **WAITING}, fields={"org_id": 1}, sort=IN_ORDER, limit=count
        )
        if not oldest:
            return 0
        where = {"_id": {"$in": [row["_id"] for row in oldest]}, "webhook_id": webhook_id, **WAITING}
        return await self._deliveries.update_many(oldest[0]["org_id"], where, _expired(reason, at))

    async def waiting(self) -> int:
        """Count the waiting deliveries of all organizations."""
        return await self._all.count(WAITING)

    async def oldest_waiting(self) -> datetime | None:
        """Return when the event happened that has waited the longest."""
        found = await self._all.find(WAITING, fields={"at": 1}, sort=[("at", 1)], limit=1)
        return found[0]["at"] if found else None

    async def delete_ended(self, *, before: datetime) -> int:
        """Delete deliveries of all organizations that ended before then; return how many."""
        return await self._all.delete_many({"ended_at": {"$type": "date", "$lt": before}})

    async def delete_of(self, org_id: OrgId, webhook_id: str) -> None:
        """Delete all deliveries of a webhook, waiting ones too."""
        await self._deliveries.delete_many(org_id, {"webhook_id": webhook_id})

    async def delete_waiting(self, webhook_id: str) -> None:
        """Delete the waiting deliveries of a deleted webhook; its others go by their age."""
        await self._all.delete_many({**WAITING, "webhook_id": webhook_id})

    async def drop_waiting(self) -> int:
        """Delete the waiting deliveries of all organizations without an attempt; return how many. For a
        restore.
        """
        return await self._all.delete_many(WAITING)


def _ended(values: Document) -> Document:
    return {"$set": values, "$unset": {"waiting": "", "body": ""}}


def _expired(reason: str, at: datetime) -> Document:
    # The answer to the last try stays; only why it was given up is new.
    return _ended({"status": "expired", "next_at": None, "error": reason, "ended_at": at})


def _delivery(document: Filter) -> Delivery:
    return Delivery(
        id=document["_id"], body=document.get("body"), **{name: document[name] for name in _PLAIN}
    )
