"""The plugins as the service loads them: what they are lent, what they add, and their observers."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from netautod.assembly.configuration import Configuration
from netautod.assembly.settings import Settings
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
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient

if TYPE_CHECKING:  # commands that need no database load no stores
    from netautod.assembly.installation import Installation


def build_client(settings: Settings) -> GuardedClient:
    """Return the HTTP client that plugins and services share: it reaches allowed addresses only."""
    return GuardedClient(AddressRules.allowing(settings.outbound.allow))


def load_plugins(
    configuration: Configuration,
    *,
    http: GuardedClient | None = None,
    required: Iterable[str] = (),
    clock: Clock | None = None,
    storage: Callable[[str], PluginStorage] | None = None,
) -> PluginManager:
    """Load the plugins and log those that cannot be loaded.

    They are lent the `http` client (None: one of their own), and `storage` where there is a database.
    Raises PluginError for a required plugin that cannot be loaded.
    """
    settings = configuration.settings
    configuration.plugins.log_failures()
    values = HostValues(
        http=http or build_client(settings),
        instance_name=settings.server.instance_name,
        settings=settings.of_plugins,
    )
    if clock is not None:
        values = replace(values, clock=clock)
    if storage is not None:
        values = replace(values, storage=storage)
    manager = PluginManager(configuration.plugins, required=required, values=values)
    manager.check_required()
    return manager


async def fill_secrets(configuration: Configuration, secrets: NamedSecrets) -> Configuration:
    """Return the configuration with the secrets of plugins that are in the vault.

    A plugin whose section cannot be filled is left out. Log lines show none of the secrets from here on.
    """
    settings = configuration.settings
    sections = await filled(settings.of_plugins, configuration.in_vault, secrets)
    for name, failure in sections.failures.items():
        configuration.plugins.leave_out(name, failure)
    for name, section in sections.sections.items():
        KNOWN.add(secrets_of(name, section))
    return replace(configuration, settings=replace(settings, of_plugins=sections.sections))


def build_storages(installation: "Installation") -> PluginStorages:
    """Build the storages in the database that plugins are lent, each with its quota."""
    settings, stores = installation.settings.plugins, installation.stores
    return PluginStorages(
        records=stores.plugin_records,
        usages=stores.plugin_usage,
        vault=installation.vault,
        organizations=stores.organizations,
        clock=installation.clock,
        quota=Quota(
            records=settings.storage_records,
            bytes=settings.storage_mb * MIB,
            value_bytes=settings.storage_value_kb * 1024,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Additions:
    """The permissions, content types, events and routes that plugins add.

    `permissions` are descriptions by key; `events` are by their full names.
    """

    permissions: Mapping[str, str] = field(default_factory=dict)
    content_types: ContentTypes = field(default_factory=ContentTypes)
    events: Mapping[str, EventType] = field(default_factory=dict)
    routes: Sequence[Route] = ()


def collect_additions(plugins: PluginManager, permissions: PermissionKeys) -> Additions:
    """Collect what plugins add; their permission keys are added to `permissions`.

    `plugins.events.publish_to` then names the publishers of their events. Raises PluginError for a required
    plugin that fails.
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
async def observing(plugins: PluginManager, metrics: Metrics) -> AsyncIterator[Observers]:
    """Run the services of plugins and all observers.

    At the end the observers take what is queued before the services stop.
    """
    async with running_services(plugins), Observers(plugins, metrics) as observers:
        yield observers
