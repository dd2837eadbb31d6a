"""Finds devices that have had no good capture for too long, and reports each once until the next good one.

Those of a paused organization are reported once the pause is over: what is not backed up meanwhile is not
backed up on purpose. The effort depends on what became stale since the last look and in paused organizations,
not on the fleet.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Protocol

from netautod.activity.webhooks.names import BACKUP_STALE
from netautod.core.clock import Clock
from netautod.core.work.pauses import Pauses
from netautod.network.configs.backups.stale_store import Overdue, StaleWatch
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.plugin_api.events import BackupStale

logger = logging.getLogger(__name__)
# Reported in one look, however many become stale at once; the queue of an observer holds more.
AT_ONCE = 200
HOOK = "netautod_backup_stale"


class StaleObservers(Protocol):
    def wanted(self, hook: str) -> bool:
        """Return whether any observer has this hook."""
        ...

    def backup_stale(self, event: BackupStale) -> None:
        """Notify the observers; returns at once and never raises."""
        ...


class StaleBackups:
    """A search for stale backups. `is_wanted` returns whether there is a webhook for an event of that
    name."""

    def __init__(
        self,
        *,
        watch: StaleWatch,
        unnoted: UnnotedCaptures,
        clock: Clock,
        hours: float,
        observers: StaleObservers,
        is_wanted: Callable[[str], bool],
        pauses: Pauses,
    ) -> None:
        self._is_wanted = is_wanted
        self._watch = watch
        self._unnoted = unnoted
        self._clock = clock
        self._hours = hours
        self._observers = observers
        self._pauses = pauses

    async def look(self) -> int:
        """Search once and return how many devices were reported. Two nodes may do it at the same time.

        While no observer or webhook wants the event, nothing is searched.
        """
        if not self._observers.wanted(HOOK) and not self._is_wanted(BACKUP_STALE):
            return 0
        await self._unnoted.note()
        now = self._clock.now()
        before, paused = now - timedelta(hours=self._hours), self._pauses.paused()
        overdue = await self._watch.overdue(before, limit=AT_ONCE, without=paused)
        reported = 0
        for one in overdue:
            # Noted first: if we die in between, observers are not notified, but never twice. Webhooks get the
            # event all the same: the note holds it until it is delivered.
            event = self._event(one)
            if await self._watch.take(one, at=now, data=asdict(event)):
                self._observers.backup_stale(event)
                reported += 1
        if reported:
            logger.warning("%d devices have had no good backup for %g hours", reported, self._hours)
        return reported

    def _event(self, overdue: Overdue) -> BackupStale:
        return BackupStale(
            org_id=overdue.org_id,
            device_id=overdue.device_id,
            device_name=overdue.name,
            last_success_at=overdue.last_success_at,
            hours=self._hours,
        )
