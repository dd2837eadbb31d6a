"""The part of the composition root about plugins: what they are lent, their services and their observers."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from netautod.app.configuration import Configuration
from netautod.app.plugins.manager import HostValues, PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.plugins.services import running_services
from netautod.core.metrics import Metrics
from netautod.outbound.client import GuardedClient


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


@asynccontextmanager
async def observers_of(plugins: PluginManager, metrics: Metrics) -> AsyncIterator[Observers]:
    """The services of plugins and all observers; at the end these take what waits before those stop."""
    async with running_services(plugins), Observers(plugins, metrics) as observers:
        yield observers
