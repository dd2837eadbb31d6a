"""API tokens for machines: made once, shown once, scoped, and as strong as their owner at most."""

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import uuid4

from netautod.audit.service import AuditLog
from netautod.auth.models import ApiToken
from netautod.auth.tokens.store import ApiTokenStore
from netautod.core.clock import Clock
from netautod.core.errors import Forbidden, InvalidInput, NotFound
from netautod.core.identity import Caller
from netautod.core.pages import Page, PageOf

PREFIX = "nat_"
TOKEN_BYTES = 32
FORM = re.compile(r"nat_[A-Za-z0-9_-]{43}")
NOT_FOUND = "Token not found"


def is_api_token(text: str) -> bool:
    return FORM.fullmatch(text) is not None


def hash_of(token: str) -> str:
    """Its 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def require_session(caller: Caller) -> str:
    """The id of the caller's session. Raises Forbidden for an API token: one that leaked must not be able
    to make others, to end sessions or to change the password."""
    if caller.session_id is None:
        raise Forbidden("An API token cannot do this: log in")
    return caller.session_id


class ApiTokens:
    """A user's own tokens. `forget(hash)` tells this node's authenticator of a token that was revoked."""

    def __init__(
        self, *, store: ApiTokenStore, clock: Clock, audit: AuditLog, forget: Callable[[str], None]
    ) -> None:
        self._store = store
        self._forget = forget
        self._clock = clock
        self._audit = audit

    async def page(self, caller: Caller, page: Page) -> PageOf[ApiToken]:
        """The caller's own tokens, newest first."""
        return await self._store.page(caller.org_id, caller.user_id, page)

    async def create(
        self, caller: Caller, *, name: str, permissions: Sequence[str], expires_at: datetime | None
    ) -> tuple[ApiToken, str]:
        """The token and its plain text, which is not kept. Raises Forbidden for a permission that the
        caller lacks, InvalidInput for an end in the past.
        """
        require_session(caller)
        now = self._clock.now()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput("expires_at: must be in the future")
        if not caller.can_all(permissions):
            raise Forbidden("permissions: some of them you do not hold")
        plain = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        token = ApiToken(
            id=str(uuid4()),
            org_id=caller.org_id,
            user_id=caller.user_id,
            name=name,
            hash=hash_of(plain),
            permissions=tuple(dict.fromkeys(permissions)),
            created_at=now,
            expires_at=expires_at,
            last_used_at=None,
        )
        await self._store.insert(token)
        details = {"name": name, "permissions": list(token.permissions)}
        await self._audit.record(caller, "api_token.create", "api_token", token.id, details)
        return token, plain

    async def revoke(self, caller: Caller, token_id: str) -> None:
        """The token is refused here from now on, elsewhere within a second. NotFound unless the caller's."""
        require_session(caller)
        token = await self._store.get(caller.org_id, caller.user_id, token_id)
        if token is None or not await self._store.delete(token):
            raise NotFound(NOT_FOUND)
        self._forget(token.hash)
        await self._audit.record(caller, "api_token.revoke", "api_token", token.id, {"name": token.name})

    async def resume(self) -> None:
        """Called at start: what a crash after the deletion of a user left behind."""
        await self._store.delete_orphans()
