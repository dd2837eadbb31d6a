"""The organizations that are paused: written once, followed by every node.

A node reads them once a second and answers from memory: while the database is down, what was read last holds.
What runs when a pause begins may finish.
"""

import logging

from netautod.automation.system.models import Pause
from netautod.automation.system.store import SystemStore
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.loop.repeating import Repeating

logger = logging.getLogger(__name__)


class FollowedPauses:
    """The pauses as this node knows them.

    `async with` reads them before anything is started, and follows them from then on.
    """

    def __init__(self, *, store: SystemStore, refresh_seconds: float = 1.0) -> None:
        self._store = store
        self._paused: frozenset[OrgId] = frozenset()
        self._loop = Repeating(self._follow, name="the look for pauses", seconds=refresh_seconds)

    async def __aenter__(self) -> "FollowedPauses":
        await self.refresh()
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.stop()

    def paused(self) -> frozenset[OrgId]:
        """Return the organizations for which this node begins no work."""
        return self._paused

    async def begin(self, org_id: OrgId, pause: Pause) -> None:
        """Begin a pause, or change the reason of one that is on; this node follows it at once."""
        await self._store.put_pause(org_id, pause)
        await self.refresh()

    async def end(self, org_id: OrgId) -> bool:
        """End a pause; return whether there was one."""
        ended = await self._store.delete_pause(org_id)
        await self.refresh()
        return ended

    async def refresh(self) -> None:
        self._paused = await self._store.paused()

    async def _follow(self) -> None:
        try:
            await self.refresh()
        except Unavailable as error:
            logger.debug("the pauses could not be read, the old ones hold: %s", error)
