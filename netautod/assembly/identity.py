"""The identity wing: sessions and their tokens, logins, accounts, API tokens, SSH certificates."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from netautod.assembly.installation import Installation
from netautod.core.identity.caller import OrgId
from netautod.http.routing.services import Services
from netautod.identity.auth.account.service import AccountService
from netautod.identity.auth.directory.service import DirectoryLookups
from netautod.identity.auth.lockout.codes import CodeTries
from netautod.identity.auth.lockout.known_addresses import KnownAddresses
from netautod.identity.auth.lockout.service import Lockout
from netautod.identity.auth.lockout.store import FailureCounters
from netautod.identity.auth.otp.codes import OneTimeCodes
from netautod.identity.auth.otp.service import OtpService
from netautod.identity.auth.pages.callers import PageCallers
from netautod.identity.auth.pages.service import PageLogins
from netautod.identity.auth.providers.provisioning import Provisioning
from netautod.identity.auth.providers.registry import LocalProvider, Providers
from netautod.identity.auth.redirect.service import RedirectLogins
from netautod.identity.auth.service import AuthService
from netautod.identity.auth.sessions.activity import SessionActivity
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.seats import Seats
from netautod.identity.auth.sessions.service import Lifetimes, Sessions
from netautod.identity.auth.sessions.token_state import TokenStates
from netautod.identity.auth.ssh_ca.revocation import Revocation
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.auth.tokens.access import AccessTokens
from netautod.identity.auth.tokens.service import ApiTokens
from netautod.identity.auth.tokens.signing_keys import SigningKeys
from netautod.identity.users.principals import PrincipalRules
from netautod.identity.users.required_actions import RequiredActions
from netautod.plugin_api.auth import AuthProvider
from netautod.secrets.vault.vault import INSTALLATION

if TYPE_CHECKING:  # commands about users load no plugins
    from netautod.assembly.base import Base


@dataclass(frozen=True, kw_only=True)
class SessionServices(Services):
    """The access tokens, the callers behind them, their sessions and seats."""

    keys: SigningKeys
    tokens: AccessTokens
    authenticator: Authenticator
    activity: SessionActivity
    required_actions: RequiredActions
    sessions: Sessions
    token_states: TokenStates


@dataclass(frozen=True, kw_only=True)
class LoginServices(Services):
    """The login by password, with its providers, its lockout and its one-time codes."""

    lockout: Lockout
    ssh_ca: SshAuthority
    providers: Providers
    provisioning: Provisioning
    lookups: DirectoryLookups
    otp: OtpService
    auth: AuthService


@dataclass(frozen=True, kw_only=True)
class Identity(LoginServices):
    """The services of the wing."""

    sessions: SessionServices
    account: AccountService
    api_tokens: ApiTokens
    page_callers: PageCallers
    page_logins: PageLogins
    redirect_logins: RedirectLogins
    revocation: Revocation


@asynccontextmanager
async def open_identity(base: "Base") -> AsyncIterator[Identity]:
    """Build the wing, and record activity and look up directories within the block."""
    identity = await build_identity(base, base.plugins.auth_providers().values())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(identity.providers.close)
        await stack.enter_async_context(identity.sessions.activity)
        await stack.enter_async_context(identity.lookups)
        yield identity


async def build_identity(
    installation: Installation,
    directories: Iterable[AuthProvider],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Identity:
    """Build the wing; `directories` are the providers of plugins.

    Changes of users and roles clear the caches of this node. `sleep` delays logins after failures.
    """
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    opened, users = await build_sessions(installation), installation.people.users
    sessions, authenticator = opened.sessions, opened.authenticator
    lockout = build_lockout(installation, sleep=sleep)
    logins = _build_logins(installation, opened, lockout, directories)
    page_callers = PageCallers(
        store=stores.sessions,
        sessions=sessions,
        authenticator=authenticator,
        lookups=logins.lookups,
        clock=clock,
    )
    return Identity(
        **vars(logins),
        sessions=opened,
        account=AccountService(
            users=users, sessions=sessions, lockout=lockout, authenticator=authenticator, audit=audit
        ),
        api_tokens=_build_api_tokens(installation, opened),
        page_callers=page_callers,
        page_logins=_build_page_logins(installation, opened, logins, page_callers),
        redirect_logins=RedirectLogins(
            store=stores.redirects, auth=logins.auth, provisioning=logins.provisioning, clock=clock
        ),
        revocation=Revocation(
            certificates=stores.ssh_certificates,
            authority=logins.ssh_ca,
            sessions=stores.sessions,
            users=users,
            clock=clock,
            audit=audit,
        ),
    )


def _build_page_logins(
    installation: Installation, sessions: SessionServices, logins: LoginServices, callers: PageCallers
) -> PageLogins:
    return PageLogins(
        auth=logins.auth,
        users=installation.people.users,
        lockout=logins.lockout,
        sessions=sessions.sessions,
        callers=callers,
        authenticator=sessions.authenticator,
        store=installation.stores.code_steps,
        clock=installation.clock,
    )


def _build_logins(
    installation: Installation,
    sessions: SessionServices,
    lockout: Lockout,
    directories: Iterable[AuthProvider],
) -> LoginServices:
    people, audit = installation.people, installation.audit
    providers = Providers([LocalProvider(people.users)], directories)
    people.users.provider_names.add(providers.names)
    provisioning = Provisioning(
        users=people.users,
        organizations=people.organizations,
        audit=audit,
        rules=providers.provisioning,
    )
    lookups = DirectoryLookups(
        store=installation.stores.directory_lookups,
        vault=installation.vault,
        providers=providers,
        provisioning=provisioning,
        sessions=sessions.sessions,
        authenticator=sessions.authenticator,
        audit=audit,
        clock=installation.clock,
        interval=timedelta(seconds=installation.settings.auth.directory_lookup_seconds),
    )
    ssh_ca, otp = build_ssh_ca(installation), build_otp(installation, lockout)
    return LoginServices(
        lockout=lockout,
        ssh_ca=ssh_ca,
        providers=providers,
        provisioning=provisioning,
        lookups=lookups,
        otp=otp,
        auth=AuthService(
            providers=providers,
            users=people.users,
            organizations=people.organizations,
            sessions=sessions.sessions,
            lockout=lockout,
            authenticator=sessions.authenticator,
            audit=audit,
            provisioning=provisioning,
            ssh_ca=ssh_ca,
            lookups=lookups,
            otp=otp,
            required_actions=sessions.required_actions,
        ),
    )


async def build_sessions(installation: Installation) -> SessionServices:
    stores, clock, settings = installation.stores, installation.clock, installation.settings
    users = installation.people.users
    keys = await SigningKeys.open(store=stores.signing_keys, vault=installation.vault, clock=clock)
    required_actions = RequiredActions(require_otp_roles=settings.auth.require_otp_roles)
    tokens = AccessTokens(keys, clock=clock, lifetime_seconds=settings.auth.access_token_seconds)
    activity = SessionActivity(stores.sessions, stores.api_tokens, settings.license)
    return SessionServices(
        keys=keys,
        tokens=tokens,
        authenticator=Authenticator(
            session_store=stores.sessions,
            token_store=stores.api_tokens,
            tokens=tokens,
            users=users,
            clock=clock,
            required_actions=required_actions,
            cache_seconds=settings.auth.session_cache_seconds,
            activity=activity,
        ),
        activity=activity,
        required_actions=required_actions,
        sessions=_build_session_service(installation, tokens),
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


def _build_session_service(installation: Installation, tokens: AccessTokens) -> Sessions:
    stores, clock, settings = installation.stores, installation.clock, installation.settings
    users = installation.people.users
    return Sessions(
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


def build_ssh_ca(installation: Installation) -> SshAuthority:
    return SshAuthority(
        store=installation.stores.ssh_authorities,
        certificates=installation.stores.ssh_certificates,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        principals=PrincipalRules(installation.settings.ssh_ca.reserved_principals),
    )


def build_lockout(
    installation: Installation, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> Lockout:
    settings, database = installation.settings.auth, installation.database
    failures, locked = settings.lockout_failures, timedelta(seconds=settings.lockout_seconds)
    return Lockout(
        counters=FailureCounters(
            database, limit=failures, window=timedelta(seconds=settings.lockout_window), lockout=locked
        ),
        known=KnownAddresses(database),
        codes=CodeTries(database, lockout=locked),
        failures=failures,
        account_key=partial(installation.vault.derived_key, INSTALLATION, "login failures"),
        clock=installation.clock,
        sleep=sleep,
    )


def build_otp(installation: Installation, lockout: Lockout) -> OtpService:
    codes = OneTimeCodes(store=installation.stores.otp, vault=installation.vault, clock=installation.clock)
    return OtpService(codes=codes, users=installation.people.users, lockout=lockout, audit=installation.audit)


def _build_api_tokens(installation: Installation, sessions: SessionServices) -> ApiTokens:
    """Build the service; changes of users and roles clear the cache, and end or delete API tokens."""
    people, authenticator = installation.people, sessions.authenticator
    stored = installation.stores.api_tokens
    api_tokens = ApiTokens(
        store=stored,
        sessions=sessions.sessions,
        users=people.users,
        clock=installation.clock,
        audit=installation.audit,
        forget=authenticator.forget_api_token,
        permissions=people.permissions,
        days=installation.settings.auth.api_token_days,
    )

    async def forget(org_id: OrgId, record_id: str) -> None:
        authenticator.forget_all()

    people.users.changed.register(forget)
    people.roles.changed.register(forget)
    people.users.changed.register(api_tokens.delete_ended)
    people.users.deleted.register(stored.delete_of)
    return api_tokens
