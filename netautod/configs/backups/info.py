"""The device list with the state of each device's backup (GET /api/devices/with-backup-info)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from netautod.configs.backups.facts import BackupFacts, BackupFactsStore
from netautod.configs.models import Config
from netautod.configs.store import ConfigStore
from netautod.core.identity import OrgId
from netautod.core.json_values import optional_text
from netautod.core.pages import Page, PageOf
from netautod.devices.models import DeviceFilter, DeviceItem
from netautod.devices.service import DeviceService

Status = Literal["success", "failed", "never"]


@dataclass(frozen=True, kw_only=True)
class BackupInfo:
    """`last_backup_at` is the end of the last capture, good or not; `error` is that of the last one only."""

    last_backup_at: datetime | None
    status: Status
    error: str | None
    last_success_at: datetime | None
    newest: Config | None

    def to_json(self) -> dict[str, Any]:
        newest = self.newest
        return {
            "last_backup_at": optional_text(self.last_backup_at),
            "last_backup_status": self.status,
            "last_backup_error": self.error,
            "last_success_at": optional_text(self.last_success_at),
            "config_version": None if newest is None else newest.version,
            "config_hash": None if newest is None else newest.config_hash,
            "config_changed_at": None if newest is None else optional_text(newest.created_at),
        }


@dataclass(frozen=True, kw_only=True)
class BackedUpDevice:
    device: DeviceItem
    backup: BackupInfo

    def to_json(self) -> dict[str, Any]:
        return {**self.device.to_json(), **self.backup.to_json()}


def backup_info(facts: BackupFacts | None, newest: Config | None) -> BackupInfo:
    """What both sources say together.

    The version is written before the facts: if a node dies in between, the version has been seen later than
    any noted capture, and that was a success. An import is no backup: the device was not asked.
    """
    seen = None if newest is None else newest.captured_at
    if facts is None or (seen is not None and seen > facts.last_at):
        status: Status = "never" if seen is None else "success"
        return BackupInfo(last_backup_at=seen, status=status, error=None, last_success_at=seen, newest=newest)
    successes = [moment for moment in (facts.last_success_at, seen) if moment is not None]
    return BackupInfo(
        last_backup_at=facts.last_at,
        status="success" if facts.error is None else "failed",
        error=facts.error,
        last_success_at=max(successes, default=None),
        newest=newest,
    )


class BackupInfos:
    def __init__(self, *, devices: DeviceService, facts: BackupFactsStore, store: ConfigStore) -> None:
        self._devices = devices
        self._facts = facts
        self._store = store

    async def page(self, org_id: OrgId, narrowed: DeviceFilter, page: Page) -> PageOf[BackedUpDevice]:
        """Sorted by name; three queries and a count, however long the page."""
        found = await self._devices.page(org_id, narrowed, page)
        known = await self.of(org_id, [device.id for device in found.items])
        items = [BackedUpDevice(device=device, backup=known[device.id]) for device in found.items]
        return PageOf(items=items, total=found.total, page=page)

    async def of(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, BackupInfo]:
        """Of each of these devices; two queries."""
        facts = await self._facts.of(org_id, device_ids)
        newest = await self._store.newest_of(org_id, device_ids)
        return {one: backup_info(facts.get(one), newest.get(one)) for one in device_ids}
