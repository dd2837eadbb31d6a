"""Webhooks on a database of their own, nodes that deliver for them, and a receiver."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from marshmallow import Schema

from netautod.activity.webhooks.delivery.store import COLLECTION
from netautod.activity.webhooks.models import Event, Webhook
from netautod.activity.webhooks.names import OWN
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.assembly.activity import Webhooks, build_webhooks
from netautod.assembly.data.leases import named_leases
from netautod.assembly.plugins import Additions
from netautod.assembly.settings import Settings
from netautod.core.identity.caller import OrgId
from netautod.core.metrics import Metrics
from netautod.http.settings import ServerSettings
from netautod.network.configs.models import FROM_DEVICE, TEXT_FORMAT, Config
from netautod.plugin_api import EventType
from netautod.store.client import Database
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from tests.support.client import Tenant
from tests.support.execution import FAST, eventually
from tests.support.installation import Installation, bare_base, open_installation
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving
from tests.support.serving import Serve

SECRET = "canary-of-a-webhook-secret"
QUICK = WebhooksSettings(retry_seconds=0.02, longest_retry_seconds=0.2, timeout_seconds=5.0)
NAME = "execution_finished"


@dataclass(frozen=True, kw_only=True)
class Hooks(Tenant):
    """An organization, and the webhooks of a node whose background work `running` starts."""

    installation: Installation
    database: Database
    parts: Webhooks
    metrics: Metrics
    stack: AsyncExitStack = field(repr=False)

    async def hook(self, url: str, *, name: str = "", **fields: Any) -> Any:
        body = {"name": name or f"hook {uuid4().hex[:8]}", "url": url, "events": list(OWN), **fields}
        return (await self.api.post("/api/webhooks", {"secret": SECRET, **body})).expect(201)

    async def running(self) -> None:
        """Deliver from now on, until the end of the test."""
        await self.stack.enter_async_context(self.installation.stores.subscriptions)
        for part in (self.parts.dispatcher, self.parts.relay):
            await self.stack.enter_async_context(part)

    async def another_node(self, settings: WebhooksSettings = QUICK) -> Webhooks:
        return await node_of(self.installation.on_another_node(), self.stack, Metrics(), settings)

    def event(self, subject: str = "device:1", *, name: str = NAME, **fields: Any) -> Event:
        values = {
            "id": str(uuid4()),
            "org_id": self.org_id,
            "name": name,
            "subject": subject,
            "at": self.installation.clock.now(),
            "data": {"subject": subject},
        }
        return Event(**{**values, **fields})

    async def publish(self, *subjects: str, **fields: Any) -> list[Event]:
        """Publish one event after the other, each with a moment of its own."""
        at = self.installation.clock.now()
        events = [
            self.event(subject, at=at + timedelta(milliseconds=number), **fields)
            for number, subject in enumerate(subjects)
        ]
        for event in events:
            await self.parts.relay.publish(event)
        return events

    async def rows(self, **where: Any) -> list[dict[str, Any]]:
        return await self.database.collection(COLLECTION).find(where, sort=[("at", 1), ("place", 1)])

    async def until_all(self, status: str, *, seconds: float = 30) -> list[dict[str, Any]]:
        """Return the deliveries, once there are some and each has that status."""

        async def there() -> list[dict[str, Any]]:
            rows = await self.rows()
            return rows if rows and all(row["status"] == status for row in rows) else []

        found: list[dict[str, Any]] = await eventually(there, seconds=seconds)
        return found


async def node_of(
    installation: Installation, stack: AsyncExitStack, metrics: Metrics, settings: WebhooksSettings
) -> Webhooks:
    opening = named_leases(
        database=installation.database, node_id=str(uuid4()), clock=installation.clock, settings=FAST
    )
    storm = EventType(name="storm", permission="weather.read", description="A storm begins.", schema=Schema)
    return build_webhooks(
        bare_base(
            installation.database,
            stores=installation.stores,
            vault=installation.vault,
            clock=installation.clock,
            audit=installation.audit,
            metrics=metrics,
            http=GuardedClient(AddressRules.allowing(["127.0.0.1"])),
            leases=await stack.enter_async_context(opening),
            settings=Settings(webhooks=settings, server=ServerSettings(instance_name="lab")),
            additions=Additions(events={"weather.storm": storm}),
        )
    )


async def open_hooks(
    database: Database,
    serve: Serve,
    data_dir: Path,
    stack: AsyncExitStack,
    settings: WebhooksSettings = QUICK,
) -> Hooks:
    installation, metrics = await open_installation(database, data_dir), Metrics()
    parts = await node_of(installation, stack, metrics, settings)
    served = await serve(parts.service)
    return Hooks(
        **served.administrator(),
        installation=installation,
        database=database,
        parts=parts,
        metrics=metrics,
        stack=stack,
    )


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


@pytest.fixture
async def hooks(indexed: Database, serve: Serve, tmp_path: Path, stack: AsyncExitStack) -> Hooks:
    return await open_hooks(indexed, serve, tmp_path, stack)


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as made:
        yield made


def config_of(hooks: Hooks, device_id: str, version: int) -> Config:
    """Return a version of a device, as a capture makes it."""
    now = hooks.installation.clock.now()
    return Config(
        id=str(uuid4()),
        org_id=hooks.org_id,
        device_id=device_id,
        version=version,
        config_hash="of the text with its secrets",
        config_format=TEXT_FORMAT,
        source=FROM_DEVICE,
        pulled_via="task",
        created_by=hooks.caller.user_id,
        created_at=now,
        last_seen_at=now,
        size=1,
        notes=None,
        text_id="t",
        platform="cisco_ios",
    )


def webhook_of(org_id: OrgId, url: str, now: datetime) -> Webhook:
    """Return a webhook for all events, without a secret."""
    return Webhook(
        id=str(uuid4()),
        org_id=org_id,
        name="hook",
        url=url,
        events=OWN,
        enabled=True,
        disabled_reason=None,
        sealed_secret=None,
        failures=0,
        resume_at=None,
        last_delivery_at=None,
        last_status=None,
        created_at=now,
        updated_at=now,
    )
