"""The only writer of a session's last activity and of an API token's last use.

Both are written at once, but at most once in an interval. If seats are limited, the activity of terminals
counts to the second: after a minute of silence a seat may be taken over. So later activity is kept here and
written together every few seconds: no request waits for that, and a terminal that makes a request every
second costs a write in five. If the process dies, the terminal seems silent for those seconds longer.
"""

import logging
from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Self

from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.logs.folding import repeats
from netautod.identity.auth.models import TERMINAL, ApiToken, LoginSession
from netautod.identity.auth.sessions.seats import SILENCE
from netautod.identity.auth.sessions.store import SessionStore
from netautod.identity.auth.settings import LicenseSettings
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
FLUSH_SECONDS = 5.0
INTERVAL = timedelta(minutes=1)
"""The last activity of a session and the last use of an API token are written this often at most."""


class SessionActivity:
    """The writer. `seats`: the limit on terminals. It flushes the unwritten activity inside `async with`."""

    def __init__(self, sessions: SessionStore, tokens: ApiTokenStore, seats: LicenseSettings) -> None:
        self._store = sessions
        self._tokens = tokens
        self._counted = bool(seats.seats)
        self._interval = INTERVAL
        if self._counted:
            # Activity has to be known more exactly than the times after which a seat is free.
            self._interval = min(timedelta(minutes=seats.seat_idle_minutes) / 4, SILENCE / 6)
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

    async def record_activity(self, session: LoginSession, now: datetime) -> None:
        """Store the activity of a valid session if the last known one is older than the interval."""
        if now - session.last_activity_at >= self._interval:
            await _stored(self._store.touch(session, now, self._interval), "activity of a session")

    async def record_use(self, token: ApiToken, now: datetime) -> None:
        """Store the use of a valid API token if the last known one is older than the interval."""
        if token.last_used_at is None or now - token.last_used_at >= INTERVAL:
            await _stored(self._tokens.record_use(token, now, INTERVAL), "use of an API token")

    async def flush(self) -> None:
        """Write the noted activity; a failed write is repeated by the next flush."""
        notes = dict(self._unwritten)
        await self._store.touch_many(notes)
        for key, moment in notes.items():
            if self._unwritten[key] == moment:
                del self._unwritten[key]


async def _stored(write: Awaitable[None], what: str) -> None:
    """Wait for the write; a failure is logged only: no request fails because of it."""
    try:
        await write
    except Unavailable:
        logger.warning("the last %s could not be stored", what, extra=repeats(what))
