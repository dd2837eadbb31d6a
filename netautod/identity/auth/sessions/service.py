"""The life of a session: its tokens at login, their rotation, its end.

A login is one session and one family of refresh tokens. A token is used once; a replay ends the session (RFC
9700 4.14.2), except within ten seconds, when it is taken for a lost answer or a second tab. A login at the
console is a session with a cookie in the place of tokens.
"""

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId, RequestInfo
from netautod.identity.auth.models import ADMIN_UI, TERMINAL, IssuedTokens, LoginSession, RefreshToken
from netautod.identity.auth.sessions.cookies import hash_of_cookie, new_cookie
from netautod.identity.auth.sessions.seats import Ended, Entering, SeatLimitReached, Seats
from netautod.identity.auth.sessions.store import RefreshTokenStore, SessionStore
from netautod.identity.auth.tokens.access import AccessTokens
from netautod.identity.users.models import User
from netautod.identity.users.service import UserService

TOKEN_BYTES = 32
REUSE_GRACE = timedelta(seconds=10)
PERSON_INTERVAL = timedelta(minutes=1)
LISTED = 1000


@dataclass(frozen=True, kw_only=True)
class Lifetimes:
    """The settings auth.refresh_token_days, auth.refresh_family_days and console.idle_minutes."""

    refresh: timedelta
    family: timedelta
    console_idle: timedelta

    @property
    def console_interval(self) -> timedelta:
        """Return the precision of a console session's end.

        A person's requests are written at most once in this interval, so the session may end that much too
        early.
        """
        return min(PERSON_INTERVAL, self.console_idle / 60)


class Reuse(Enum):
    """The second use of a refresh token: within the grace, or later, which ended its session."""

    RECENT = "recent"
    REPLAY = "replay"


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """The result of a refresh: `tokens` for a valid one; `reuse` for one that was used before; neither for
    any other.
    """

    tokens: IssuedTokens | None = None
    reuse: Reuse | None = None
    session: LoginSession | None = None
    user: User | None = None


class Sessions:
    def __init__(
        self,
        *,
        store: SessionStore,
        refresh_tokens: RefreshTokenStore,
        tokens: AccessTokens,
        users: UserService,
        clock: Clock,
        lifetimes: Lifetimes,
        seats: Seats,
    ) -> None:
        self._store = store
        self._refresh_tokens = refresh_tokens
        self._tokens = tokens
        self._users = users
        self._clock = clock
        self._lifetimes = lifetimes
        self._seats = seats

    async def begin(
        self,
        user: User,
        *,
        client_type: str,
        auth_provider: str,
        info: RequestInfo,
        replaced: Ended | None = None,
    ) -> tuple[LoginSession, IssuedTokens]:
        """Begin a session for a user whose login has just succeeded.

        `user` as read before the password was checked: if it changes meanwhile, the session is never valid.
        `replaced` is notified of each session that ends because its terminal is the one that logs in
        (seats.py). Raises SeatLimitReached for a terminal that finds no free seat.
        """
        session_id = str(uuid4())
        if client_type == TERMINAL:
            await self._seats.take(
                Entering(session_id=session_id, user=user, info=info, ended=replaced or _ignore)
            )
        now = self._clock.now()
        family_expires_at = now + self._lifetimes.family
        session = LoginSession(
            id=session_id,
            client_type=client_type,
            auth_provider=auth_provider,
            expires_at=self._session_end(now, family_expires_at),
            family_expires_at=family_expires_at,
            **_facts(user, info, now),
        )
        await self._store.insert(session)
        try:
            await self._seats.confirm(session)
        except SeatLimitReached:
            await self.end(session, "no seat")
            raise
        # If we die here, a session without a client stays until it expires.
        _, refresh_token = await self._new_refresh_token(user, session, now)
        return session, await self._issued(user, session, refresh_token)

    async def begin_console(
        self, user: User, *, auth_provider: str, info: RequestInfo
    ) -> tuple[LoginSession, str]:
        """Begin a session of the console and return it with its cookie, of which only the hash is stored;
        `user` as for `begin`.
        """
        now, cookie = self._clock.now(), new_cookie()
        family_expires_at = now + self._lifetimes.family
        session = LoginSession(
            id=str(uuid4()),
            client_type=ADMIN_UI,
            auth_provider=auth_provider,
            expires_at=self._console_end(now, family_expires_at),
            family_expires_at=family_expires_at,
            cookie_hash=hash_of_cookie(cookie),
            **_facts(user, info, now),
        )
        # If we die after this, a session without a client stays until it ends by itself.
        await self._store.insert(session)
        return session, cookie

    async def keep_console(self, session: LoginSession, now: datetime) -> bool:
        """Restart the idle time after a person's request; return whether that was stored, which it is once in
        an interval.
        """
        expires_at = self._console_end(now, session.family_expires_at)
        due = expires_at - session.expires_at >= self._lifetimes.console_interval
        return due and await self._store.prolong(session, expires_at, now)

    async def refresh(self, presented: str) -> Refreshed:
        """Use the token up and issue a new pair: for exactly one of any number of callers."""
        now = self._clock.now()
        token = await self._refresh_tokens.get(_hash(presented))
        if token is None:
            return Refreshed()
        session = await self._store.get(token.org_id, token.session_id)
        user = await self._users.find(token.user_id)
        if session is None or user is None or not session.holds(user, now):
            return Refreshed()
        if token.used_at is not None:
            return await self._reused(token, token.used_at, session, user, now)
        if token.epoch != user.refresh_epoch or now >= token.expires_at:
            return Refreshed()
        # The new token exists before the old one is used up: if we die between, the old one still works.
        hashed, refresh_token = await self._new_refresh_token(user, session, now)
        if not await self._refresh_tokens.use(token.hash, now):
            await self._refresh_tokens.delete(hashed)
            return Refreshed(reuse=Reuse.RECENT, session=session, user=user)
        expires_at = self._session_end(now, session.family_expires_at)
        if not await self._store.prolong(session, expires_at, now):
            return Refreshed()
        session = replace(session, expires_at=max(session.expires_at, expires_at))
        issued = await self._issued(user, session, refresh_token)
        return Refreshed(tokens=issued, session=session, user=user)

    async def living(self, user: User) -> list[LoginSession]:
        """List the user's sessions that are valid now, newest first, a thousand at most."""
        now = self._clock.now()
        found = await self._store.of_user(user, now, limit=LISTED)
        return [session for session in found if session.holds(user, now)]

    async def get(self, org_id: OrgId, session_id: str) -> tuple[LoginSession, User] | None:
        """Return a living session of the organization with its user."""
        session = await self._store.get(org_id, session_id)
        user = await self._users.find(session.user_id) if session is not None else None
        if session is None or user is None or not session.holds(user, self._clock.now()):
            return None
        return session, user

    async def end_others(self, user: User, kept: str) -> int:
        """End all living sessions of the user but one; return how many."""
        return await self._store.end_others(user, kept, "ended by the user", self._clock.now())

    async def end(self, session: LoginSession, reason: str) -> bool:
        """End the session; return False if it had ended before."""
        return await self._store.end(session.org_id, session.id, reason, self._clock.now())

    async def logout(self, user: User, session_id: str) -> bool:
        """End the session and revoke the refresh tokens of all of the user's sessions."""
        # In this order: if we die between, the session still stands and the client can repeat.
        await self._users.revoke_refresh_tokens(user)
        return await self._store.end(user.org_id, session_id, "logout", self._clock.now())

    async def _reused(
        self, token: RefreshToken, used_at: datetime, session: LoginSession, user: User, now: datetime
    ) -> Refreshed:
        if now - used_at <= REUSE_GRACE:
            return Refreshed(reuse=Reuse.RECENT, session=session, user=user)
        await self.end(session, "refresh token replay")
        return Refreshed(reuse=Reuse.REPLAY, session=session, user=user)

    async def _new_refresh_token(self, user: User, session: LoginSession, now: datetime) -> tuple[str, str]:
        """Return the stored hash and the plain text.

        Its epoch is that of the user as read: a logout meanwhile invalidates it.
        """
        plain = secrets.token_urlsafe(TOKEN_BYTES)
        token = RefreshToken(
            hash=_hash(plain),
            org_id=user.org_id,
            user_id=user.id,
            session_id=session.id,
            epoch=user.refresh_epoch,
            created_at=now,
            expires_at=min(now + self._lifetimes.refresh, session.family_expires_at),
        )
        await self._refresh_tokens.insert(token)
        return token.hash, plain

    async def _issued(self, user: User, session: LoginSession, refresh_token: str) -> IssuedTokens:
        access_token = await self._tokens.issue(user, session)
        lifetime = int(self._tokens.lifetime.total_seconds())
        return IssuedTokens(access_token=access_token, refresh_token=refresh_token, expires_in=lifetime)

    def _session_end(self, now: datetime, family_expires_at: datetime) -> datetime:
        # An access token is never cut short (clients refresh 300 s early, and would do so without end):
        # the last one outlives the family by its own life.
        refresh_until = min(now + self._lifetimes.refresh, family_expires_at)
        return max(refresh_until, now + self._tokens.lifetime)

    def _console_end(self, now: datetime, family_expires_at: datetime) -> datetime:
        return min(now + self._lifetimes.console_idle, family_expires_at)


def _facts(user: User, info: RequestInfo, now: datetime) -> dict[str, Any]:
    """Return what every session stores of its login. The epoch is the user's as read before it."""
    return {
        "org_id": user.org_id,
        "user_id": user.id,
        "epoch": user.session_epoch,
        "ip_address": info.ip_address,
        "user_agent": info.user_agent,
        "created_at": now,
        "last_activity_at": now,
    }


async def _ignore(session: LoginSession) -> None:
    """Do nothing: the caller needs no notification."""


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
