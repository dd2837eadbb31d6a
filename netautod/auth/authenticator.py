"""Who a request's token stands for: the check of token, session and user on every request.

A session's standing is read from the database and kept for `cache_seconds`, counted from the moment when
the reading began, so that an end of the session on another node is seen that soon.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta

from netautod.auth.access_tokens import INVALID, AccessClaims, AccessTokens
from netautod.auth.models import Session
from netautod.auth.store import SessionStore
from netautod.caller import Caller
from netautod.clock import Clock
from netautod.errors import Unauthenticated, Unavailable
from netautod.http.context import RequestInfo
from netautod.store.client import Database
from netautod.users.models import User
from netautod.users.service import UserService

logger = logging.getLogger(__name__)
MAX_CACHED = 10_000
ACTIVITY_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Standing:
    session: Session
    user: User
    permissions: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A reading, under way or done; all requests of its time share it."""

    started: float
    reading: asyncio.Task[_Standing | None]


class Authenticator:
    def __init__(
        self,
        database: Database,
        *,
        tokens: AccessTokens,
        users: UserService,
        clock: Clock,
        cache_seconds: float,
    ) -> None:
        self._sessions = SessionStore(database)
        self._tokens = tokens
        self._users = users
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    async def authenticate(self, token: str, info: RequestInfo) -> Caller:
        """The caller with the permissions that the database gives him now; raises Unauthenticated."""
        claims = await self._tokens.verify(token)
        standing = await self._standing(claims)
        if standing is None or not standing.session.holds(standing.user, self._clock.now()):
            raise Unauthenticated(INVALID)
        if standing.user.id != claims.user_id or standing.user.org_id != claims.org_id:
            raise Unauthenticated(INVALID)
        return Caller(
            user_id=standing.user.id,
            org_id=standing.user.org_id,
            username=standing.user.username,
            permissions=standing.permissions,
            session_id=standing.session.id,
            ip_address=info.ip_address,
            request_id=info.request_id,
        )

    def forget(self, session_id: str) -> None:
        """After this node changed the session: its next request reads anew, also past a running reading."""
        self._entries.pop(session_id, None)

    async def _standing(self, claims: AccessClaims) -> _Standing | None:
        entry = self._fresh(claims.session_id) or self._start(claims)
        # Shielded: the request that began the reading may go away while others wait for it.
        return await asyncio.shield(entry.reading)

    def _fresh(self, session_id: str) -> _Entry | None:
        entry = self._entries.get(session_id)
        if entry is None or self._clock.monotonic() - entry.started >= self._cache_seconds:
            return None
        self._entries.move_to_end(session_id)
        return entry

    def _start(self, claims: AccessClaims) -> _Entry:
        reading = asyncio.create_task(self._read(claims), name="session check")
        entry = _Entry(started=self._clock.monotonic(), reading=reading)
        self._entries[claims.session_id] = entry
        self._entries.move_to_end(claims.session_id)
        if len(self._entries) > MAX_CACHED:
            self._entries.popitem(last=False)  # the one unused for longest
        reading.add_done_callback(lambda done: self._drop_failed(claims.session_id, entry))
        return entry

    def _drop_failed(self, session_id: str, entry: _Entry) -> None:
        failed = entry.reading.cancelled() or entry.reading.exception() is not None
        if failed and self._entries.get(session_id) is entry:
            del self._entries[session_id]

    async def _read(self, claims: AccessClaims) -> _Standing | None:
        session, user = await asyncio.gather(
            self._sessions.get(claims.org_id, claims.session_id), self._users.find(claims.user_id)
        )
        if session is None or user is None:
            return None
        if session.holds(user, self._clock.now()):
            await self._note_activity(session)
        return _Standing(session=session, user=user, permissions=frozenset(user.permissions))

    async def _note_activity(self, session: Session) -> None:
        now = self._clock.now()
        if now - session.last_activity_at < ACTIVITY_INTERVAL:
            return
        try:
            await self._sessions.touch(session, now, ACTIVITY_INTERVAL)
        except Unavailable:
            logger.warning("the last activity of a session could not be stored")
