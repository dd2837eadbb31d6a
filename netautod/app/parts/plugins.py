"""The part of the composition root about plugins: their loading, their services and their observers."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from netautod.app.plugins.manager import Lent, PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.plugins.services import running_services
from netautod.app.settings import Settings
from netautod.core.metrics import Metrics
from netautod.outbound.client import GuardedClient


def plugins_of(settings: Settings, http: GuardedClient, *, required: Iterable[str] = ()) -> PluginManager:
    """The installed plugins, lent `http`. Raises PluginError for a required one that cannot be loaded."""
    lent = Lent(
        http=http,
        instance_name=settings.server.instance_name,
        settings=settings.of_plugins,
    )
    return PluginManager.load(required=required, disabled=settings.plugins.disabled, lent=lent)


@asynccontextmanager
async def observers_of(plugins: PluginManager, metrics: Metrics) -> AsyncIterator[Observers]:
    """The services of plugins and all observers; at the end these take what waits before those stop."""
    async with running_services(plugins), Observers(plugins, metrics) as observers:
        yield observers
