"""The caller of a request, found by its token: token, session and user are checked on every request.

Access tokens (JWTs) stand for a session, API tokens (`nat_...`) for some of their owner's permissions. The
state of session, API token and user is read from the database and kept for `cache_seconds`, so that a session
that ends on another node is refused after that time at the latest.
"""

import asyncio
from functools import partial

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId, RequestInfo
from netautod.core.identity.refusals import TokenRefused
from netautod.core.loop.shared_reads import SharedReads
from netautod.identity.auth.models import ApiToken, LoginSession
from netautod.identity.auth.sessions.activity import SessionActivity
from netautod.identity.auth.sessions.store import SessionStore
from netautod.identity.auth.sessions.token_state import TokenState, state_of_session, state_of_token
from netautod.identity.auth.tokens.access import INVALID, AccessTokens
from netautod.identity.auth.tokens.service import hash_of, is_api_token
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.identity.users.required_actions import RequiredActions
from netautod.identity.users.service import UserService

MAX_CACHED = 10_000


class Authenticator:
    def __init__(
        self,
        *,
        session_store: SessionStore,
        token_store: ApiTokenStore,
        tokens: AccessTokens,
        users: UserService,
        clock: Clock,
        required_actions: RequiredActions,
        cache_seconds: float,
        activity: SessionActivity,
    ) -> None:
        self._session_store = session_store
        self._token_store = token_store
        self._tokens = tokens
        self._users = users
        self._clock = clock
        self._required_actions = required_actions
        self._activity = activity
        # Two caches, so that a flood of made-up API tokens does not evict the sessions.
        self._sessions: SharedReads[TokenState[LoginSession]] = SharedReads(
            clock=clock, seconds=cache_seconds, size=MAX_CACHED
        )
        self._api_tokens: SharedReads[TokenState[ApiToken]] = SharedReads(
            clock=clock, seconds=cache_seconds, size=MAX_CACHED
        )

    async def authenticate(self, token: str, info: RequestInfo) -> Caller:
        """Return the caller with the permissions that the database holds now; raises TokenRefused."""
        if is_api_token(token):
            return await self._by_api_token(hash_of(token), info)
        claims = await self._tokens.verify(token)
        state = await self.session(claims.org_id, claims.session_id, claims.user_id)
        if state is None:
            raise claims.refusal()
        return self.caller_by(state, info)

    async def session(self, org_id: OrgId, session_id: str, user_id: str) -> TokenState[LoginSession] | None:
        """Return the session if it is that user's and still valid."""
        read = partial(self._read_session, org_id, session_id, user_id)
        state = await self._sessions.get(session_id, read)
        if state is None or not state.holds(self._clock.now()):
            return None
        same = state.user.id == user_id and state.user.org_id == org_id
        return state if same else None

    def caller_by(self, state: TokenState[LoginSession], info: RequestInfo) -> Caller:
        """Return the caller of a request with this session."""
        self._activity.note(state.holder, self._clock.now())
        return state.caller(self._required_actions, info, session_id=state.holder.id)

    def forget_session(self, session_id: str) -> None:
        """Forget the session after this node changed it: its next request reads it anew, past a running
        read."""
        self._sessions.forget(session_id)

    def forget_api_token(self, token_hash: str) -> None:
        self._api_tokens.forget(token_hash)

    def forget_all(self) -> None:
        """Forget all after this node changed a user or a role: at most the reads of one second are
        repeated."""
        self._sessions.forget_all()
        self._api_tokens.forget_all()

    async def _by_api_token(self, token_hash: str, info: RequestInfo) -> Caller:
        """Return a caller without a session, whose permissions never exceed the owner's of now."""
        state = await self._api_tokens.get(token_hash, lambda: self._read_api_token(token_hash))
        if state is None:
            raise TokenRefused(INVALID)
        caller = state.caller(self._required_actions, info, token=state.holder.used)
        if not state.holds(self._clock.now()):
            raise TokenRefused(INVALID, caller)
        return caller

    async def _read_session(
        self, org_id: OrgId, session_id: str, user_id: str
    ) -> TokenState[LoginSession] | None:
        session, user = await asyncio.gather(
            self._session_store.get(org_id, session_id), self._users.find(user_id)
        )
        if session is None or user is None:
            return None
        now = self._clock.now()
        if session.holds(user, now):
            await self._activity.record_activity(session, now)
        return state_of_session(session, user)

    async def _read_api_token(self, token_hash: str) -> TokenState[ApiToken] | None:
        token = await self._token_store.by_hash(token_hash)
        user = await self._users.find(token.user_id) if token is not None else None
        if token is None or user is None:
            return None
        now = self._clock.now()
        if token.holds(user, now):
            await self._activity.record_use(token, now)
        return state_of_token(token, user)
