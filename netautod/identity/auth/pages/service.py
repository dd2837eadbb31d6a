"""Logins at the console with a password, and with a one-time code in a second step.

A ticket carries the right password from the first step to the second: 256 random bits, used once, for five
minutes. A wrong code leaves it as it is, and counts as the wrong code of any login does.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from netautod.core.clock import Clock
from netautod.core.identity.caller import RequestInfo
from netautod.core.identity.refusals import TokenRefused
from netautod.identity.auth.lockout.service import Lockout
from netautod.identity.auth.models import LoginRequest
from netautod.identity.auth.pages.callers import PageCallers
from netautod.identity.auth.pages.store import CodeStep, CodeStepStore
from netautod.identity.auth.service import AuthService, CodeRequired
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.cookies import hash_of_cookie, is_cookie, new_cookie
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.users.service import UserService

CODE_LIFE = timedelta(minutes=5)
BEGIN_AGAIN = "This login has expired or was used already; begin again"
REPLACED = "logged in again"


@dataclass(frozen=True, kw_only=True)
class CodePrompt:
    """The state after a right password: with the ticket and a one-time code the login goes on."""

    ticket: str = field(repr=False)


class PageLogins:
    def __init__(
        self,
        *,
        auth: AuthService,
        users: UserService,
        lockout: Lockout,
        sessions: Sessions,
        callers: PageCallers,
        authenticator: Authenticator,
        store: CodeStepStore,
        clock: Clock,
    ) -> None:
        self._auth = auth
        self._users = users
        self._lockout = lockout
        self._sessions = sessions
        self._callers = callers
        self._authenticator = authenticator
        self._store = store
        self._clock = clock

    async def log_in(
        self, provider: str, username: str, password: str, info: RequestInfo
    ) -> str | CodePrompt:
        """Return the cookie of a new session, or the data for the second step. Raises as AuthService.login
        does.
        """
        request = LoginRequest(username=username, password=password)
        found = self._auth.providers.get(provider)
        try:
            async with self._auth.admitted(found, request, info) as user:
                return await self._auth.begin_console(user, provider=found.name, info=info)
        except CodeRequired as required:
            ticket = new_cookie()
            await self._store.insert(
                CodeStep(
                    ticket_hash=hash_of_cookie(ticket),
                    org_id=required.user.org_id,
                    user_id=required.user.id,
                    epoch=required.user.session_epoch,
                    provider=found.name,
                    expires_at=self._clock.now() + CODE_LIFE,
                )
            )
            return CodePrompt(ticket=ticket)

    async def with_code(self, ticket: str, code: str, info: RequestInfo) -> str:
        """Return the cookie of a new session.

        Raises TokenRefused for an unknown, used or expired ticket, Unauthenticated for a wrong code, and
        TooManyRequests.
        """
        hashed = hash_of_cookie(ticket) if is_cookie(ticket) else ""
        step = await self._store.get(hashed, self._clock.now())
        user = None if step is None else await self._users.find(step.user_id)
        if step is None or user is None or not step.holds(user):
            raise TokenRefused(BEGIN_AGAIN)
        attempt = await self._lockout.admit(info.ip_address, user.username)
        await self._auth.require_code(step.provider, attempt, user, code, info)
        # If we die here, the code is used up and the ticket is not: the next code goes with it.
        if not await self._store.use(step.ticket_hash, self._clock.now()):
            raise TokenRefused(BEGIN_AGAIN)
        await self._lockout.succeeded(attempt)
        return await self._auth.begin_console(user, provider=step.provider, info=info)

    async def replace(self, cookie: str | None) -> None:
        """End the session that the browser had before a login, since its cookie is replaced."""
        state = None if cookie is None else await self._callers.state_of(cookie)
        if state is not None:
            await self._sessions.end(state.holder, REPLACED)
            self._authenticator.forget_session(state.holder.id)
