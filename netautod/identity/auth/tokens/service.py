"""API tokens for machines: created once, shown once, scoped, never with more permissions than their owner.

They end at their expiry, with their owner, and with the password that their owner had; a token of a disabled
user is suspended. A holder of users.manage sees and revokes those of others, but not of stronger users.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.identity.permissions import PermissionKeys
from netautod.core.json.values import optional_text
from netautod.core.pages import Page, PageOf
from netautod.identity.auth.models import NEVER, ApiToken, LoginSession
from netautod.identity.auth.tokens.access import INVALID
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.identity.users.models import User
from netautod.identity.users.rank import require_known, require_rank
from netautod.identity.users.service import UserService

PREFIX = "nat_"
TOKEN_BYTES = 32
FORM = re.compile(r"nat_[A-Za-z0-9_-]{43}")
NOT_FOUND = "Token not found"
LONGEST = timedelta(days=366)
"""An end that is further away is as good as none, and so is for those alone who may say `never`."""


def is_api_token(text: str) -> bool:
    return FORM.fullmatch(text) is not None


def hash_of(token: str) -> str:
    """Return the stored hash. The 256 random bits of a token need no slow one."""
    return hashlib.sha256(token.encode()).hexdigest()


def require_session(caller: Caller) -> str:
    """Return the id of the caller's session.

    Raises Forbidden for an API token: a leaked one must not be able to create others, to end sessions or to
    change the password.
    """
    if caller.session_id is None:
        raise Forbidden("An API token cannot do this: log in")
    return caller.session_id


class LivingSessions(Protocol):
    """The part of the sessions that the creation of tokens needs."""

    async def get(self, org_id: OrgId, session_id: str) -> tuple[LoginSession, User] | None: ...


class ApiTokens:
    """A service of API tokens. `forget(hash)` drops a revoked token from this node's authenticator.

    `permissions` are the known keys, `days` is the setting auth.api_token_days.
    """

    def __init__(
        self,
        *,
        store: ApiTokenStore,
        sessions: LivingSessions,
        users: UserService,
        clock: Clock,
        audit: AuditLog,
        forget: Callable[[str], None],
        permissions: PermissionKeys,
        days: float,
    ) -> None:
        self._keys = permissions
        self._store = store
        self._sessions = sessions
        self._users = users
        self._forget = forget
        self._clock = clock
        self._audit = audit
        self._life = timedelta(days=days)
        self.days = days

    def grantable(self, caller: Caller) -> list[str]:
        """List the permissions that the caller may give to a token."""
        return [key for key in self._keys.each if caller.can(key)]

    async def page(self, caller: Caller, page: Page) -> PageOf[ApiToken]:
        """Return one page of the caller's own tokens, newest first."""
        return await self._store.page(caller.org_id, caller.user_id, page)

    async def page_of(self, caller: Caller, user_id: str, page: Page) -> PageOf[ApiToken]:
        """Return one page of a user's tokens of the caller's organization, newest first. Raises NotFound."""
        user = await self._users.get(caller.org_id, user_id)
        return await self._store.page(user.org_id, user.id, page)

    async def create(
        self, caller: Caller, *, name: str, permissions: Sequence[str], expires_at: datetime | str | None
    ) -> tuple[ApiToken, str]:
        """Create a token; return it with its plain text, which is not stored.

        `expires_at` may be NEVER; None: the usual life. Raises Forbidden for a permission that the caller
        lacks, and for NEVER without system.manage, InvalidInput for an end in the past or too far away.
        """
        require_known(self._keys, permissions)
        # Else the token could do what its owner may not before the required actions.
        caller.require_unblocked()
        owner = await self._owner(caller)
        now = self._clock.now()
        ends_at = self._end(caller, expires_at, now)
        if not caller.can_all(permissions):
            raise Forbidden("permissions: you do not hold all of them")
        plain = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        token = ApiToken(
            id=str(uuid4()),
            org_id=caller.org_id,
            user_id=owner.id,
            name=name,
            hash=hash_of(plain),
            permissions=tuple(dict.fromkeys(permissions)),
            created_at=now,
            expires_at=ends_at,
            last_used_at=None,
            epoch=owner.token_epoch,
        )
        await self._store.insert(token)
        details = {
            "name": name,
            "permissions": list(token.permissions),
            "expires_at": optional_text(ends_at) or NEVER,
        }
        await self._audit.record(caller, "api_token.create", "api_token", token.id, details)
        return token, plain

    async def revoke(self, caller: Caller, token_id: str) -> None:
        """Revoke the token: refused here from now on, elsewhere within a second.

        Raises NotFound unless it is the caller's.
        """
        require_session(caller)
        await self._revoke(caller, caller.user_id, token_id)

    async def revoke_of(self, caller: Caller, user_id: str, token_id: str) -> None:
        """Revoke a token of any user of the organization who holds nothing that the caller lacks."""
        user = await self._users.get(caller.org_id, user_id)
        if user.id == caller.user_id:
            require_session(caller)
        require_rank(caller, user)
        await self._revoke(caller, user.id, token_id)

    async def delete_ended(self, org_id: OrgId, user_id: str) -> None:
        """Delete the tokens that a change of the user ended; they are refused already."""
        user = await self._users.find(user_id)
        if user is not None and user.token_epoch:
            await self._store.delete_before(org_id, user_id, user.token_epoch)

    async def resume(self) -> None:
        """Delete what a crash left behind. Called at start."""
        await self._store.delete_orphans()

    async def _owner(self, caller: Caller) -> User:
        """Return the caller's user as read after the session was found to be valid.

        So a token is created in the epoch of that session: if a password reset ends the session, it ends this
        token too, however late the token is stored.
        """
        found = await self._sessions.get(caller.org_id, require_session(caller))
        if found is None:
            raise Unauthenticated(INVALID)
        return found[1]

    def _end(self, caller: Caller, wanted: datetime | str | None, now: datetime) -> datetime | None:
        if wanted is None:
            return now + self._life
        if not isinstance(wanted, datetime):
            if not caller.can("system.manage"):
                raise Forbidden("expires_at: never needs the permission system.manage")
            return None
        if wanted <= now:
            raise InvalidInput("expires_at: must be in the future")
        if wanted - now > max(LONGEST, self._life) and not caller.can("system.manage"):
            raise InvalidInput("expires_at: must be within a year")
        return wanted

    async def _revoke(self, caller: Caller, user_id: str, token_id: str) -> None:
        token = await self._store.get(caller.org_id, user_id, token_id)
        if token is None or not await self._store.delete(token):
            raise NotFound(NOT_FOUND)
        self._forget(token.hash)
        details = {"name": token.name, "user_id": user_id}
        await self._audit.record(caller, "api_token.revoke", "api_token", token.id, details)
