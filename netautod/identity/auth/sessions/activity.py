"""The last activity of terminals, to the second: after a minute of silence a seat may be taken over.

A session's activity is written at once if the last known one is old (authenticator.py). Later activity is
kept here and written together every few seconds: no request waits for that, and a terminal that makes a
request every second costs a write in five. If the process dies, the terminal seems silent for those seconds
longer.
"""

from datetime import datetime
from typing import Self

from netautod.core.identity.caller import OrgId
from netautod.identity.auth.models import TERMINAL, LoginSession
from netautod.identity.auth.sessions.store import SessionStore
from netautod.store.leases.periodic import Periodic

FLUSH_SECONDS = 5.0


class SessionActivity:
    """The unwritten activity. `counted`: whether seats are limited; else seconds do not matter. Flushes
    inside `async with`.
    """

    def __init__(self, store: SessionStore, *, counted: bool) -> None:
        self._store = store
        self._counted = counted
        self._unwritten: dict[tuple[OrgId, str], datetime] = {}
        self._loop = Periodic(self.flush, name="the activity of terminals", seconds=FLUSH_SECONDS)

    async def __aenter__(self) -> Self:
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._loop.__aexit__(*exc_info)

    def note(self, session: LoginSession, at: datetime) -> None:
        """Note a request of the session; bounded by the terminals that were active since the last `flush`."""
        if self._counted and session.client_type == TERMINAL:
            self._unwritten[session.org_id, session.id] = at

    async def flush(self) -> None:
        """Write the noted activity; a failed write is repeated by the next flush."""
        notes = dict(self._unwritten)
        await self._store.touch_many(notes)
        for key, moment in notes.items():
            if self._unwritten[key] == moment:
                del self._unwritten[key]
