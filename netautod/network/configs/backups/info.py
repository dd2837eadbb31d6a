"""The device list with the state of each device's backup (GET /api/devices/with-backup-info)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text
from netautod.core.pages import Page, PageOf
from netautod.network.configs.backups.models import (
    FAILED,
    NEVER,
    STALE,
    SUCCESS,
    BackupCounts,
    BackupFacts,
    BackupFilter,
    DeviceWithBackup,
    Sorting,
    Status,
)
from netautod.network.configs.backups.queries import Found, found_by
from netautod.network.configs.backups.store import BackupStates
from netautod.network.configs.models import Config
from netautod.network.configs.store import ConfigStore
from netautod.network.devices.models import DeviceFilter, DeviceItem
from netautod.network.devices.service import DeviceService

ALL = BackupFilter()


@dataclass(frozen=True, kw_only=True)
class BackupInfo:
    """The backup state of a device. `last_backup_at` is the end of the last capture, good or not; `error` is
    that of the last one only.
    """

    facts: BackupFacts
    newest: Config | None

    @property
    def status(self) -> Status:
        return self.facts.status

    @property
    def error(self) -> str | None:
        return self.facts.error

    @property
    def error_kind(self) -> str | None:
        return self.facts.kind

    @property
    def last_backup_at(self) -> datetime | None:
        return self.facts.last_at

    @property
    def last_success_at(self) -> datetime | None:
        return self.facts.last_success_at

    def to_json(self, *, full: bool = False) -> dict[str, Any]:
        """Return the state as readers get it; `full`: one who holds credentials.manage."""
        newest = self.newest
        return {
            "last_backup_at": optional_text(self.last_backup_at),
            "last_backup_status": self.status,
            "last_backup_error": self.error,
            "error_kind": self.error_kind,
            "last_success_at": optional_text(self.last_success_at),
            "config_version": None if newest is None else newest.version,
            "config_hash": None if newest is None else newest.form_for(full=full).config_hash,
            "config_changed_at": None if newest is None else optional_text(newest.created_at),
        }


@dataclass(frozen=True, kw_only=True)
class BackedUpDevice:
    device: DeviceItem
    backup: BackupInfo

    def to_json(self, *, full: bool = False) -> dict[str, Any]:
        return {**self.device.to_json(), **self.backup.to_json(full=full)}


@dataclass(frozen=True, kw_only=True)
class BackedUpDevices(PageOf[BackedUpDevice]):
    """A page; `counts` are of all devices that the filter of devices means, whatever their backup."""

    counts: BackupCounts

    def as_json(self, *, full: bool) -> dict[str, Any]:
        listed = self.to_json("devices", partial(BackedUpDevice.to_json, full=full))
        return {**listed, "counts": self.counts.to_json()}


class BackupInfos:
    """The device lists with backup states. A device is stale `stale_hours` after its last good capture; 0:
    never.
    """

    def __init__(
        self,
        *,
        devices: DeviceService,
        states: BackupStates,
        store: ConfigStore,
        clock: Clock,
        stale_hours: float,
    ) -> None:
        self._devices = devices
        self._states = states
        self._store = store
        self._clock = clock
        self._stale_hours = stale_hours

    async def page(
        self,
        org_id: OrgId,
        narrowed: DeviceFilter,
        page: Page,
        *,
        backups: BackupFilter = ALL,
        sorting: Sorting = "name",
    ) -> BackedUpDevices:
        """Return one page of devices with their backups, sorted by name, or by `sorting` and then by name.

        By `last_backup_at` those that were never tried come first and then the oldest; by `status` the failed
        ones, then those that were never tried.
        """
        whole, now = self._devices.whole(narrowed), self._clock.now()
        wanted = found_by(whole, backups, sorting, now=now, stale_hours=self._stale_hours)
        rows = await self._states.page(org_id, wanted, page)
        newest = await self._store.newest_of(org_id, [row.device.id for row in rows])
        counts = await self._states.counts.of(org_id, whole, now=now, stale_hours=self._stale_hours)
        items = [
            BackedUpDevice(
                device=row.device,
                backup=BackupInfo(facts=row.facts, newest=newest.get(row.device.id)),
            )
            for row in rows
        ]
        total = await self._total(org_id, wanted, backups, counts, page, len(rows))
        return BackedUpDevices(items=items, total=total, page=page, counts=counts)

    async def each(
        self,
        org_id: OrgId,
        narrowed: DeviceFilter,
        *,
        backups: BackupFilter = ALL,
        sorting: Sorting = "name",
    ) -> AsyncIterator[DeviceWithBackup]:
        """Yield all devices that `page` pages through, in one go."""
        whole, now = self._devices.whole(narrowed), self._clock.now()
        wanted = found_by(whole, backups, sorting, now=now, stale_hours=self._stale_hours)
        async for device in self._states.each(org_id, wanted):
            yield device

    async def counts(self, org_id: OrgId, narrowed: DeviceFilter) -> BackupCounts:
        """Count the states of all devices that the filter matches."""
        whole, now = self._devices.whole(narrowed), self._clock.now()
        return await self._states.counts.of(org_id, whole, now=now, stale_hours=self._stale_hours)

    async def of(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, BackupInfo]:
        """Return the backup state of each of these devices, in two queries."""
        facts: Mapping[str, BackupFacts] = await self._states.of(org_id, device_ids)
        newest = await self._store.newest_of(org_id, device_ids)
        nothing = BackupFacts()
        return {one: BackupInfo(facts=facts.get(one, nothing), newest=newest.get(one)) for one in device_ids}

    async def _total(
        self,
        org_id: OrgId,
        wanted: Found,
        backups: BackupFilter,
        counts: BackupCounts,
        page: Page,
        found: int,
    ) -> int:
        seen = page.offset + found
        is_last = found < page.limit and (found > 0 or page.offset == 0)
        if is_last:
            return seen
        total = counted(backups, counts)
        if total is None:
            total = await self._states.count(org_id, wanted)
        # They were read at moments of their own; no list is shorter than what it shows.
        return max(total, seen) if found else total


def counted(backups: BackupFilter, counts: BackupCounts) -> int | None:
    """Return how many devices the backup filter matches, where the counts tell it; otherwise None."""
    if backups.older_than_hours is not None:
        return None
    status, kind = backups.status, backups.error_kind
    if kind is not None:
        return counts.by_kind.get(kind, 0) if status in (None, FAILED) else None
    by_status = {
        None: counts.total,
        SUCCESS: counts.success,
        FAILED: counts.failed,
        NEVER: counts.never,
        STALE: counts.stale,
    }
    return by_status.get(status)
