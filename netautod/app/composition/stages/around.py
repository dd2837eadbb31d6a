"""What the others lean on or leave behind: leases, what plugins keep, webhooks, documents, upkeep."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from netautod.app.composition.stages.devices import DeviceWork
from netautod.app.composition.upkeep import (
    going_on,
    noting,
    retention_of,
    stale_backups_of,
    sweeping,
    unnoted_captures_of,
    watching,
)
from netautod.app.data.migrations import migrations_of
from netautod.app.installation import Installation
from netautod.app.parts.docs import documents_of, notes_of
from netautod.app.parts.inventory import InventoryParts
from netautod.app.parts.leases import named_leases
from netautod.app.parts.plugins import storages_of
from netautod.app.parts.users import initial_password_watch_of
from netautod.app.parts.webhooks import WebhookParts, webhooks_of
from netautod.app.plugins.observers import Observers
from netautod.app.settings import Settings
from netautod.core.pauses import Pauses
from netautod.docs.content_types import ContentTypes
from netautod.docs.notes.service import NotesVault
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.service import DocumentService
from netautod.outbound.client import GuardedClient
from netautod.store.leases.named import NamedLeases
from netautod.store.migrations.runner import MigrationRunner
from netautod.system.plugin_storage.service import PluginStorages


def leases(
    settings: Settings, installation: Installation, node_id: str
) -> AbstractAsyncContextManager[NamedLeases]:
    return named_leases(
        database=installation.database,
        node_id=node_id,
        clock=installation.clock,
        settings=settings.executions,
    )


def storages(settings: Settings, installation: Installation) -> PluginStorages:
    """What plugins keep in the database."""
    return storages_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        settings=settings.plugins,
    )


def webhooks(
    settings: Settings,
    installation: Installation,
    http: GuardedClient,
    leases: NamedLeases,
    plugin_events: Iterable[str],
) -> WebhookParts:
    return webhooks_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        metrics=installation.metrics,
        http=http,
        leases=leases,
        settings=settings.webhooks,
        instance_name=settings.server.instance_name,
        plugin_events=plugin_events,
    )


@asynccontextmanager
async def documents(
    settings: Settings, installation: Installation, types: ContentTypes
) -> AsyncIterator[tuple[NotesVault, DocumentService]]:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    notes = notes_of(
        stores=stores, vault=installation.vault, clock=clock, audit=audit, settings=settings.vault
    )
    async with RenderPool(processes=settings.docs.render_processes) as renderer:
        made = documents_of(
            stores=stores, notes=notes, renderer=renderer, types=types, clock=clock, audit=audit
        )
        async with made.upkeep:
            yield notes, made.documents


@asynccontextmanager
async def upkeep(
    settings: Settings,
    installation: Installation,
    work: DeviceWork,
    inventory: InventoryParts,
    leases: NamedLeases,
    observers: Observers,
    pauses: Pauses,
) -> AsyncIterator[None]:
    stores, clock, devices = installation.stores, installation.clock, work.devices.devices
    sweeps = retention_of(
        stores=stores,
        clock=clock,
        audit=installation.audit,
        devices=devices,
        configs=work.configs,
        settings=settings.retention,
    )
    unnoted = unnoted_captures_of(stores, clock)
    stale = stale_backups_of(
        stores=stores,
        clock=clock,
        unnoted=unnoted,
        leases=leases,
        observers=observers,
        pauses=pauses,
        settings=settings.backups,
    )
    initial_password = initial_password_watch_of(installation.people, settings.data_dir)
    known = migrations_of(installation.database, stores, settings.auth)
    migrations = MigrationRunner(installation.database, known, leases=leases)
    async with (
        watching(initial_password),
        going_on(migrations),
        sweeping(sweeps, leases=leases, settings=settings.retention),
        noting(unnoted, leases),
        stale or nullcontext(),
        inventory.auto,
        inventory.background,
    ):
        yield
