"""The part of the composition root about logins: lockout, providers, accounts, tokens, SSH certificates."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.sessions import SessionParts
from netautod.assembly.parts.users import UserParts
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
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
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.settings import AuthSettings, SshCaSettings
from netautod.identity.auth.ssh_ca.revocation import Revocation
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.auth.tokens.service import ApiTokens
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.identity.users.principals import PrincipalRules
from netautod.plugin_api.auth import AuthProvider
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Database


@dataclass(frozen=True, kw_only=True)
class AuthParts:
    account: AccountService
    api_tokens: ApiTokens
    auth: AuthService
    lookups: DirectoryLookups
    providers: Providers
    otp: OtpService
    page_callers: PageCallers
    page_logins: PageLogins
    redirect_logins: RedirectLogins
    revocation: Revocation

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return (
            self.account,
            self.api_tokens,
            self.auth,
            self.otp,
            self.page_logins,
            self.redirect_logins,
            self.revocation,
        )


def ssh_ca_of(
    *, stores: Stores, vault: Vault, clock: Clock, audit: AuditLog, settings: SshCaSettings
) -> SshAuthority:
    return SshAuthority(
        store=stores.ssh_authorities,
        certificates=stores.ssh_certificates,
        vault=vault,
        clock=clock,
        audit=audit,
        principals=PrincipalRules(settings.reserved_principals),
    )


async def lockout_of(
    *,
    database: Database,
    vault: Vault,
    clock: Clock,
    settings: AuthSettings,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Lockout:
    counters = FailureCounters(
        database,
        limit=settings.lockout_failures,
        window=timedelta(seconds=settings.lockout_window),
        lockout=timedelta(seconds=settings.lockout_seconds),
    )
    key = await vault.derived_key(INSTALLATION, "login failures")
    failures = settings.lockout_failures
    return Lockout(
        counters=counters,
        known=KnownAddresses(database),
        codes=CodeTries(database, lockout=timedelta(seconds=settings.lockout_seconds)),
        failures=failures,
        account_key=key,
        clock=clock,
        sleep=sleep,
    )


def otp_of(
    *, stores: Stores, vault: Vault, clock: Clock, people: UserParts, lockout: Lockout, audit: AuditLog
) -> OtpService:
    codes = OneTimeCodes(store=stores.otp, vault=vault, clock=clock)
    return OtpService(codes=codes, users=people.users, lockout=lockout, audit=audit)


def lookups_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    sessions: SessionParts,
    providers: Providers,
    provisioning: Provisioning,
    settings: AuthSettings,
) -> DirectoryLookups:
    return DirectoryLookups(
        store=stores.directory_lookups,
        vault=vault,
        providers=providers,
        provisioning=provisioning,
        sessions=sessions.sessions,
        authenticator=sessions.authenticator,
        audit=audit,
        clock=clock,
        interval=timedelta(seconds=settings.directory_lookup_seconds),
    )


def account_of(
    *, people: UserParts, sessions: SessionParts, lockout: Lockout, audit: AuditLog
) -> AccountService:
    return AccountService(
        users=people.users,
        sessions=sessions.sessions,
        lockout=lockout,
        authenticator=sessions.authenticator,
        audit=audit,
    )


def api_tokens_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    people: UserParts,
    sessions: SessionParts,
    settings: AuthSettings,
) -> ApiTokens:
    """Changes of `people` clear the cache of this node."""
    authenticator = sessions.authenticator
    api_tokens = ApiTokens(
        store=stores.api_tokens,
        sessions=sessions.sessions,
        users=people.users,
        clock=clock,
        audit=audit,
        forget=authenticator.forget_api_token,
        permissions=people.permissions,
        days=settings.api_token_days,
    )
    _follow(people, authenticator, api_tokens, stores.api_tokens)
    return api_tokens


def revocation_of(
    *, stores: Stores, clock: Clock, audit: AuditLog, people: UserParts, ssh_ca: SshAuthority
) -> Revocation:
    return Revocation(
        certificates=stores.ssh_certificates,
        authority=ssh_ca,
        sessions=stores.sessions,
        users=people.users,
        clock=clock,
        audit=audit,
    )


def logins_of(
    *,
    people: UserParts,
    sessions: SessionParts,
    lockout: Lockout,
    audit: AuditLog,
    ssh_ca: SshAuthority,
    providers: Providers,
    provisioning: Provisioning,
    lookups: DirectoryLookups,
    otp: OtpService,
) -> AuthService:
    return AuthService(
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
    )


def auth_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    people: UserParts,
    sessions: SessionParts,
    lockout: Lockout,
    ssh_ca: SshAuthority,
    directories: Iterable[AuthProvider],
    settings: AuthSettings,
) -> AuthParts:
    """`directories` are the providers of plugins. Changes of `people` clear the caches of this node."""
    providers = Providers([LocalProvider(people.users)], directories)
    people.users.provider_names.add(providers.names)
    provisioning = Provisioning(
        users=people.users, organizations=people.organizations, rules=providers.provisioning
    )
    lookups = lookups_of(
        stores=stores,
        vault=vault,
        clock=clock,
        audit=audit,
        sessions=sessions,
        providers=providers,
        provisioning=provisioning,
        settings=settings,
    )
    otp = otp_of(stores=stores, vault=vault, clock=clock, people=people, lockout=lockout, audit=audit)
    auth = logins_of(
        people=people,
        sessions=sessions,
        lockout=lockout,
        audit=audit,
        ssh_ca=ssh_ca,
        providers=providers,
        provisioning=provisioning,
        lookups=lookups,
        otp=otp,
    )
    page_callers = PageCallers(
        store=stores.sessions,
        sessions=sessions.sessions,
        authenticator=sessions.authenticator,
        lookups=lookups,
        clock=clock,
    )
    return AuthParts(
        account=account_of(people=people, sessions=sessions, lockout=lockout, audit=audit),
        api_tokens=api_tokens_of(
            stores=stores, clock=clock, audit=audit, people=people, sessions=sessions, settings=settings
        ),
        auth=auth,
        lookups=lookups,
        providers=providers,
        otp=otp,
        page_callers=page_callers,
        page_logins=PageLogins(
            auth=auth,
            users=people.users,
            lockout=lockout,
            sessions=sessions.sessions,
            callers=page_callers,
            authenticator=sessions.authenticator,
            store=stores.code_steps,
            clock=clock,
        ),
        redirect_logins=RedirectLogins(
            store=stores.redirects, auth=auth, provisioning=provisioning, clock=clock
        ),
        revocation=revocation_of(stores=stores, clock=clock, audit=audit, people=people, ssh_ca=ssh_ca),
    )


def _follow(
    people: UserParts, authenticator: Authenticator, api_tokens: ApiTokens, stored: ApiTokenStore
) -> None:
    """Changes of users and roles clear the cache of the authenticator; ended and orphaned API tokens go."""

    async def forget(org_id: OrgId, record_id: str) -> None:
        authenticator.forget_all()

    people.users.changed.register(forget)
    people.roles.changed.register(forget)
    people.users.changed.register(api_tokens.delete_ended)
    people.users.deleted.register(stored.delete_of)
