"""The rules of webhooks: known events, an address that may be reached, a sealed secret, and the test."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.activity.webhooks.delivery.sender import Sender
from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.models import Delivery, TestOutcome, Webhook
from netautod.activity.webhooks.names import TEST, EventNames
from netautod.activity.webhooks.secrets import WebhookSecrets
from netautod.activity.webhooks.store import SECRET, WebhookStore
from netautod.activity.webhooks.subscriptions import Subscriptions
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.answers import ANSWER_SECONDS
from netautod.core.work.guard import no_guard
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.outbound.signed import SignedMessage

NOT_FOUND = "Webhook not found"
NAME_TAKEN = "Webhook with this name already exists"
MOST = 100  # of an organization: an event costs one delivery for each


class WebhookService:
    """A service for webhooks; `names` are the events that can be chosen."""

    def __init__(
        self,
        *,
        store: WebhookStore,
        deliveries: DeliveryStore,
        subscriptions: Subscriptions,
        names: EventNames,
        secrets: WebhookSecrets,
        sender: Sender,
        http: GuardedClient,
        clock: Clock,
        audit: AuditLog,
    ) -> None:
        self._store = store
        self._deliveries = deliveries
        self._subscriptions = subscriptions
        self._names = names
        self._secrets = secrets
        self._sender = sender
        self._http = http
        self._clock = clock
        self._audit = audit

    @property
    def event_names(self) -> Sequence[str]:
        """Return the events that can be chosen."""
        return self._names.known()

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Webhook]:
        """Return one page of webhooks, by name."""
        return await self._store.page(org_id, page)

    async def get(self, org_id: OrgId, webhook_id: str) -> Webhook:
        """Read a webhook. Raises NotFound."""
        found = await self._store.get(org_id, webhook_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found

    async def create(
        self, caller: Caller, fields: Mapping[str, Any], *, webhook_id: str | None = None
    ) -> Webhook:
        """Create a webhook.

        `fields` are what WebhookRequest loads. `webhook_id`: a webhook with this id was created by this very
        request. Raises InvalidInput, or Conflict for a taken name.
        """
        events = self._checked(fields["events"])
        await self._check_url(fields["url"])
        if await self._store.count(caller.org_id) >= MOST:
            raise Conflict(f"An organization has at most {MOST} webhooks")
        repeated, now = webhook_id, self._clock.now()
        webhook_id = webhook_id or str(uuid4())
        webhook = Webhook(
            id=webhook_id,
            org_id=caller.org_id,
            name=fields["name"],
            url=fields["url"],
            events=events,
            enabled=fields.get("enabled", True),
            disabled_reason=None,
            sealed_secret=await self._secrets.seal(caller.org_id, webhook_id, fields.get("secret")),
            failures=0,
            resume_at=None,
            last_delivery_at=None,
            last_status=None,
            created_at=now,
            updated_at=now,
        )
        try:
            await self._store.insert(webhook)
        except Duplicate as error:
            made = None if repeated is None else await self._store.get(caller.org_id, repeated)
            if made is None:
                raise Conflict(NAME_TAKEN) from error
            webhook = made  # the node of the first request died between this write and the answer
        await self._changed(caller, "create", webhook, {"events": list(events)})
        return webhook

    async def update(self, caller: Caller, webhook_id: str, fields: Mapping[str, Any]) -> Webhook:
        """Change the sent fields. Raises the same as `create`, and NotFound."""
        if not fields:
            return await self.get(caller.org_id, webhook_id)
        values = {name: value for name, value in fields.items() if name != "secret"}
        if "events" in fields:
            values["events"] = list(self._checked(fields["events"]))
        if "url" in fields:
            await self._check_url(fields["url"])
        if "secret" in fields:
            values[SECRET] = await self._secrets.seal(caller.org_id, webhook_id, fields["secret"])
        if fields.get("enabled") is not None:
            values["disabled_reason"] = None
        # The change may have repaired the receiver: what waits is tried at once.
        values |= {"updated_at": self._clock.now(), "failures": 0, "resume_at": None}
        try:
            webhook = await self._store.change(caller.org_id, webhook_id, values)
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        if webhook is None:
            raise NotFound(NOT_FOUND)
        await self._changed(caller, "update", webhook, {"fields": sorted(fields)})
        return webhook

    async def delete(self, caller: Caller, webhook_id: str) -> None:
        """Delete a webhook with its deliveries. Raises NotFound."""
        webhook = await self.get(caller.org_id, webhook_id)
        if not await self._store.delete(caller.org_id, webhook_id):
            raise NotFound(NOT_FOUND)
        # If the node dies here, waiting deliveries are deleted when a node is about to send them, others by
        # their age.
        await self._deliveries.delete_of(caller.org_id, webhook_id)
        await self._changed(caller, "delete", webhook, {})

    async def test(self, caller: Caller, webhook_id: str) -> TestOutcome:
        """Post an event `test` to the receiver, whether the webhook is enabled or not. Raises NotFound."""
        webhook = await self.get(caller.org_id, webhook_id)
        data = {"webhook_id": webhook.id, "webhook_name": webhook.name}
        message = SignedMessage.of(
            TEST, data, id=str(uuid4()), at=self._clock.now(), instance=self._sender.instance_name
        )
        started = self._clock.monotonic()
        tried = await self._sender.send(webhook, message, guard=no_guard, most_seconds=ANSWER_SECONDS)
        duration_ms = int((self._clock.monotonic() - started) * 1000)
        details = {"name": webhook.name, "success": tried.error is None}
        await self._audit.record(caller, "webhook.test", "webhook", webhook.id, details)
        return TestOutcome(tried=tried, duration_ms=duration_ms)

    async def deliveries(self, org_id: OrgId, webhook_id: str, page: Page) -> PageOf[Delivery]:
        """Return one page of deliveries, newest first. Raises NotFound."""
        await self.get(org_id, webhook_id)
        return await self._deliveries.page(org_id, webhook_id, page)

    def _checked(self, events: list[str]) -> tuple[str, ...]:
        """Return the events, each once. Raises InvalidInput for none, or one that does not exist."""
        if not events:
            raise InvalidInput("events: At least one event must be chosen")
        unknown = self._names.unknown(events)
        if unknown:
            known = ", ".join(self._names.known())
            raise InvalidInput(f"events: {unknown[0]!r} is none of {known}")
        return tuple(dict.fromkeys(events))

    async def _check_url(self, url: str) -> None:
        try:
            await self._http.check(url)
        except AddressRefused as error:
            raise AddressRefused(f"url: {error.text}") from error
        except RequestFailed:
            return  # DNS does not answer now: each delivery checks again

    async def _changed(self, caller: Caller, verb: str, webhook: Webhook, details: Mapping[str, Any]) -> None:
        await self._subscriptions.refresh()
        details = {"name": webhook.name, **details}
        await self._audit.record(caller, f"webhook.{verb}", "webhook", webhook.id, details)
