"""The status of the system, and the pause and resumption of an organization's automation.

A pause is the organization's own, as everything that a caller can change: no claims, no scheduled runs, no
polls and no syncs begin for it, on any node, within seconds. Ticks that pass meanwhile are not fired; the
resumption follows the rule for missed ones (tasks/decide.py). Runs asked for by hand wait in `pending`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.identity import Caller, OrgId
from netautod.store.client import Database
from netautod.system.models import DatabaseStatus, Pause, PluginStatus, SystemStatus
from netautod.system.nodes import Nodes
from netautod.system.pauses import FollowedPauses


class Plugins(Protocol):
    """The plugins of this process; one may break after it was loaded."""

    @property
    def statuses(self) -> Sequence[PluginStatus]: ...


class SystemService:
    """`pending` counts the executions of an organization that wait."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        audit: AuditLog,
        plugins: Plugins,
        nodes: Nodes,
        pauses: FollowedPauses,
        pending: Callable[[OrgId], Awaitable[int]],
    ) -> None:
        self._database = database
        self._clock = clock
        self._audit = audit
        self._plugins = plugins
        self._nodes = nodes
        self._pauses = pauses
        self._pending = pending

    async def status(self, org_id: OrgId) -> SystemStatus:
        hello = await self._database.hello()
        database = DatabaseStatus(
            version=await self._database.version(),
            replica_set=hello.get("setName"),
            ok=bool(hello.get("isWritablePrimary")),
        )
        return SystemStatus(
            nodes=await self._nodes.all(),
            database=database,
            plugins=self._plugins.statuses,
            pending=await self._pending(org_id),
            pause=await self._pauses.get(org_id),
        )

    async def pause(self, caller: Caller, reason: str) -> Pause:
        """Pausing what is paused gives it the new reason."""
        pause = Pause(reason=reason, by=caller.username, at=self._clock.now())
        await self._pauses.begin(caller.org_id, pause)
        await self._audit.record(caller, "system.pause", "system", None, {"reason": reason})
        return pause

    async def resume(self, caller: Caller) -> None:
        """Resuming what is not paused changes nothing."""
        if await self._pauses.end(caller.org_id):
            await self._audit.record(caller, "system.resume", "system", None)
