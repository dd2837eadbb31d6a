"""The periodic work of a node: clean-ups by age, and the look for stale backups.

Each resource knows how to do its own; here is when that happens and in which order. One node at a time does
it: the work has a lease.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.configs import ConfigParts
from netautod.automation.executions.upkeep.retention import ExecutionRetention
from netautod.core.clock import Clock
from netautod.core.settings.retention import RetentionSettings
from netautod.core.work.pauses import Pauses
from netautod.identity.users.organizations.initial_password_watch import InitialPasswordWatch
from netautod.network.configs.backups.stale import StaleBackups
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.network.configs.retention import ConfigRetention
from netautod.network.configs.settings import BackupSettings
from netautod.network.devices.service import DeviceService
from netautod.plugin_host.observers import Observers
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.store.migrations.runner import MigrationRunner

Sweep = Callable[[], Awaitable[object]]


def retention_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    devices: DeviceService,
    configs: ConfigParts,
    settings: RetentionSettings,
) -> tuple[Sweep, ...]:
    """The sweeps in their order: executions first, since their snapshots keep versions of configs."""
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

    async def left_overs() -> None:
        await stores.discovered_left_overs.sweep(now=clock.now())

    async def deliveries() -> None:
        keep = timedelta(days=settings.webhook_delivery_days)
        await stores.webhook_deliveries.delete_ended(before=clock.now() - keep)

    return (
        executions.sweep,
        versions.sweep,
        partial(audit.sweep, keep_days=settings.audit_days),
        left_overs,
        deliveries,
    )


def sweeping(sweeps: tuple[Sweep, ...], *, leases: NamedLeases, settings: RetentionSettings) -> Periodic:
    """One node at a time cleans up; the others find the lease taken and wait for the next interval."""

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


def going_on(migrations: MigrationRunner) -> Periodic:
    """The migrations that go on while the service works, such as the chaining of millions of audit events."""
    return Periodic(
        migrations.go_on_in_background, name="migrations in the background", seconds=60, at_once=True
    )


def unnoted_captures_of(stores: Stores, clock: Clock) -> UnnotedCaptures:
    return UnnotedCaptures(store=stores.configs, states=stores.backup_states, clock=clock)


def noting(unnoted: UnnotedCaptures, leases: NamedLeases) -> Periodic:
    """What nodes that died have captured, at the start and once a minute."""
    return Periodic(
        unnoted.note,
        name="noting of captures",
        seconds=60,
        at_once=True,
        lease="unnoted captures",
        leases=leases,
    )


def stale_backups_of(
    *,
    stores: Stores,
    clock: Clock,
    unnoted: UnnotedCaptures,
    leases: NamedLeases,
    observers: Observers,
    pauses: Pauses,
    settings: BackupSettings,
) -> Periodic | None:
    """The look for devices without a good backup; None if it is off."""
    if not settings.stale_hours:
        return None
    backups = StaleBackups(
        watch=stores.stale_backups,
        unnoted=unnoted,
        clock=clock,
        hours=settings.stale_hours,
        observers=observers,
        is_wanted=stores.subscriptions.is_wanted,
        pauses=pauses,
    )
    return Periodic(
        backups.look,
        name="look for stale backups",
        seconds=settings.stale_check_seconds,
        lease="stale backups",
        leases=leases,
    )


def watching(initial_password: InitialPasswordWatch) -> Periodic:
    """On every node, for each has a data folder of its own: at start, and once an hour."""
    return Periodic(initial_password.look, name="the watch of the first password", seconds=3600, at_once=True)
