"""The state of tokens in the database: their users and permissions now; for many tokens at once, too.

The second is for clients that stay connected.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, RequestInfo, UsedToken
from netautod.core.identity.permissions import common_permissions
from netautod.core.identity.refusals import TokenRefused
from netautod.identity.auth.models import ApiToken, LoginSession
from netautod.identity.auth.sessions.activity import SessionActivity
from netautod.identity.auth.sessions.store import SessionStore
from netautod.identity.auth.tokens.access import AccessClaims, AccessTokens
from netautod.identity.auth.tokens.service import hash_of, is_api_token
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.identity.users.models import User
from netautod.identity.users.required_actions import RequiredActions
from netautod.identity.users.service import UserService

H = TypeVar("H", LoginSession, ApiToken)
NO_REQUEST = RequestInfo(ip_address="", request_id="", user_agent="")


@dataclass(frozen=True, kw_only=True)
class TokenState(Generic[H]):
    """The session or API token behind a presented token, and its user."""

    holder: H
    user: User
    permissions: frozenset[str]

    def holds(self, now: datetime) -> bool:
        return self.holder.holds(self.user, now)

    def caller(
        self,
        required_actions: RequiredActions,
        info: RequestInfo,
        *,
        session_id: str | None = None,
        token: UsedToken | None = None,
    ) -> Caller:
        return Caller(
            user_id=self.user.id,
            org_id=self.user.org_id,
            username=self.user.username,
            permissions=self.permissions,
            session_id=session_id,
            token=token,
            blocked=required_actions.of(self.user, by_session=session_id is not None),
            ip_address=info.ip_address,
            request_id=info.request_id,
        )


def state_of_session(session: LoginSession, user: User) -> TokenState[LoginSession]:
    return TokenState(holder=session, user=user, permissions=user.granted)


def state_of_token(token: ApiToken, user: User) -> TokenState[ApiToken]:
    """Return the state with the token's permissions, which never exceed the owner's of now."""
    permissions = common_permissions(frozenset(token.permissions), user.granted)
    return TokenState(holder=token, user=user, permissions=permissions)


class TokenStates:
    """A reader of many tokens' states in a few round trips, past the cache of single requests."""

    def __init__(
        self,
        *,
        session_store: SessionStore,
        token_store: ApiTokenStore,
        tokens: AccessTokens,
        users: UserService,
        clock: Clock,
        required_actions: RequiredActions,
        activity: SessionActivity,
    ) -> None:
        self._session_store = session_store
        self._token_store = token_store
        self._tokens = tokens
        self._users = users
        self._clock = clock
        self._required_actions = required_actions
        self._activity = activity

    async def callers(self, tokens: Collection[str]) -> Mapping[str, Caller]:
        """Return the caller of each token that is still valid, with the current permissions. Raises
        Unavailable.

        A connected client is active: that is recorded, as with requests.
        """
        claims, hashes = await self._sorted(tokens)
        sessions, api_tokens = await asyncio.gather(
            self._session_store.many(list({one.session_id for one in claims.values()})),
            self._token_store.by_hashes(list(hashes.values())),
        )
        owners = [one.user_id for one in sessions] + [one.user_id for one in api_tokens]
        users = await self._users.find_many(owners)
        now = self._clock.now()
        of_sessions = {
            one.id: state_of_session(one, users[one.user_id])
            for one in sessions
            if one.user_id in users and one.holds(users[one.user_id], now)
        }
        of_tokens = {
            one.hash: state_of_token(one, users[one.user_id])
            for one in api_tokens
            if one.user_id in users and one.holds(users[one.user_id], now)
        }
        for session in of_sessions.values():
            self._activity.note(session.holder, now)
            await self._activity.record_activity(session.holder, now)
        for token in of_tokens.values():
            await self._activity.record_use(token.holder, now)
        return {
            **{
                text: self._of_session(of_sessions[claim.session_id])
                for text, claim in claims.items()
                if claim.session_id in of_sessions and _is_of(of_sessions[claim.session_id], claim)
            },
            **{text: self._of_token(of_tokens[one]) for text, one in hashes.items() if one in of_tokens},
        }

    def _of_session(self, state: TokenState[LoginSession]) -> Caller:
        return state.caller(self._required_actions, NO_REQUEST, session_id=state.holder.id)

    def _of_token(self, state: TokenState[ApiToken]) -> Caller:
        return state.caller(self._required_actions, NO_REQUEST, token=state.holder.used)

    async def _sorted(self, tokens: Collection[str]) -> tuple[Mapping[str, AccessClaims], Mapping[str, str]]:
        """Return the claims of the valid access tokens, and the hashes of the API tokens."""
        claims: dict[str, AccessClaims] = {}
        for text in tokens:
            if is_api_token(text):
                continue
            try:
                claims[text] = await self._tokens.verify(text)
            except TokenRefused:
                continue
        return claims, {text: hash_of(text) for text in tokens if is_api_token(text)}


def _is_of(state: TokenState[LoginSession], claims: AccessClaims) -> bool:
    return state.user.id == claims.user_id and state.user.org_id == claims.org_id
