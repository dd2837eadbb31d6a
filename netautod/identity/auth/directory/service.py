"""Look-ups of directory users after a refresh: whether they still exist, and with which roles.

They run in the background, since no refresh waits for a directory, and at most once in the interval for each
account or login, over all nodes. Only an answer of the provider ends a session; a provider that does not
answer, or may not read, changes nothing.
"""

import asyncio
import logging
from datetime import timedelta
from typing import Self
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import NetautodError
from netautod.core.identity.caller import OrgId, system_caller
from netautod.identity.auth.directory.store import COLLECTION, FIELD, DirectoryLookupStore, LookupTurn
from netautod.identity.auth.models import LoginSession
from netautod.identity.auth.providers.calls import call_provider
from netautod.identity.auth.providers.provisioning import Provisioning
from netautod.identity.auth.providers.registry import Providers
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.users.models import User
from netautod.plugin_api.auth import (
    AccountEnded,
    KnownUser,
    LoginEnded,
    Lookup,
    LookupOf,
    LookupProvider,
    ProviderUnavailable,
)
from netautod.secrets.vault.vault import Vault

logger = logging.getLogger(__name__)
AT_ONCE = 2  # fewer than a directory has threads, so that no login waits for these
WAITING = 1000  # one that finds no place is looked up after its next refresh
TURN = timedelta(minutes=5)  # longer than any provider may take
KEPT = timedelta(days=1)
STOP_SECONDS = 5.0
ENDED = "auth.directory_ended"


class DirectoryLookups:
    """A service of look-ups. `interval` is the setting auth.directory_lookup_seconds. `close` lets running
    ones finish.
    """

    def __init__(
        self,
        *,
        store: DirectoryLookupStore,
        vault: Vault,
        providers: Providers,
        provisioning: Provisioning,
        sessions: Sessions,
        authenticator: Authenticator,
        audit: AuditLog,
        clock: Clock,
        interval: timedelta,
    ) -> None:
        self._store = store
        self._vault = vault
        self._providers = providers
        self._provisioning = provisioning
        self._sessions = sessions
        self._authenticator = authenticator
        self._audit = audit
        self._clock = clock
        self._interval = interval
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def remember(self, session: LoginSession, token: str) -> None:
        """Keep the token that the provider gave for this login."""
        sealed = await self._sealed(session, token)
        now, until = self._clock.now(), session.family_expires_at
        await self._store.insert(session.org_id, session.id, sealed, now=now, until=until)

    async def forget(self, org_id: OrgId, session_id: str) -> None:
        """Delete the token of a session that has ended."""
        await self._store.delete(org_id, session_id)

    def begin(self, user: User, session: LoginSession) -> None:
        """Start the look-up in the background if one is due; returns at once."""
        provider = self._providers.looking_up(session.auth_provider)
        if provider is None or self._closing or len(self._tasks) >= WAITING:
            return
        work = self._logged(provider, user, session)
        task = asyncio.create_task(work, name=f"look-up at {provider.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all look-ups that have begun are finished."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Wait for the running look-ups, for a limited time.

        A provider may have given a new token by now: it is stored, unless that takes too long.
        """
        self._closing = True
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _logged(self, provider: LookupProvider, user: User, session: LoginSession) -> None:
        async with self._turns:
            if self._closing:
                return
            try:
                await self._in_turn(provider, user, session)
            except (NetautodError, ProviderUnavailable) as error:
                logger.warning("%s cannot look a user up again: %s", provider.name, error)
            except Exception:  # an exception of a plugin ends no session, and must not be lost
                logger.exception("the look-up at %s failed", provider.name)

    async def _in_turn(self, provider: LookupProvider, user: User, session: LoginSession) -> None:
        now = self._clock.now()
        by_login = provider.looks_up is LookupOf.LOGIN
        turn = await self._store.take_turn(
            LookupTurn(
                key=session.id if by_login else user.id,
                org_id=user.org_id,
                claim=str(uuid4()),
                ends_at=now + TURN,
            ),
            now=now,
            next_at=now + self._interval,
            until=None if by_login else now + max(self._interval, TURN) + KEPT,
        )
        if turn is None:
            return
        try:
            await self._look_up(provider, user, session, turn)
        finally:
            await self._store.end_turn(turn, self._clock.now())

    async def _look_up(
        self, provider: LookupProvider, user: User, session: LoginSession, turn: LookupTurn
    ) -> None:
        token = None if turn.sealed is None else await self._unsealed(session, turn)
        known = KnownUser(username=user.username, external_id=user.external_id, refresh_token=token)
        try:
            found = await call_provider(provider.name, provider.look_up(known), Lookup)
        except AccountEnded as ending:
            await self._end(provider, user, await self._of_account(provider, user, turn), str(ending))
        except LoginEnded as ending:
            await self._end(provider, user, [session], str(ending))
        else:
            await self._follow(provider, user, session, turn, found)

    async def _follow(
        self,
        provider: LookupProvider,
        user: User,
        session: LoginSession,
        turn: LookupTurn,
        found: Lookup,
    ) -> None:
        # First the token: the provider may refuse the old one now. If we die before this write, it refuses
        # all of ours, and the session ends at the next look-up: its user logs in again.
        if found.refresh_token is not None:
            await self._store.put_token(turn, await self._sealed(session, found.refresh_token))
        if found.identity is not None:
            await self._provisioning.follow(provider.name, user.id, found.identity)

    async def _of_account(self, provider: LookupProvider, user: User, turn: LookupTurn) -> list[LoginSession]:
        """List the user's sessions of this provider, but for those that began during the look-up."""
        started_at = turn.ends_at - TURN
        living = await self._sessions.living(user)
        return [one for one in living if one.auth_provider == provider.name and one.created_at <= started_at]

    async def _end(
        self, provider: LookupProvider, user: User, sessions: list[LoginSession], reason: str
    ) -> None:
        if not sessions:
            return
        logger.info("sessions of %s end: %s", user.username, reason)
        # Recorded first: if we die between, the rest ends after the next refresh, and none ended unrecorded.
        details = {"auth_provider": provider.name, "reason": reason, "sessions": len(sessions)}
        caller = system_caller(user.org_id, provider.name)
        await self._audit.record(caller, ENDED, "user", user.id, {**details, "username": user.username})
        for session in sessions:
            await self._sessions.end(session, "ended by the directory")
            await self.forget(session.org_id, session.id)
        self._authenticator.forget_all()

    async def _sealed(self, session: LoginSession, token: str) -> object:
        return await self._vault.seal(session.org_id, COLLECTION, session.id, FIELD, token.encode())

    async def _unsealed(self, session: LoginSession, turn: LookupTurn) -> str:
        opened = await self._vault.unseal(session.org_id, COLLECTION, session.id, FIELD, turn.sealed)
        return opened.decode()
