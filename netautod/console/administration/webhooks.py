"""Webhooks: their events, their addresses and their deliveries."""

from collections.abc import Mapping
from typing import Any

from netautod.activity.webhooks.models import TestOutcome, Webhook
from netautod.activity.webhooks.schemas import WebhookRequest
from netautod.activity.webhooks.service import WebhookService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route

PATH, PERMISSION = "/webhooks", "system.manage"


class WebhookPage(PageHandler):
    webhooks: WebhookService

    async def show_form(
        self, title: str, webhook: Webhook | None = None, *, outcome: TestOutcome | None = None
    ) -> None:
        deliveries = None
        if webhook is not None:
            page = Page(**self.query) if hasattr(self, "query") else Page()
            deliveries = await self.webhooks.deliveries(self.caller.org_id, webhook.id, page)
        selected = () if webhook is None else webhook.events
        self.show(
            "administration/webhook.html",
            title=title,
            record=webhook,
            tag="" if webhook is None else to_text(webhook.updated_at),
            events=self.webhooks.event_names,
            selected=self.form.all("events") if "events" in self.form.given else selected,
            deliveries=deliveries,
            outcome=outcome,
        )

    async def found(self, webhook_id: str) -> Webhook:
        return await self.webhooks.get(self.caller.org_id, self.path_id(webhook_id, "Webhook"))

    async def form_of(self, webhook_id: str) -> None:
        webhook = await self.found(webhook_id)
        await self.show_form(webhook.name, webhook)


class WebhooksPage(WebhookPage):
    @requires(PERMISSION, query=PageQuery)
    async def get(self) -> None:
        """Show the webhooks by name."""
        listed = await self.webhooks.page(self.caller.org_id, Page(**self.query))
        self.show("administration/webhooks.html", title="Webhooks", listed=listed)


class NewWebhookPage(WebhookPage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the form of a new webhook."""
        await self.show_form("New webhook")

    @requires(PERMISSION, consumes=FORM)
    async def post(self) -> None:
        """Create a webhook."""
        await self.submit(self._make(), lambda: self.show_form("New webhook"))

    async def _make(self) -> str:
        made = await self.webhooks.create(self.caller, self.form.values(WebhookRequest()))
        self.set_notice(f"The webhook {made.name} was created.")
        return f"{PATH}/{made.id}"


class OneWebhookPage(WebhookPage):
    @requires(PERMISSION, query=PageQuery)
    async def get(self, webhook_id: str) -> None:
        """Show one webhook with its deliveries and the form to change it."""
        await self.form_of(webhook_id)

    @requires(PERMISSION, consumes=FORM)
    async def post(self, webhook_id: str) -> None:
        """Change the webhook; a secret that is left empty stays."""
        await self.submit(self._change(webhook_id), lambda: self.form_of(webhook_id))

    async def _change(self, webhook_id: str) -> str:
        webhook = await self.found(webhook_id)
        self.require_unchanged(to_text(webhook.updated_at))
        values = kept_secret(self.form.values(WebhookRequest(), partial=True), self.form.has("no_secret"))
        await self.webhooks.update(self.caller, webhook.id, values)
        self.set_notice(f"The webhook {values.get('name', webhook.name)} was saved.")
        return f"{PATH}/{webhook.id}"


class DeleteWebhookPage(WebhookPage):
    @requires(PERMISSION, consumes=FORM)
    async def post(self, webhook_id: str) -> None:
        """Delete the webhook with its deliveries."""
        await self.submit(self._delete(webhook_id), lambda: self.form_of(webhook_id))

    async def _delete(self, webhook_id: str) -> str:
        webhook = await self.found(webhook_id)
        await self.webhooks.delete(self.caller, webhook.id)
        self.set_notice(f"The webhook {webhook.name} was deleted.")
        return PATH


class TestWebhookPage(WebhookPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self, webhook_id: str) -> None:
        """Post an event at once and show the receiver's answer."""
        webhook = await self.found(webhook_id)
        outcome = await self.webhooks.test(self.caller, webhook.id)
        await self.show_form(webhook.name, webhook, outcome=outcome)


def kept_secret(values: Mapping[str, Any], cleared: bool) -> dict[str, Any]:
    """Return the values to store: an empty secret is left out and so stays, unless it is to be cleared."""
    others = {name: value for name, value in values.items() if name != "secret"}
    if cleared:
        return {**others, "secret": None}
    return dict(values) if values.get("secret") is not None else others


PAGES = (
    Route(path=PATH, handler=WebhooksPage),
    Route(path=f"{PATH}/new", handler=NewWebhookPage),
    Route(path=f"{PATH}/:id", handler=OneWebhookPage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteWebhookPage),
    Route(path=f"{PATH}/:id/test", handler=TestWebhookPage),
)
