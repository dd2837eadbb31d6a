"""Captures whose node died between the version that they made and the state of the device's backup.

A version is marked until the state says so. A capture that found nothing new needs no mark: it writes the
state first.
"""

from datetime import timedelta

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId, system_caller
from netautod.core.work.context import Work
from netautod.network.configs.backups.store import BackupStates
from netautod.network.configs.store import ConfigStore

AT_ONCE = 200
# What is under way now notes itself.
GRACE = timedelta(seconds=30)


class UnnotedCaptures:
    def __init__(self, *, store: ConfigStore, states: BackupStates, clock: Clock) -> None:
        self._store = store
        self._states = states
        self._clock = clock

    async def note(self) -> int:
        """Record the captures of all organizations that are still missing; return how many. Two at once do no
        harm.

        A state that is newer by now stays as it is.
        """
        noted = 0
        while found := await self._store.unnoted(before=self._clock.now() - GRACE, limit=AT_ONCE):
            for config in found:
                work = Work(caller=system_caller(OrgId(config.org_id)))
                await self._states.record(work, config.device_id, at=config.created_at, error=None)
                await self._store.noted(config, work)
            noted += len(found)
        return noted
