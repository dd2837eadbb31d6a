"""Login, refresh and logout: the order of the checks, what is told to the client and what to the audit."""

from netautod.audit.service import AuditLog
from netautod.auth.access_tokens import INVALID
from netautod.auth.authenticator import Authenticator
from netautod.auth.lockout import Lockout
from netautod.auth.models import IssuedTokens, LoginRequest, Session
from netautod.auth.providers import Providers
from netautod.auth.sessions import Reuse, Sessions
from netautod.caller import Caller
from netautod.errors import InvalidInput, TooManyRequests, Unauthenticated
from netautod.http.context import RequestInfo
from netautod.users.models import User
from netautod.users.organizations import OrganizationService
from netautod.users.service import UserService

REUSE_ACTIONS = {Reuse.RECENT: "auth.refresh_reuse", Reuse.REPLAY: "auth.refresh_replay"}


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
    ) -> None:
        self.providers = providers
        self._users = users
        self._organizations = organizations
        self._sessions = sessions
        self._lockout = lockout
        self._authenticator = authenticator
        self._audit = audit

    async def login(self, provider_name: str, request: LoginRequest, info: RequestInfo) -> IssuedTokens:
        """Raises Unauthenticated for wrong credentials, TooManyRequests for an address that is locked out,
        InvalidInput for a provider that is off.
        """
        provider = self.providers.get(provider_name)
        if request.public_key is not None:
            raise InvalidInput("public_key: SSH certificates are not configured")
        await self._lockout.admit(info.ip_address, request.username)
        # Read before the password is checked: see Sessions.begin.
        user = await self._users.by_username(request.username)
        identity = await provider.authenticate(request.username, request.password)
        if identity is None or user is None or not user.is_active or user.auth_provider != provider.name:
            raise await self._failed(provider.name, request, user, info)
        await self._lockout.succeeded(info.ip_address, request.username)
        session, tokens = await self._sessions.begin(
            user, client_type=request.client_type, auth_provider=provider.name, info=info
        )
        await self._users.logged_in(user)
        details = {"auth_provider": provider.name, "client_type": request.client_type}
        await self._record("auth.login", user, session, info, details)
        return tokens

    async def refresh(self, refresh_token: str, info: RequestInfo) -> IssuedTokens:
        """A new pair for a refresh token; Unauthenticated for one that is not good (any more)."""
        result = await self._sessions.refresh(refresh_token)
        if result.reuse is not None and result.user is not None and result.session is not None:
            self._authenticator.forget(result.session.id)
            await self._record(REUSE_ACTIONS[result.reuse], result.user, result.session, info, {})
        if result.tokens is None:
            raise Unauthenticated(INVALID)
        return result.tokens

    async def logout(self, caller: Caller) -> int:
        """Ends the caller's session and revokes all of the user's refresh tokens; how many sessions ended."""
        user = await self.current_user(caller)
        ended = False
        if caller.session_id is not None:
            ended = await self._sessions.logout(user, caller.session_id)
            self._authenticator.forget(caller.session_id)
        await self._audit.record(caller, "auth.logout", "session", caller.session_id)
        return int(ended)

    async def current_user(self, caller: Caller) -> User:
        user = await self._users.find(caller.user_id)
        if user is None:
            raise Unauthenticated(INVALID)
        return user

    async def _failed(
        self, provider_name: str, request: LoginRequest, user: User | None, info: RequestInfo
    ) -> Unauthenticated | TooManyRequests:
        """Counts the failure. A name that nobody has is not written down: it may be a password."""
        try:
            remaining = await self._lockout.failed(info.ip_address, request.username)
        except TooManyRequests as refusal:
            return refusal
        org_id = user.org_id if user else await self._organizations.default_id()
        actions = ["auth.login_failed"] if remaining else ["auth.login_failed", "auth.lockout"]
        for action in actions:
            await self._audit.record_for(
                org_id,
                actor_id=user.id if user else None,
                actor_name=user.username if user else None,
                action=action,
                resource_type="user",
                resource_id=user.id if user else None,
                ip_address=info.ip_address,
                request_id=info.request_id,
                details={"auth_provider": provider_name, "known_user": user is not None},
            )
        # One form for every number, also for 1: clients look for "N attempts remaining".
        return Unauthenticated(f"Invalid username or password. {remaining} attempts remaining.")

    async def _record(
        self, action: str, user: User, session: Session, info: RequestInfo, details: dict[str, str]
    ) -> None:
        await self._audit.record_for(
            user.org_id,
            actor_id=user.id,
            actor_name=user.username,
            action=action,
            resource_type="session",
            resource_id=session.id,
            ip_address=info.ip_address,
            request_id=info.request_id,
            details=details,
        )
