"""The periodic work of a node: clean-ups by age, checks for stale backups, migrations in the background.

Each resource knows how to do its own; this module says when it is done and in which order. Where the work has
a lease, one node at a time does it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import timedelta
from functools import partial

from netautod.assembly.base import Base
from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.network.configs import Configs
from netautod.assembly.network.device_services import DeviceServices
from netautod.automation.executions.upkeep.retention import ExecutionRetention
from netautod.core.settings.retention import RetentionSettings
from netautod.network.configs.backups.stale import StaleBackups
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.network.configs.retention import ConfigRetention
from netautod.network.devices.service import DeviceService
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.store.migrations.runner import MigrationRunner

Sweep = Callable[[], Awaitable[object]]


@asynccontextmanager
async def upkeep(base: Base, devices: DeviceServices) -> AsyncIterator[None]:
    """Do the periodic work within the block."""
    sweeps = retention_sweeps(base, devices.devices.devices, devices.configs)
    unrecorded = UnnotedCaptures(
        store=base.stores.configs, states=base.stores.backup_states, clock=base.clock
    )
    known = list_migrations(base.database, base.stores, base.settings.auth)
    migrations = MigrationRunner(base.database, known, leases=base.leases)
    async with (
        # On every node, for each has a data folder of its own.
        Periodic(
            base.initial_password_watch.look,
            name="the watch of the first password",
            seconds=3600,
            at_once=True,
        ),
        # The migrations that go on while the service works, as the chaining of millions of audit events.
        Periodic(
            migrations.go_on_in_background, name="migrations in the background", seconds=60, at_once=True
        ),
        sweeping(sweeps, leases=base.leases, settings=base.settings.retention),
        # Captures of nodes that died before they recorded them.
        Periodic(
            unrecorded.note,
            name="noting of captures",
            seconds=60,
            at_once=True,
            lease="unnoted captures",
            leases=base.leases,
        ),
        # Versions of earlier releases, of nodes beside this one, and all after new rules of redaction.
        Periodic(
            devices.configs.shown_forms.renew,
            name="hashes and sizes of configs as shown",
            seconds=60,
            at_once=True,
            lease="shown forms",
            leases=base.leases,
        ),
        stale_backup_checks(base, unrecorded) or nullcontext(),
    ):
        yield


def retention_sweeps(base: Base, devices: DeviceService, configs: Configs) -> tuple[Sweep, ...]:
    """Return the sweeps in their order: executions first, since their snapshots keep versions of configs."""
    stores, clock, settings = base.stores, base.clock, base.settings.retention
    executions = ExecutionRetention(
        executions=stores.executions,
        logs=stores.execution_logs,
        results=stores.execution_results,
        clock=clock,
        settings=settings,
    )
    executions.deleted.register(configs.snapshots.drop)
    executions.deleted.register(stores.agent_transcripts.delete_of)
    executions.deleted.register(stores.agent_changes.delete_of)
    versions = ConfigRetention(
        devices=devices,
        versions=stores.configs,
        texts=configs.texts,
        snapshots=configs.snapshots,
        learned=configs.learned,
        executions=stores.executions,
        clock=clock,
        settings=settings,
    )

    async def orphaned_parts() -> None:
        await stores.discovered_left_overs.sweep(now=clock.now())

    async def deliveries() -> None:
        keep = timedelta(days=settings.webhook_delivery_days)
        await stores.webhook_deliveries.delete_ended(before=clock.now() - keep)

    return (
        executions.sweep,
        versions.sweep,
        partial(base.audit.sweep, keep_days=settings.audit_days),
        orphaned_parts,
        deliveries,
    )


def sweeping(sweeps: tuple[Sweep, ...], *, leases: NamedLeases, settings: RetentionSettings) -> Periodic:
    """Return the clean-up: the other nodes find its lease taken and wait for the next interval."""

    async def sweep_all() -> None:
        for sweep in sweeps:
            await sweep()

    return Periodic(
        sweep_all,
        name="retention of executions",
        seconds=settings.interval_seconds,
        lease="retention:executions",
        leases=leases,
    )


def stale_backup_checks(base: Base, unrecorded: UnnotedCaptures) -> Periodic | None:
    """Return the check for devices without a good backup; None if the settings turn it off."""
    settings = base.settings.backups
    if not settings.stale_hours:
        return None
    backups = StaleBackups(
        watch=base.stores.stale_backups,
        unnoted=unrecorded,
        clock=base.clock,
        hours=settings.stale_hours,
        observers=base.observers,
        is_wanted=base.stores.subscriptions.is_wanted,
        pauses=base.pauses,
    )
    return Periodic(
        backups.look,
        name="look for stale backups",
        seconds=settings.stale_check_seconds,
        lease="stale backups",
        leases=base.leases,
    )
