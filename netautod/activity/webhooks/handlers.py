"""The routes of webhooks."""

from netautod.activity.webhooks.models import Delivery, Webhook
from netautod.activity.webhooks.schemas import (
    DeliveriesAnswer,
    TestAnswer,
    WebhookAnswer,
    WebhookRequest,
    WebhooksAnswer,
)
from netautod.activity.webhooks.service import WebhookService
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


class WebhooksHandler(JsonHandler):
    webhooks: WebhookService

    @requires("system.manage", query=PageQuery, answer=WebhooksAnswer)
    async def get(self) -> None:
        """List the webhooks by name, without any secret."""
        found = await self.webhooks.page(self.caller.org_id, Page(**self.query))
        self.answer(found.to_json("webhooks", Webhook.to_json))

    @requires("system.manage", body=WebhookRequest, answer=WebhookAnswer, status=201, repeat=Repeat.FINDS)
    async def post(self) -> None:
        """Create a webhook, which gets events from now on."""
        made = await self.webhooks.create(self.caller, self.body, webhook_id=self.record_id)
        self.answer(made.to_json())


class OneWebhookHandler(JsonHandler):
    webhooks: WebhookService

    @requires("system.manage", answer=WebhookAnswer)
    async def get(self, webhook_id: str) -> None:
        """Read a webhook, without its secret."""
        found = await self.webhooks.get(self.caller.org_id, self.path_id(webhook_id, "Webhook"))
        self.answer(found.to_json())

    @requires("system.manage", body=WebhookRequest, partial=True, answer=WebhookAnswer)
    async def put(self, webhook_id: str) -> None:
        """Change a webhook; a secret that is not sent stays, null clears it."""
        wanted = self.path_id(webhook_id, "Webhook")
        self.answer((await self.webhooks.update(self.caller, wanted, self.body)).to_json())

    @requires("system.manage", status=204)
    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries, those that wait included."""
        await self.webhooks.delete(self.caller, self.path_id(webhook_id, "Webhook"))
        self.answer_nothing()


class WebhookTestHandler(JsonHandler):
    webhooks: WebhookService

    @requires("system.manage", answer=TestAnswer, grows=False)
    async def post(self, webhook_id: str) -> None:
        """Post an event `test` at once and return what the receiver has answered."""
        outcome = await self.webhooks.test(self.caller, self.path_id(webhook_id, "Webhook"))
        self.answer(outcome.to_json())


class WebhookDeliveriesHandler(JsonHandler):
    webhooks: WebhookService

    @requires("system.manage", query=PageQuery, answer=DeliveriesAnswer)
    async def get(self, webhook_id: str) -> None:
        """List the deliveries of a webhook, the newest first."""
        wanted = self.path_id(webhook_id, "Webhook")
        found = await self.webhooks.deliveries(self.caller.org_id, wanted, Page(**self.query))
        self.answer(found.to_json("deliveries", Delivery.to_json))


ROUTES = (
    Route(path="/api/webhooks", handler=WebhooksHandler),
    Route(path="/api/webhooks/:id", handler=OneWebhookHandler),
    Route(path="/api/webhooks/:id/test", handler=WebhookTestHandler),
    Route(path="/api/webhooks/:id/deliveries", handler=WebhookDeliveriesHandler),
)
