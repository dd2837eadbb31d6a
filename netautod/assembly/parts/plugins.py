"""The part of the composition root about plugins: what they are lent, their services and their observers."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.stores import Stores
from netautod.assembly.settings import PluginsSettings
from netautod.automation.system.plugin_storage.models import Quota
from netautod.automation.system.plugin_storage.service import PluginStorages
from netautod.core.clock import Clock
from netautod.core.disk import MIB
from netautod.core.identity.permissions import PermissionKeys
from netautod.core.metrics import Metrics
from netautod.documents.content_types import ContentTypes
from netautod.http.routing.routes import Route
from netautod.plugin_api import EventType, PluginStorage
from netautod.plugin_host.manager import HostValues, PluginManager
from netautod.plugin_host.observers import Observers
from netautod.plugin_host.offers import offers
from netautod.plugin_host.offers.routes import served
from netautod.plugin_host.offers.services import running_services
from netautod.plugin_host.sections.secrets import filled, secrets_of
from netautod.secrets.redaction.known_secrets import KNOWN
from netautod.secrets.vault.named_secrets import NamedSecrets
from netautod.secrets.vault.vault import Vault
from netautod.transport.outbound.client import GuardedClient


def plugins_of(
    configuration: Configuration,
    http: GuardedClient,
    *,
    required: Iterable[str] = (),
    clock: Clock | None = None,
    storage: Callable[[str], PluginStorage] | None = None,
) -> PluginManager:
    """The loaded plugins, lent `http`, and `storage` where there is a database; the log is told of those
    that cannot be loaded.

    Raises PluginError for a required one that cannot be loaded.
    """
    settings = configuration.settings
    configuration.plugins.log_failures()
    values = HostValues(http=http, instance_name=settings.server.instance_name, settings=settings.of_plugins)
    if clock is not None:
        values = replace(values, clock=clock)
    if storage is not None:
        values = replace(values, storage=storage)
    manager = PluginManager(configuration.plugins, required=required, values=values)
    manager.check_required()
    return manager


async def filled_in(configuration: Configuration, secrets: NamedSecrets) -> Configuration:
    """With the secrets of plugins that are in the vault. A plugin whose section cannot be filled is left out;
    log lines show none of the secrets from here on.
    """
    settings = configuration.settings
    made = await filled(settings.of_plugins, configuration.in_vault, secrets)
    for name, failure in made.failures.items():
        configuration.plugins.leave_out(name, failure)
    for name, section in made.sections.items():
        KNOWN.add(secrets_of(name, section))
    return replace(configuration, settings=replace(settings, of_plugins=made.sections))


def storages_of(*, stores: Stores, vault: Vault, clock: Clock, settings: PluginsSettings) -> PluginStorages:
    """What plugins keep in the database."""
    quota = Quota(
        records=settings.storage_records,
        bytes=settings.storage_mb * MIB,
        value_bytes=settings.storage_value_kb * 1024,
    )
    return PluginStorages(
        records=stores.plugin_records,
        usages=stores.plugin_usage,
        vault=vault,
        organizations=stores.organizations,
        clock=clock,
        quota=quota,
    )


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


@asynccontextmanager
async def observers_of(plugins: PluginManager, metrics: Metrics) -> AsyncIterator[Observers]:
    """The services of plugins and all observers; at the end these take what waits before those stop."""
    async with running_services(plugins), Observers(plugins, metrics) as observers:
        yield observers
