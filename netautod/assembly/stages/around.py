"""What the others lean on or leave behind: leases, what plugins keep, webhooks, documents, upkeep."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from netautod.assembly.data.migrations import migrations_of
from netautod.assembly.installation import Installation
from netautod.assembly.parts.docs import documents_of, notes_of
from netautod.assembly.parts.inventory import InventoryParts
from netautod.assembly.parts.leases import named_leases
from netautod.assembly.parts.plugins import storages_of
from netautod.assembly.parts.users import initial_password_watch_of
from netautod.assembly.parts.webhooks import WebhookParts, webhooks_of
from netautod.assembly.settings import Settings
from netautod.assembly.stages.devices import DeviceWork
from netautod.assembly.upkeep import (
    going_on,
    noting,
    retention_of,
    stale_backups_of,
    sweeping,
    unnoted_captures_of,
    watching,
)
from netautod.automation.system.plugin_storage.service import PluginStorages
from netautod.core.work.pauses import Pauses
from netautod.documents.content_types import ContentTypes
from netautod.documents.notes.service import NotesVault
from netautod.documents.rendering.pool import RenderPool
from netautod.documents.service import DocumentService
from netautod.plugin_host.observers import Observers
from netautod.store.leases.named import NamedLeases
from netautod.store.migrations.runner import MigrationRunner
from netautod.transport.outbound.client import GuardedClient


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
