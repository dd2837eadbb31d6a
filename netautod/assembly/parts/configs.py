"""The part of the composition root about stored configs: captures, versions, the search, snapshots."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.capture.captures import CaptureObservers, ConfigCapture
from netautod.network.configs.capture.learning import NoiseLearning
from netautod.network.configs.capture.parts import PartsCapture
from netautod.network.configs.capture.pulls import Pulls
from netautod.network.configs.recent_changes import RecentChanges
from netautod.network.configs.search import ConfigSearch
from netautod.network.configs.service import ConfigService
from netautod.network.configs.settings import BackupSettings, ConfigSettings
from netautod.network.configs.snapshots import Snapshots
from netautod.network.configs.texts.learned_noise_store import LearnedNoise
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.workers.pool import TextWorkers
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database


@dataclass(frozen=True, kw_only=True)
class ConfigParts:
    backups: BackupInfos
    captures: ConfigCapture
    learned: LearnedNoise
    service: ConfigService
    pulls: Pulls
    recent: RecentChanges
    search: ConfigSearch
    snapshots: Snapshots
    texts: ConfigTexts
    workers: TextWorkers

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.backups, self.service, self.pulls, self.search, self.snapshots


@asynccontextmanager
async def configs_of(
    *,
    database: Database,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    devices: DeviceService,
    sessions: DeviceSessions,
    settings: ConfigSettings,
    backups: BackupSettings,
    observers: CaptureObservers,
) -> AsyncIterator[ConfigParts]:
    """The text workers end with the block."""
    texts = ConfigTexts(database, vault=vault, clock=clock)
    parts = PartsCapture(store=stores.configs, texts=texts, clock=clock, hours=settings.parts_hours)
    learned = LearnedNoise(database, vault=vault)
    captures = ConfigCapture(
        store=stores.configs,
        texts=texts,
        parts=parts,
        learning=NoiseLearning(texts=texts, learned=learned),
        states=stores.backup_states,
        clock=clock,
        observers=observers,
    )
    async with TextWorkers(sessions.platforms, cache_bytes=settings.search_cache_bytes) as workers:
        service = ConfigService(
            store=stores.configs,
            texts=texts,
            learned=learned,
            devices=devices,
            platforms=sessions.platforms,
            comparing=workers.comparing,
            audit=audit,
        )
        yield ConfigParts(
            backups=BackupInfos(
                devices=devices,
                states=stores.backup_states,
                store=stores.configs,
                clock=clock,
                stale_hours=backups.stale_hours,
            ),
            captures=captures,
            learned=learned,
            service=service,
            pulls=Pulls(captures=captures, sessions=sessions, devices=devices, audit=audit),
            recent=RecentChanges(store=stores.configs, configs=service, devices=devices, clock=clock),
            search=ConfigSearch(
                devices=devices,
                store=stores.configs,
                texts=texts,
                worker=workers.searching,
                seconds=settings.search_seconds,
            ),
            snapshots=Snapshots(database, clock=clock),
            texts=texts,
            workers=workers,
        )
