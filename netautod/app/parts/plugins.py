"""The part of the composition root about plugins: what they are lent, their services and their observers."""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from netautod.app.configuration import Configuration
from netautod.app.plugins import offers
from netautod.app.plugins.manager import HostValues, PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.plugins.services import running_services
from netautod.app.plugins.serving import served
from netautod.core.metrics import Metrics
from netautod.core.permissions import PermissionKeys
from netautod.docs.content_types import ContentTypes
from netautod.http.routes import Route
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import EventType

logger = logging.getLogger(__name__)


def plugins_of(
    configuration: Configuration, http: GuardedClient, *, required: Iterable[str] = ()
) -> PluginManager:
    """The loaded plugins, lent `http`; the log is told of those that cannot be.

    Raises PluginError for a required one that cannot be loaded.
    """
    settings = configuration.settings
    configuration.plugins.log_failures()
    values = HostValues(http=http, instance_name=settings.server.instance_name, settings=settings.of_plugins)
    manager = PluginManager(configuration.plugins, required=required, values=values)
    manager.check_required()
    return manager


@dataclass(frozen=True, kw_only=True)
class Additions:
    """What plugins add beside what the service asks them for.

    `permissions` are descriptions by key, `events` are by their full names.
    """

    permissions: Mapping[str, str]
    content_types: ContentTypes
    events: Mapping[str, EventType]
    routes: Sequence[Route]


def additions_of(plugins: PluginManager, permissions: PermissionKeys) -> Additions:
    """Their keys are among the `permissions` from here on; `plugins.events.tell` is to say who hears events.

    Raises PluginError for a required plugin that fails.
    """
    described = {key: one.description for key, one in offers.permissions_of(plugins).items()}
    permissions.add(described)
    events = offers.events_of(plugins, permissions)
    plugins.events.types = events
    return Additions(
        permissions=described,
        content_types=ContentTypes(offers.content_types_of(plugins)),
        events=events,
        routes=served(offers.routes_of(plugins, permissions)),
    )


class LoggedEvents:
    """The publisher where nobody keeps events: they stand in the log, without their data."""

    async def publish(
        self, *, org_id: str, name: str, data: Mapping[str, Any], permission: str | None
    ) -> None:
        logger.info("event %s of organization %s", name, org_id)


@asynccontextmanager
async def observers_of(plugins: PluginManager, metrics: Metrics) -> AsyncIterator[Observers]:
    """The services of plugins and all observers; at the end these take what waits before those stop."""
    async with running_services(plugins), Observers(plugins, metrics) as observers:
        yield observers
