"""Finds devices that have had no good capture for too long, and reports each once until the next good one.

The effort depends on what was created and what became stale since the last look, not on the fleet: every
device's watch begins once, when it is as old as a backup may be, and only what is overdue is read then.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import groupby
from typing import Protocol

from netautod.configs.backups.stale_store import Overdue, StaleWatch
from netautod.configs.models import Config
from netautod.configs.store import ConfigStore
from netautod.core.clock import Clock
from netautod.devices.service import DeviceService
from netautod.plugin_api.events import BackupStale
from netautod.webhooks.names import BACKUP_STALE

logger = logging.getLogger(__name__)
CREATED = 500  # devices whose watch is begun by one write
# Reported in one look, however many become stale at once; the queue of an observer holds more.
AT_ONCE = 200
HOOK = "netautod_backup_stale"


class StaleObservers(Protocol):
    def wanted(self, hook: str) -> bool:
        """Whether anybody observes this hook."""
        ...

    def backup_stale(self, event: BackupStale) -> None:
        """Returns at once and never raises."""
        ...


class StaleBackups:
    """`anybody_wants`: whether there is a webhook for an event of that name."""

    def __init__(
        self,
        *,
        watch: StaleWatch,
        configs: ConfigStore,
        devices: DeviceService,
        clock: Clock,
        hours: float,
        observers: StaleObservers,
        anybody_wants: Callable[[str], bool],
    ) -> None:
        self._anybody_wants = anybody_wants
        self._watch = watch
        self._configs = configs
        self._devices = devices
        self._clock = clock
        self._hours = hours
        self._observers = observers

    async def look(self) -> int:
        """One pass; returns how many devices it reported. Two nodes may do it at the same time.

        While nobody wants to know, nothing is looked for.
        """
        if not self._observers.wanted(HOOK) and not self._anybody_wants(BACKUP_STALE):
            return 0
        now = self._clock.now()
        before = now - timedelta(hours=self._hours)
        await self._begin(before)
        overdue = await self._watch.overdue(before, limit=AT_ONCE)
        overdue.sort(key=lambda one: one.org_id)
        told = 0
        for _, group in groupby(overdue, key=lambda one: one.org_id):
            told += await self._tell_of(list(group), before, now)
        if told:
            logger.warning("%d devices have had no good backup for %g hours", told, self._hours)
        return told

    async def _begin(self, before: datetime) -> None:
        """Begins the watch of devices created until `before`; younger ones cannot be stale yet."""
        while True:
            after = await self._watch.begun_until()
            created = await self._devices.created(after, before=before, limit=CREATED)
            if created:
                await self._watch.begin(created)
            if len(created) < CREATED:
                return

    async def _tell_of(self, overdue: Sequence[Overdue], before: datetime, now: datetime) -> int:
        """Of devices of one organization."""
        org_id, ids = overdue[0].org_id, [one.device_id for one in overdue]
        names = await self._devices.live_names(org_id, ids)
        newest = await self._configs.newest_of(org_id, ids)
        told = 0
        for one in overdue:
            seen = _seen(newest.get(one.device_id))
            if seen is not None and seen >= before:
                # The node died between the version of this capture and its facts.
                await self._watch.put_off(one, until=seen)
            elif one.device_id not in names:
                # Deleted, but a sync may revive it: it is looked at again later.
                await self._watch.put_off(one, until=now)
            else:
                # Noted first: if we die in between observers are not told, but never twice. Webhooks are: the
                # note marks that they are owed it.
                event = self._event(one, names[one.device_id], seen)
                if await self._watch.take(one, at=now, told=asdict(event)):
                    self._observers.backup_stale(event)
                    told += 1
        return told

    def _event(self, overdue: Overdue, name: str, seen: datetime | None) -> BackupStale:
        successes = [moment for moment in (overdue.last_success_at, seen) if moment is not None]
        return BackupStale(
            org_id=overdue.org_id,
            device_id=overdue.device_id,
            device_name=name,
            last_success_at=max(successes, default=None),
            hours=self._hours,
        )


def _seen(newest: Config | None) -> datetime | None:
    return None if newest is None else newest.captured_at
