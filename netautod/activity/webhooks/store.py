"""Webhooks as documents, with the sealed secret and the state of their deliveries."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from netautod.activity.webhooks.models import Status, Webhook
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.clock.alignment import wait_no_longer
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "webhooks"
SECRET = "sealed_secret"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=SECRET),)
INDEXES = (Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), unique=True),)
_PLAIN = tuple(name for name in Webhook.__dataclass_fields__ if name not in ("id", "events"))


class WebhookStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._webhooks = scoped(database, COLLECTION)

    async def insert(self, webhook: Webhook) -> None:
        """Insert a webhook. Raises Duplicate if the name is taken."""
        plain = {name: getattr(webhook, name) for name in _PLAIN}
        await self._webhooks.insert(
            webhook.org_id, {"_id": webhook.id, **plain, "events": list(webhook.events)}
        )

    async def get(self, org_id: OrgId, webhook_id: str) -> Webhook | None:
        found = await self._webhooks.find_one(org_id, {"_id": webhook_id})
        return None if found is None else _webhook(found)

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Webhook]:
        """Return one page of webhooks by name, which is unique."""
        found = await self._webhooks.find(
            org_id, {}, sort=[("name", 1)], limit=page.limit, offset=page.offset
        )
        total = await self._webhooks.count(org_id, {})
        return PageOf(items=[_webhook(document) for document in found], total=total, page=page)

    async def count(self, org_id: OrgId) -> int:
        return await self._webhooks.count(org_id, {})

    async def change(self, org_id: OrgId, webhook_id: str, values: Mapping[str, Any]) -> Webhook | None:
        """Set these fields in one write; return None without such a webhook. Raises Duplicate if the name is
        taken.
        """
        found = await self._webhooks.find_and_update(org_id, {"_id": webhook_id}, {"$set": dict(values)})
        return None if found is None else _webhook(found)

    async def delete(self, org_id: OrgId, webhook_id: str) -> bool:
        return await self._webhooks.delete(org_id, {"_id": webhook_id})

    async def all(self) -> list[Webhook]:
        """Read the webhooks of all organizations."""
        return [_webhook(document) for document in await self._all.find({})]

    async def enabled_of(self, org_ids: Collection[OrgId]) -> Sequence[Webhook]:
        """Return the enabled webhooks of these organizations."""
        found = await self._all.find({"org_id": {"$in": list(org_ids)}, "enabled": True})
        return [_webhook(document) for document in found]

    async def of_any(self, webhook_id: str) -> Webhook | None:
        """Read a webhook by its id alone, for a node that delivers for all organizations."""
        found = await self._all.find_one({"_id": webhook_id})
        return None if found is None else _webhook(found)

    async def note(
        self, webhook: Webhook, *, at: datetime, status: Status, failures: int, resume_at: datetime | None
    ) -> None:
        """Store the result of a round of deliveries, unless the webhook was changed meanwhile."""
        where = {"_id": webhook.id, "updated_at": webhook.updated_at}
        outcome: Document = {"failures": failures, "resume_at": resume_at}
        outcome_fields: Document = {"last_delivery_at": at, "last_status": status}
        if not await self._webhooks.update(webhook.org_id, where, {"$set": {**outcome, **outcome_fields}}):
            await self._webhooks.update(webhook.org_id, {"_id": webhook.id}, {"$set": outcome_fields})

    async def align(self, longest_seconds: float) -> None:
        """Let no webhook pause for longer than the longest pause: the database's clock was set back."""
        await wait_no_longer(self._all, "resume_at", timedelta(seconds=longest_seconds))

    async def disable(self, webhook: Webhook, reason: str, *, at: datetime) -> bool:
        """Disable a webhook.

        False if it was changed meanwhile: the receiver's answer was to its earlier state.
        """
        where = {"_id": webhook.id, "updated_at": webhook.updated_at, "enabled": True}
        change = {"enabled": False, "disabled_reason": reason, "updated_at": at}
        return await self._webhooks.update(webhook.org_id, where, {"$set": change})


def _webhook(document: Document) -> Webhook:
    return Webhook(
        id=document["_id"],
        events=tuple(document["events"]),
        **{name: document[name] for name in _PLAIN},
    )
