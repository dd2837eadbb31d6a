"""The part of the composition root about sessions: access tokens, who they stand for, refreshing, seats."""

from dataclasses import dataclass
from datetime import timedelta

from netautod.assembly.data.stores import Stores
from netautod.assembly.settings import Settings
from netautod.core.clock import Clock
from netautod.identity.auth.sessions.activity import SessionActivity
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.seats import Seats
from netautod.identity.auth.sessions.service import Lifetimes, Sessions
from netautod.identity.auth.sessions.token_state import TokenStates
from netautod.identity.auth.tokens.access import AccessTokens
from netautod.identity.auth.tokens.signing_keys import SigningKeys
from netautod.identity.users.required_actions import RequiredActions
from netautod.identity.users.service import UserService
from netautod.secrets.vault.vault import Vault


@dataclass(frozen=True, kw_only=True)
class SessionParts:
    keys: SigningKeys
    tokens: AccessTokens
    authenticator: Authenticator
    activity: SessionActivity
    required_actions: RequiredActions
    sessions: Sessions
    token_states: TokenStates


async def sessions_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    users: UserService,
    settings: Settings,
) -> SessionParts:
    keys = await SigningKeys.open(store=stores.signing_keys, vault=vault, clock=clock)
    required_actions = RequiredActions(require_otp_roles=settings.auth.require_otp_roles)
    tokens = AccessTokens(keys, clock=clock, lifetime_seconds=settings.auth.access_token_seconds)
    activity = SessionActivity(stores.sessions, stores.api_tokens, settings.license)
    authenticator = Authenticator(
        session_store=stores.sessions,
        token_store=stores.api_tokens,
        tokens=tokens,
        users=users,
        clock=clock,
        required_actions=required_actions,
        cache_seconds=settings.auth.session_cache_seconds,
        activity=activity,
    )
    sessions = Sessions(
        store=stores.sessions,
        refresh_tokens=stores.refresh_tokens,
        tokens=tokens,
        users=users,
        clock=clock,
        lifetimes=Lifetimes(
            refresh=timedelta(days=settings.auth.refresh_token_days),
            family=timedelta(days=settings.auth.refresh_family_days),
            console_idle=timedelta(minutes=settings.console.idle_minutes),
        ),
        seats=Seats(
            store=stores.seats,
            sessions=stores.sessions,
            users=users,
            clock=clock,
            count=settings.license.seats,
            idle_minutes=settings.license.seat_idle_minutes,
        ),
    )
    return SessionParts(
        keys=keys,
        tokens=tokens,
        authenticator=authenticator,
        activity=activity,
        required_actions=required_actions,
        sessions=sessions,
        token_states=TokenStates(
            session_store=stores.sessions,
            token_store=stores.api_tokens,
            tokens=tokens,
            users=users,
            clock=clock,
            required_actions=required_actions,
            activity=activity,
        ),
    )
