"""The one-time codes of a user, and their removal by managers.

Codes stay over a change and a reset of the password; they end when their owner or a manager removes them, or
with the user. An attacker who holds only a stolen session, or only the password, can neither set up, replace
nor remove them.
"""

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import Forbidden, InvalidInput, NotFound, TooManyRequests, Unauthenticated
from netautod.core.identity.caller import Caller
from netautod.identity.auth.lockout.service import Attempt, Lockout
from netautod.identity.auth.otp.codes import OneTimeCodes
from netautod.identity.auth.otp.models import NewCodes
from netautod.identity.auth.tokens.access import INVALID
from netautod.identity.auth.tokens.service import require_session
from netautod.identity.users.models import LOCAL, User
from netautod.identity.users.rank import require_rank
from netautod.identity.users.service import UserService

REQUIRED = "One-time code required"
NOT_SET_UP = "No one-time code is set up"


class OtpService:
    def __init__(self, *, codes: OneTimeCodes, users: UserService, lockout: Lockout, audit: AuditLog) -> None:
        self._codes = codes
        self._users = users
        self._lockout = lockout
        self._audit = audit

    async def begin(self, caller: Caller, password: str, code: str | None) -> NewCodes:
        """Create a secret and recovery codes, shown once; a user with active codes replaces them with one of
        those.

        Raises Forbidden for an API token, InvalidInput for an account of another provider, Unauthenticated
        for a wrong password or code, which the lockout counts, and TooManyRequests.
        """
        user = await self._local_user(caller)
        await self._prove(caller, user, password, code)
        new = await self._codes.begin(user)
        await self._audit.record(caller, "auth.otp_begin", "user", user.id)
        return new

    async def confirm(self, caller: Caller, code: str) -> None:
        """Confirm the pending codes: a login requires one from now on. Raises Conflict if none is pending."""
        user = await self._local_user(caller)
        pending = await self._codes.pending(user)
        attempt = await self._lockout.admit(caller.ip_address or "", user.username)
        if not await self._codes.confirm(user, pending, code):
            raise await self._wrong(caller, user, attempt)
        await self._changed(caller, "auth.otp_enable", user)

    async def end(self, caller: Caller, password: str, code: str) -> None:
        """Remove the codes: a login requires none any more. Raises NotFound if none is set up."""
        user = await self._local_user(caller)
        if not user.otp_enabled:
            raise NotFound(NOT_SET_UP)
        await self._prove(caller, user, password, code)
        if not await self._codes.remove(user):
            raise NotFound(NOT_SET_UP)
        await self._changed(caller, "auth.otp_disable", user)

    async def remove(self, caller: Caller, user_id: str) -> None:
        """Remove the codes of another user of the organization, who holds nothing that the caller lacks.

        Raises NotFound, or Forbidden for the caller's own, which end with a password and a code alone.
        """
        if user_id == caller.user_id:
            raise Forbidden("Your own one-time codes end with DELETE /api/auth/otp")
        user = await self._users.get(caller.org_id, user_id)
        require_rank(caller, user)
        if not await self._codes.remove(user):
            raise NotFound(NOT_SET_UP)
        await self._changed(caller, "user.otp_remove", user)

    async def accept(self, attempt: Attempt, user: User, code: str) -> bool:
        """Return whether the code is right, which uses it up. Raises TooManyRequests after too many wrong
        ones.
        """
        await self._lockout.admit_code(attempt)
        if not await self._codes.accept(user, code):
            return False
        await self._lockout.code_accepted(attempt)
        return True

    async def _prove(self, caller: Caller, user: User, password: str, code: str | None) -> None:
        """Check the password, and a code if codes are active."""
        attempt = await self._lockout.admit(caller.ip_address or "", user.username)
        if not await self._users.check_password(user, password):
            raise await self._wrong(caller, user, attempt)
        if user.otp_enabled and not code:
            await self._lockout.passed(attempt)
            raise Unauthenticated(REQUIRED)
        if user.otp_enabled and not await self.accept(attempt, user, code or ""):
            raise await self._wrong(caller, user, attempt)
        await self._lockout.succeeded(attempt)

    async def _wrong(self, caller: Caller, user: User, attempt: Attempt) -> Unauthenticated | TooManyRequests:
        try:
            remaining = await self._lockout.failed(attempt)
        except TooManyRequests as refusal:
            return refusal
        for action in ["auth.otp_failed"] + ([] if remaining else ["auth.lockout"]):
            await self._audit.record(caller, action, "user", user.id)
        return Unauthenticated(f"The password or the code is wrong. {remaining} attempts remaining.")

    async def _changed(self, caller: Caller, action: str, user: User) -> None:
        await self._users.changed.notify(user.org_id, user.id)
        await self._audit.record(caller, action, "user", user.id, {"username": user.username})

    async def _local_user(self, caller: Caller) -> User:
        require_session(caller)
        user = await self._users.find(caller.user_id)
        if user is None:
            raise Unauthenticated(INVALID)
        if user.auth_provider != LOCAL:
            raise InvalidInput(f"One-time codes of this account are a matter of {user.auth_provider}")
        return user
