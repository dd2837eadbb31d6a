"""Login, refresh and logout: the order of the checks, the answers to clients and the audit events."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import Forbidden, TooManyRequests, Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import TokenRefused
from netautod.core.work.answers import ANSWER_SECONDS
from netautod.identity.auth.directory.service import DirectoryLookups
from netautod.identity.auth.lockout.login_gate import LoginGate
from netautod.identity.auth.lockout.service import Attempt, Lockout, compared_name
from netautod.identity.auth.login_events import LoginEvents
from netautod.identity.auth.models import IssuedTokens, LoginRequest, LoginSession
from netautod.identity.auth.otp.service import REQUIRED, OtpService
from netautod.identity.auth.providers.calls import call_provider, confirm_identity
from netautod.identity.auth.providers.probes import with_own_rules
from netautod.identity.auth.providers.provisioning import Provisioning
from netautod.identity.auth.providers.registry import LocalProvider, PasswordLogin, Providers
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.seats import SeatLimitReached
from netautod.identity.auth.sessions.service import Reuse, Sessions
from netautod.identity.auth.ssh_ca.public_keys import ClientKey, parse_public_key
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.auth.tokens.access import INVALID
from netautod.identity.auth.tokens.service import require_session
from netautod.identity.users.models import LOCAL, Credentials, User
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.required_actions import RequiredActions
from netautod.identity.users.service import UserService
from netautod.plugin_api.auth import PasswordProvider, ProbeResult, ProviderUnavailable

logger = logging.getLogger(__name__)
REUSE_ACTIONS = {Reuse.RECENT: "auth.refresh_reuse", Reuse.REPLAY: "auth.refresh_replay"}


class CodeRequired(Unauthenticated):
    """Raised if the password of `user` is right and a one-time code is missing."""

    def __init__(self, user: User) -> None:
        super().__init__(REQUIRED)
        self.user = user


class AuthService:
    def __init__(
        self,
        *,
        providers: Providers,
        users: UserService,
        organizations: OrganizationService,
        sessions: Sessions,
        lockout: Lockout,
        authenticator: Authenticator,
        audit: AuditLog,
        provisioning: Provisioning,
        ssh_ca: SshAuthority,
        lookups: DirectoryLookups,
        otp: OtpService,
        required_actions: RequiredActions,
    ) -> None:
        self.providers = providers
        self._users = users
        self._sessions = sessions
        self._lockout = lockout
        self._authenticator = authenticator
        self._audit = audit
        self.events = LoginEvents(audit, organizations)
        self._provisioning = provisioning
        self._ssh_ca = ssh_ca
        self._lookups = lookups
        self._otp = otp
        self._required_actions = required_actions
        self._gate = LoginGate()

    async def login(self, provider_name: str, request: LoginRequest, info: RequestInfo) -> IssuedTokens:
        """Log in with a password.

        Raises Unauthenticated for wrong credentials, TooManyRequests for an address that is locked out,
        InvalidInput for a provider that takes no password (now) and a public key that gets no certificate.
        """
        provider = self.providers.get(provider_name)
        client_key = None if request.public_key is None else parse_public_key(request.public_key)
        async with self.admitted(provider, request, info) as user:
            return await self.begin(
                user,
                provider=provider.name,
                client_type=request.client_type,
                info=info,
                client_key=client_key,
            )

    @asynccontextmanager
    async def admitted(
        self, provider: PasswordLogin, request: LoginRequest, info: RequestInfo
    ) -> AsyncIterator[User]:
        """Yield the user whose login may begin a session now, as read before the password was checked.

        Raises Unauthenticated, of the kind CodeRequired if the password is right and a code is missing, and
        TooManyRequests.
        """
        # Before the gate: it may make a guessed account wait, and other logins must not wait with it.
        attempt = await self._lockout.admit(info.ip_address, request.username)
        # Without the gate for directories: one that hangs must not block local logins.
        async with self._gate.turn() if provider.name == LOCAL else nullcontext():
            # Read before the password is checked: see Sessions.begin.
            credentials = await self._users.credentials(request.username)
            user = await self._recognised(provider, request, credentials, info)
            if user is None:
                raise await self._failed(provider.name, attempt, credentials.user, info)
            own = await self._lockout.as_user(attempt, user.username)
            if own is not attempt:
                await self._lockout.passed(attempt)
            if user.otp_enabled:
                await self.require_code(provider.name, own, user, request.otp, info)
            await self._lockout.succeeded(own)
            # A directory may know its user by an alias, which may be the name of another user here.
            if own is not attempt and await self._users.by_username(compared_name(request.username)) is None:
                await self._lockout.succeeded(attempt)
            yield user

    async def probe(
        self, caller: Caller, name: str, username: str | None, password: str | None
    ) -> ProbeResult:
        """Return the result of a provider's test of its configuration, and of a login with the password.

        A password is a guess as good as a login's: the lockout counts the wrong ones at each name, apart from
        logins. Raises NotFound, InvalidInput, TooManyRequests.
        """
        provider = self.providers.testable(name)
        attempt = None
        if password is not None:
            thing = f"account {username or ''} of {name}"
            attempt = await self._lockout.admit_opening(thing, caller.ip_address or "")
        try:
            probe = provider.probe(username, password)
            result = await call_provider(name, probe, ProbeResult, seconds=ANSWER_SECONDS)
        except ProviderUnavailable as error:
            return ProbeResult(success=False, message=str(error))
        if attempt is not None and result.success:
            await self._lockout.succeeded(attempt)
        elif attempt is not None and not await self._lockout.failed(attempt):
            await self._audit.record(caller, "auth.lockout", "auth_provider", name)
        return with_own_rules(result)

    async def begin(
        self,
        user: User,
        *,
        provider: str,
        client_type: str,
        info: RequestInfo,
        client_key: ClientKey | None = None,
        provider_token: str | None = None,
    ) -> IssuedTokens:
        """Begin a session for a user whose login has just succeeded, by any provider.

        `provider_token` is what that provider needs to look the login up again. Raises SeatLimitReached for a
        terminal that finds no free seat.
        """
        if client_key is not None:
            self._ssh_ca.check_principals(user)
            self._refuse_certificate(user)
        details = {"auth_provider": provider, "client_type": client_type}
        try:
            session, tokens = await self._sessions.begin(
                user,
                client_type=client_type,
                auth_provider=provider,
                info=info,
                replaced=lambda session: self._replaced(user, session, info),
            )
        except SeatLimitReached:
            await self.events.record("auth.seat_refused", user, None, info, details)
            raise
        if provider_token is not None:
            await self._lookups.remember(session, provider_token)
        if client_key is not None:
            # If we die here, a session without a client stays until it expires.
            certificate = await self._ssh_ca.sign(user, session, client_key)
            tokens = replace(tokens, ssh_certificate=certificate)
        await self._record_login(user, session, info, details)
        return tokens

    async def begin_console(
        self, user: User, *, provider: str, info: RequestInfo, provider_token: str | None = None
    ) -> str:
        """Begin a session of the console, as `begin` does, and return its cookie."""
        session, cookie = await self._sessions.begin_console(user, auth_provider=provider, info=info)
        if provider_token is not None:
            await self._lookups.remember(session, provider_token)
        details = {"auth_provider": provider, "client_type": session.client_type, "console": "yes"}
        await self._record_login(user, session, info, details)
        return cookie

    async def refresh(self, refresh_token: str, info: RequestInfo) -> IssuedTokens:
        """Return a new pair for a refresh token. Raises Unauthenticated for a used, expired or unknown
        one."""
        result = await self._sessions.refresh(refresh_token)
        if result.reuse is not None and result.user is not None and result.session is not None:
            self._authenticator.forget_session(result.session.id)
            await self.events.record(REUSE_ACTIONS[result.reuse], result.user, result.session, info, {})
        if result.tokens is None:
            user = result.user
            raise TokenRefused(INVALID, None if user is None else _caller_without_permissions(user, info))
        if result.user is not None and result.session is not None:
            self._lookups.begin(result.user, result.session)
        return result.tokens

    async def logout(self, caller: Caller) -> int:
        """End the caller's session and revoke all of the user's refresh tokens; return how many sessions
        ended.
        """
        session_id = require_session(caller)
        ended = await self._sessions.logout(await self.current_user(caller), session_id)
        self._authenticator.forget_session(session_id)
        await self._lookups.forget(caller.org_id, session_id)
        await self._audit.record(caller, "auth.logout", "session", session_id)
        return int(ended)

    async def current_user(self, caller: Caller) -> User:
        """Return the caller's user. Raises Unauthenticated if the user was deleted."""
        user = await self._users.find(caller.user_id)
        if user is None:
            raise Unauthenticated(INVALID)
        return user

    async def _replaced(self, user: User, session: LoginSession, info: RequestInfo) -> None:
        self._authenticator.forget_session(session.id)
        await self.events.record("auth.session_taken_over", user, session, info, {})

    async def _recognised(
        self, provider: PasswordLogin, request: LoginRequest, credentials: Credentials, info: RequestInfo
    ) -> User | None:
        """Return the active user with this name and password."""
        if isinstance(provider, LocalProvider):
            user = await provider.authenticate(credentials, request.password)
        else:
            user = await self._recognised_by_plugin(provider, request, credentials.user, info)
        known = user is not None and user.is_active and user.auth_provider == provider.name
        return user if known else None

    async def _recognised_by_plugin(
        self, provider: PasswordProvider, request: LoginRequest, named: User | None, info: RequestInfo
    ) -> User | None:
        try:
            call = provider.authenticate(request.username, request.password)
            identity = await confirm_identity(provider.name, call)
        except ProviderUnavailable as error:
            logger.error("%s cannot check passwords: %s", provider.name, error)
            await self.events.record_failure(
                provider.name, "auth.login_failed", named, info, unavailable=True
            )
            # Not counted as a failure: a directory that is down must not lock its users out.
            raise Unauthenticated("Invalid username or password.") from error
        if identity is None:
            return None
        return await self._provisioning.user_of(provider.name, identity, {request.username: named})

    async def require_code(
        self, provider_name: str, attempt: Attempt, user: User, code: str | None, info: RequestInfo
    ) -> None:
        """Check the one-time code after the right password.

        Raises CodeRequired; a wrong code is answered as a wrong password is.
        """
        if not code:
            await self._lockout.passed(attempt)
            await self.events.record("auth.otp_required", user, None, info, {"auth_provider": provider_name})
            raise CodeRequired(user)
        if not await self._otp.accept(attempt, user, code):
            raise await self._failed(provider_name, attempt, user, info)

    async def _record_login(
        self, user: User, session: LoginSession, info: RequestInfo, details: dict[str, str]
    ) -> None:
        await self._users.logged_in(user)
        await self.events.record("auth.login", user, session, info, details)

    def _refuse_certificate(self, user: User) -> None:
        """Raise Forbidden for a user whose required action closes the API: a certificate would open
        devices."""
        first = self._required_actions.of(user, by_session=True)
        if first is not None:
            raise Forbidden(first)

    async def _failed(
        self, provider_name: str, attempt: Attempt, user: User | None, info: RequestInfo
    ) -> Unauthenticated | TooManyRequests:
        """Count the failure and return the error. A name without a user is not recorded: it may be a
        password.
        """
        try:
            remaining = await self._lockout.failed(attempt)
        except TooManyRequests as refusal:
            return refusal
        actions = ["auth.login_failed"] if remaining else ["auth.login_failed", "auth.lockout"]
        for action in actions:
            await self.events.record_failure(provider_name, action, user, info)
        # One form for every number, also for 1: clients look for "N attempts remaining".
        return Unauthenticated(f"Invalid username or password. {remaining} attempts remaining.")


def _caller_without_permissions(user: User, info: RequestInfo) -> Caller:
    """Build the caller for the audit of a refused refresh token: the user without any permission."""
    return Caller(
        user_id=user.id,
        org_id=user.org_id,
        username=user.username,
        permissions=frozenset(),
        ip_address=info.ip_address,
        request_id=info.request_id,
    )
