"""The part of the composition root about stored configs: their service, and what deletes old records."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from netautod.app.foundation import Foundation
from netautod.app.plugins.observers import Observers
from netautod.configs.backups.stale import StaleBackups
from netautod.configs.retention import ConfigRetention
from netautod.configs.service import ConfigService
from netautod.configs.store import ConfigStore
from netautod.configs.workers.pool import TextWorkers
from netautod.devices.service import DeviceService
from netautod.devices.sessions.service import DeviceSessions
from netautod.executions.log_store import ExecutionLogStore
from netautod.executions.result_store import DeviceResultStore
from netautod.executions.retention import Retention
from netautod.executions.store import ExecutionStore
from netautod.plugin_api.events import ConfigChanged
from netautod.store.leases.named import NamedLeases
from netautod.store.periodic import Periodic


@asynccontextmanager
async def config_service(
    base: Foundation,
    devices: DeviceService,
    sessions: DeviceSessions,
    changed: Callable[[ConfigChanged], None] | None = None,
) -> AsyncIterator[ConfigService]:
    """The service, and its worker processes until the end of the block.

    `changed` is called for every new version (configs/capture.py).
    """
    settings = base.settings.configs
    async with TextWorkers(sessions.platforms, cache_bytes=settings.search_cache_bytes) as workers:
        yield ConfigService(
            base.database,
            vault=base.vault,
            clock=base.clock,
            audit=base.audit,
            devices=devices,
            sessions=sessions,
            workers=workers,
            settings=settings,
            changed=changed,
        )


def stale_backups(
    base: Foundation,
    devices: DeviceService,
    leases: NamedLeases,
    observers: Observers,
) -> Periodic | None:
    """The look for devices without a good backup; None if it is off or nobody observes it."""
    settings = base.settings.backups
    if not settings.stale_hours or not observers.wanted("netautod_backup_stale"):
        return None
    backups = StaleBackups(
        base.database,
        devices=devices,
        clock=base.clock,
        hours=settings.stale_hours,
        tell=observers.backup_stale,
    )
    return Periodic(
        backups.look,
        name="look for stale backups",
        seconds=settings.stale_check_seconds,
        lease="stale backups",
        leases=leases,
    )


def retention(
    base: Foundation, devices: DeviceService, configs: ConfigService, leases: NamedLeases
) -> Retention:
    """The clean-up of executions, and after it those of all that hangs on them."""
    settings = base.settings.retention
    of_configs = ConfigRetention(
        devices=devices,
        versions=ConfigStore(base.database),
        texts=configs.texts,
        snapshots=configs.snapshots,
        facts=configs.facts,
        is_active=ExecutionStore(base.database).is_active,
        clock=base.clock,
        settings=settings,
    )

    made = Retention(
        executions=ExecutionStore(base.database),
        logs=ExecutionLogStore(base.database),
        results=DeviceResultStore(base.database),
        clock=base.clock,
        leases=leases,
        settings=settings,
        sweeps=(of_configs.sweep, partial(base.audit.sweep, keep_days=settings.audit_days)),
    )
    made.deleted.register(configs.snapshots.drop)
    return made
