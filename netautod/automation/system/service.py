"""The status of the system, and the pause and resumption of an organization's automation.

A pause belongs to the organization: on no node claims, scheduled runs, polls or syncs begin for it, within
seconds. Ticks that pass meanwhile are not fired. The resumption applies the rule of missed ticks
(automation/tasks/decide.py), also to runs that waited already when the pause began. Runs that a user starts
by hand wait in `pending`.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol

from netautod.activity.audit.service import AuditLog
from netautod.automation.system.models import Pause, PluginStatus, SystemStatus
from netautod.automation.system.pauses import FollowedPauses
from netautod.automation.system.store import SystemStore
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.settings.risks import Risk

Lookout = Callable[[], Awaitable[Sequence[Risk]]]


class Plugins(Protocol):
    """The plugins of this process; one may break after it was loaded."""

    @property
    def statuses(self) -> Sequence[PluginStatus]: ...


class HeldRuns(Protocol):
    """The runs that wait for the end of a pause."""

    async def give_up(self, org_id: OrgId, paused_at: datetime) -> None:
        """Cancel what has waited for too long. Call it before the pause ends."""
        ...


class SystemService:
    """A service for the status and the pauses.

    `pending` and `polls` count what waits in an organization: executions, and requested polls. `held` are the
    executions that a pause keeps. `risks` are those of the settings, `lookouts` find those of this moment.
    """

    def __init__(
        self,
        *,
        store: SystemStore,
        clock: Clock,
        audit: AuditLog,
        plugins: Plugins,
        pauses: FollowedPauses,
        pending: Callable[[OrgId], Awaitable[int]],
        polls: Callable[[OrgId], Awaitable[int]],
        held: HeldRuns,
        risks: Sequence[Risk] = (),
        lookouts: Sequence[Lookout] = (),
    ) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit
        self._plugins = plugins
        self._pauses = pauses
        self._pending = pending
        self._polls = polls
        self._held = held
        self._risks = risks
        self._lookouts = lookouts

    async def status(self, org_id: OrgId) -> SystemStatus:
        return SystemStatus(
            nodes=await self._store.nodes(),
            database=await self._store.database_status(),
            plugins=self._plugins.statuses,
            pending=await self._pending(org_id),
            polls=await self._polls(org_id),
            pause=await self._store.pause(org_id),
            risks=(*self._risks, *[risk for look in self._lookouts for risk in await look()]),
        )

    async def paused(self, org_id: OrgId) -> Pause | None:
        """Return the pause that is on, None if there is none."""
        return await self._store.pause(org_id)

    async def pause(self, caller: Caller, reason: str) -> Pause:
        """Pause an organization; one that is paused already gets the new reason."""
        pause = Pause(reason=reason, by=caller.username, at=self._clock.now())
        await self._pauses.begin(caller.org_id, pause)
        await self._audit.record(caller, "system.pause", "system", None, {"reason": reason})
        return pause

    async def resume(self, caller: Caller) -> None:
        """Resume an organization; one that is not paused stays as it is."""
        since = await self._store.paused_since(caller.org_id)
        if since is not None:
            await self._held.give_up(caller.org_id, since)
        if await self._pauses.end(caller.org_id):
            await self._audit.record(caller, "system.resume", "system", None)
