"""The webhook plugin as the service runs it, and a receiver of deliveries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import netautod_webhook
from netautod.core.metrics import Metrics
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import HostValues, PluginManager
from netautod.plugin_host.observers import Observers
from netautod.plugin_host.offers.services import running_services
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_webhook import WebhookSettings
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving

SECRET = "canary-of-the-webhook-secret"
OTHER = "another secret of 26 chars"
QUICK = {"secret": SECRET, "retry_seconds": 0.02, "timeout_seconds": 5.0}


@asynccontextmanager
async def posting(*urls: str, allow: str = "127.0.0.1", **changes: Any) -> AsyncIterator[Observers]:
    """Run the plugin as the service runs it, with these settings of the section."""
    section = WebhookSettings(urls=urls, **{**QUICK, **changes})
    http = GuardedClient(AddressRules.allowing([allow]))
    values = HostValues(http=http, instance_name="lab", settings={"webhook": section})
    loaded = LoadedPlugins.of({"webhook": netautod_webhook})
    manager = PluginManager(loaded, required=["webhook"], values=values)
    async with running_services(manager), Observers(manager, Metrics()) as observers:
        yield observers


def ids(receiver: WebhookReceiver) -> list[str]:
    return [delivery.content["data"]["id"] for delivery in receiver.received]


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as made:
        yield made
