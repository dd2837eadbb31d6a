"""Deletes old versions of configurations, those of deleted devices, and texts that no version names.

The newest version of a live device always stays (a failed capture never becomes one, so it is the newest good
one), and so does every version that a kept snapshot names. A device that was deleted long enough ago goes
whole, out of the snapshots too. Texts go when no version names them any more.

Every step can be repeated and interrupted anywhere: texts are loosened before the versions that name them are
deleted, and looked at last.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.settings.retention import RetentionSettings
from netautod.network.configs.models import Config
from netautod.network.configs.snapshots import Snapshots
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.learned_noise_store import LearnedNoise
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.devices.service import DeviceService

logger = logging.getLogger(__name__)
# Much longer than from a capture's text to its version, and from there to the row of its snapshot.
GRACE = timedelta(hours=1)


class ActiveExecutions(Protocol):
    async def is_active(self, org_id: OrgId, execution_id: str, since: datetime) -> bool:
        """Return whether the execution may still add to its snapshot, or ended only after `since`."""
        ...


class ConfigRetention:
    def __init__(
        self,
        *,
        devices: DeviceService,
        versions: ConfigStore,
        texts: ConfigTexts,
        snapshots: Snapshots,
        learned: LearnedNoise,
        executions: ActiveExecutions,
        clock: Clock,
        settings: RetentionSettings,
    ) -> None:
        self._devices = devices
        self._versions = versions
        self._texts = texts
        self._snapshots = snapshots
        self._learned = learned
        self._executions = executions
        self._clock = clock
        self._settings = settings
        devices.purged.register(self._purge)

    async def sweep(self) -> None:
        """Sweep all organizations once; two sweeps at once do no harm."""
        now = self._clock.now()
        settings = self._settings
        devices = await self._devices.purge(buried_before=now - timedelta(days=settings.deleted_device_days))
        drafts = await self._drop_drafts(now - GRACE)
        versions = 0
        if settings.config_versions:
            versions += await self._keep_newest(settings.config_versions, unseen_since=now - GRACE)
        if settings.config_days:
            limit = now - max(timedelta(days=settings.config_days), GRACE)
            versions += await self._keep_recent(unseen_since=limit)
        texts = await self._discard_texts(now - GRACE)
        if devices or drafts or versions or texts:
            logger.info(
                "deleted: %d old devices, %d abandoned snapshots, %d old configs, %d texts",
                *(devices, drafts, versions, texts),
            )

    async def _purge(self, org_id: OrgId, device_id: str) -> None:
        """Delete the versions of a purged device, for DeviceService.purged."""
        async for rows in self._versions.batches(org_id, device_id):
            await self._delete(org_id, rows)
        await self._snapshots.forget_device(org_id, device_id)
        await self._learned.purge(org_id, device_id)

    async def _drop_drafts(self, before: datetime) -> int:
        dropped = 0
        for draft in await self._snapshots.drafts(before=before):
            if not await self._executions.is_active(draft.org_id, draft.execution_id, before):
                await self._snapshots.drop(draft.org_id, draft.execution_id)
                dropped += 1
        return dropped

    async def _keep_newest(self, count: int, *, unseen_since: datetime) -> int:
        deleted = 0
        for org_id, device_id in await self._versions.devices_with_more_than(count):
            oldest_kept = await self._versions.nth_newest(org_id, device_id, count)
            if oldest_kept is not None:  # else some were deleted meanwhile
                deleted += await self._trim(org_id, device_id, below=oldest_kept, unseen_since=unseen_since)
        return deleted

    async def _keep_recent(self, *, unseen_since: datetime) -> int:
        deleted = 0
        for org_id, device_id in await self._versions.devices_with_unseen(unseen_since):
            newest = await self._versions.nth_newest(org_id, device_id, 1)
            if newest is not None:
                deleted += await self._trim(org_id, device_id, below=newest, unseen_since=unseen_since)
        return deleted

    async def _trim(self, org_id: OrgId, device_id: str, *, below: int, unseen_since: datetime) -> int:
        deleted = 0
        batches = self._versions.batches(org_id, device_id, below=below, unseen_since=unseen_since)
        async for rows in batches:
            named = await self._snapshots.named(org_id, device_id, [row.version for row in rows])
            deleted += await self._delete(org_id, [row for row in rows if row.version not in named])
        return deleted

    async def _delete(self, org_id: OrgId, rows: Sequence[Config]) -> int:
        texts = {row.text_id for row in rows} | {part.text_id for row in rows for part in row.parts}
        await self._texts.loosen(org_id, list(texts))
        return await self._versions.delete(org_id, [row.id for row in rows])

    async def _discard_texts(self, untouched_since: datetime) -> int:
        """Delete texts without a version. One that was touched lately is left to a later sweep: its version
        may be about to be written.
        """
        discarded = 0
        async for text in self._texts.loose(untouched_since=untouched_since):
            if await self._versions.names_text(text.org_id, text.id):
                await self._texts.mark_named(text)
            else:
                discarded += await self._texts.discard(text, untouched_since=untouched_since)
        return discarded
