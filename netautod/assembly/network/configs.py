"""The stored configs: their captures, versions, search and snapshots."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from netautod.assembly.base import Base
from netautod.assembly.network.devices import DeviceRecords
from netautod.assembly.network.sessions import DeviceOperations
from netautod.http.routing.services import Services
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.capture.captures import ConfigCapture
from netautod.network.configs.capture.learning import NoiseLearning
from netautod.network.configs.capture.parts import PartsCapture
from netautod.network.configs.capture.pulls import Pulls
from netautod.network.configs.capture.shown_forms import ShownForms
from netautod.network.configs.recent_changes import RecentChanges
from netautod.network.configs.search import ConfigSearch
from netautod.network.configs.service import ConfigService
from netautod.network.configs.snapshots import Snapshots
from netautod.network.configs.texts.learned_noise_store import LearnedNoise
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.workers.pool import TextWorkers


@dataclass(frozen=True, kw_only=True)
class Configs(Services):
    """The services of stored configs and of backups."""

    backups: BackupInfos
    captures: ConfigCapture
    learned: LearnedNoise
    service: ConfigService
    pulls: Pulls
    recent: RecentChanges
    search: ConfigSearch
    shown_forms: ShownForms
    snapshots: Snapshots
    texts: ConfigTexts
    workers: TextWorkers


@asynccontextmanager
async def open_configs(
    base: Base, records: DeviceRecords, operations: DeviceOperations
) -> AsyncIterator[Configs]:
    """Build the services and run the text workers within the block."""
    stores, clock, settings = base.stores, base.clock, base.settings.configs
    devices, sessions, store = records.devices, operations.sessions, stores.configs
    texts = ConfigTexts(base.database, vault=base.vault, clock=clock)
    learned = LearnedNoise(base.database, vault=base.vault)
    shown = ShownTexts(sessions.platforms.for_readers)
    captures = ConfigCapture(
        store=store,
        texts=texts,
        shown=shown,
        parts=PartsCapture(store=store, texts=texts, shown=shown, clock=clock, hours=settings.parts_hours),
        learning=NoiseLearning(texts=texts, learned=learned),
        states=stores.backup_states,
        clock=clock,
        observers=base.observers,
    )
    async with TextWorkers(sessions.platforms, cache_bytes=settings.search_cache_bytes) as workers:
        service = ConfigService(
            store=store,
            texts=texts,
            learned=learned,
            devices=devices,
            platforms=sessions.platforms,
            shown=shown,
            comparing=workers.comparing,
            audit=base.audit,
        )
        stale_hours, seconds = base.settings.backups.stale_hours, settings.search_seconds
        yield Configs(
            backups=BackupInfos(
                devices=devices,
                states=stores.backup_states,
                store=store,
                clock=clock,
                stale_hours=stale_hours,
            ),
            captures=captures,
            learned=learned,
            service=service,
            pulls=Pulls(captures=captures, sessions=sessions, devices=devices, audit=base.audit),
            recent=RecentChanges(store=store, configs=service, devices=devices, clock=clock),
            search=ConfigSearch(
                devices=devices, store=store, texts=texts, worker=workers.searching, seconds=seconds
            ),
            shown_forms=ShownForms(store=store, texts=texts, measuring=workers.searching, clock=clock),
            snapshots=Snapshots(base.database, configs=store, clock=clock),
            texts=texts,
            workers=workers,
        )
