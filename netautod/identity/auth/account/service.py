"""The account of the logged-in user: list and end sessions, change the password.

Callers with users.manage also see the sessions of others, and end those of users who hold no permission that
they lack.
"""

from collections.abc import Sequence

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput, NotFound, TooManyRequests, Unauthenticated
from netautod.core.identity.caller import Caller
from netautod.identity.auth.lockout.service import Attempt, Lockout
from netautod.identity.auth.models import LoginSession
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.auth.tokens.access import INVALID
from netautod.identity.auth.tokens.service import require_session
from netautod.identity.users.models import LOCAL, User
from netautod.identity.users.rank import require_rank
from netautod.identity.users.service import UserService

NOT_FOUND = "Session not found"


class AccountService:
    def __init__(
        self,
        *,
        users: UserService,
        sessions: Sessions,
        lockout: Lockout,
        authenticator: Authenticator,
        audit: AuditLog,
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._lockout = lockout
        self._authenticator = authenticator
        self._audit = audit

    async def sessions(self, caller: Caller, user_id: str | None) -> Sequence[LoginSession]:
        """List the living sessions of the caller, or of another user of the organization; newest first.

        Raises Forbidden without users.manage, NotFound for a user that the organization does not have.
        """
        if user_id is not None and user_id != caller.user_id:
            caller.require_unblocked()
            caller.require("users.manage")
            return await self._sessions.living(await self._users.get(caller.org_id, user_id))
        return await self._sessions.living(await self._user(caller))

    async def end_session(self, caller: Caller, session_id: str) -> None:
        """End a living session of the caller, or of a user whom the caller manages.

        Raises NotFound for any other session.
        """
        require_session(caller)
        found = await self._sessions.get(caller.org_id, session_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        session, owner = found
        if owner.id != caller.user_id:
            if not caller.can("users.manage"):
                raise NotFound(NOT_FOUND)
            caller.require_unblocked()
            require_rank(caller, owner)
        ended = await self._sessions.end(session, "revoked")
        self._authenticator.forget_session(session_id)
        if not ended:
            raise NotFound(NOT_FOUND)
        await self._audit.record(caller, "auth.session_revoke", "session", session_id, {"user_id": owner.id})

    async def end_other_sessions(self, caller: Caller) -> int:
        """End all living sessions of the caller but the one of this request; return how many."""
        kept = require_session(caller)
        ended = await self._sessions.end_others(await self._user(caller), kept)
        self._authenticator.forget_all()
        details = {"sessions_revoked": ended}
        await self._audit.record(caller, "auth.sessions_revoke", "user", caller.user_id, details)
        return ended

    async def change_password(
        self, caller: Caller, current: str, new: str, *, keep_api_tokens: bool = False
    ) -> int:
        """Change the password and return how many sessions ended.

        Ends the caller's other sessions, all refresh tokens and, unless they are to be kept, API tokens.
        Raises InvalidInput for an account of another provider or a password against the policy,
        Unauthenticated for a wrong current password, which the lockout counts, and TooManyRequests.
        """
        kept = require_session(caller)
        # Read before the password is checked: a reset meanwhile makes the write below miss.
        user = await self._user(caller)
        if user.auth_provider != LOCAL:
            raise InvalidInput(f"The password of this account is kept by {user.auth_provider}")
        attempt = await self._lockout.admit(caller.ip_address or "", user.username)
        if not await self._users.check_password(user, current):
            raise await self._wrong_password(caller, user, attempt)
        await self._lockout.succeeded(attempt)
        await self._users.passwords.check(user, new, field="new_password")
        if user.must_change_password and await self._users.check_password(user, new):
            raise InvalidInput("new_password: must not be the password that has to be changed")
        others = [session for session in await self._sessions.living(user) if session.id != kept]
        if not await self._users.set_own_password(
            user, new, kept_session_id=kept, keep_api_tokens=keep_api_tokens
        ):
            raise Unauthenticated(INVALID)
        details = {"sessions_revoked": len(others), "api_tokens_kept": keep_api_tokens}
        await self._audit.record(caller, "auth.password_change", "user", user.id, details)
        return len(others)

    async def _wrong_password(
        self, caller: Caller, user: User, attempt: Attempt
    ) -> Unauthenticated | TooManyRequests:
        try:
            remaining = await self._lockout.failed(attempt)
        except TooManyRequests as refusal:
            return refusal
        actions = ["auth.password_change_failed"] + ([] if remaining else ["auth.lockout"])
        for action in actions:
            await self._audit.record(caller, action, "user", user.id)
        return Unauthenticated(f"The current password is wrong. {remaining} attempts remaining.")

    async def _user(self, caller: Caller) -> User:
        user = await self._users.find(caller.user_id)
        if user is None:
            raise Unauthenticated(INVALID)
        return user
