"""The part of the composition root about who may do what: logins, tokens, sessions, users, roles, audit."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from netautod.app.foundation import Foundation
from netautod.app.parts.directories import providers_of, provisioning_of, redirect_logins_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.settings import Settings
from netautod.audit.service import AuditLog
from netautod.auth.account.service import AccountService
from netautod.auth.authenticator import ACTIVITY_INTERVAL, Authenticator
from netautod.auth.redirect.service import RedirectLogins
from netautod.auth.service import AuthService
from netautod.auth.sessions.seats import Seats
from netautod.auth.sessions.service import Lifetimes, Sessions
from netautod.auth.sessions.store import SeatStore, SessionStore
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.auth.ssh_ca.store import SshAuthorityStore
from netautod.auth.tokens.access import AccessTokens
from netautod.auth.tokens.service import ApiTokens
from netautod.auth.tokens.signing_keys import SigningKeys
from netautod.auth.tokens.store import SigningKeyStore
from netautod.core.identity import OrgId
from netautod.system.capabilities.service import Capabilities
from netautod.users.roles.service import RoleService
from netautod.users.service import UserService


@dataclass(frozen=True, kw_only=True)
class AuthParts:
    authenticator: Authenticator
    auth: AuthService
    account: AccountService
    api_tokens: ApiTokens
    capabilities: Capabilities
    ssh_ca: SshAuthority
    redirect_logins: RedirectLogins
    users: UserService
    roles: RoleService
    audit: AuditLog

    @classmethod
    async def build(
        cls, base: Foundation, *, plugins: PluginManager, installed: Mapping[str, bool]
    ) -> "AuthParts":
        """`installed`: which features of capabilities.FEATURES this installation has."""
        keys = await SigningKeys.open(SigningKeyStore(base.database), vault=base.vault, clock=base.clock)
        lifetime = base.settings.auth.access_token_seconds
        tokens = AccessTokens(keys, clock=base.clock, lifetime_seconds=lifetime)
        authenticator = _authenticator(base, tokens)
        sessions = _sessions(base, tokens)
        providers = providers_of(base, plugins)
        provisioning = provisioning_of(base, providers)
        ssh_ca = _ssh_ca(base)
        auth = AuthService(
            providers=providers,
            users=base.users,
            organizations=base.organizations,
            sessions=sessions,
            lockout=base.lockout,
            authenticator=authenticator,
            audit=base.audit,
            provisioning=provisioning,
            ssh_ca=ssh_ca,
        )
        parts = cls(
            authenticator=authenticator,
            auth=auth,
            account=AccountService(
                users=base.users,
                sessions=sessions,
                lockout=base.lockout,
                authenticator=authenticator,
                audit=base.audit,
            ),
            api_tokens=ApiTokens(
                base.database, clock=base.clock, audit=base.audit, forget=authenticator.forget_api_token
            ),
            capabilities=Capabilities(
                instance_name=base.settings.server.instance_name, providers=providers, installed=installed
            ),
            ssh_ca=ssh_ca,
            redirect_logins=redirect_logins_of(base, auth, provisioning),
            users=base.users,
            roles=RoleService(base.database, clock=base.clock, audit=base.audit),
            audit=base.audit,
        )
        parts._connect()
        return parts

    def _connect(self) -> None:
        async def forget(org_id: OrgId, record_id: str) -> None:
            self.authenticator.forget_all()

        self.users.changed.register(forget)
        self.roles.changed.register(forget)
        self.users.deleted.register(self.api_tokens.follow_deleted_user)

    async def resume(self) -> None:
        """Finishes what a crash interrupted."""
        await self.roles.resume()
        await self.api_tokens.resume()

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return (
            self.account,
            self.api_tokens,
            self.audit,
            self.auth,
            self.capabilities,
            self.redirect_logins,
            self.roles,
            self.ssh_ca,
            self.users,
        )


def _ssh_ca(base: Foundation) -> SshAuthority:
    return SshAuthority(
        store=SshAuthorityStore(base.database),
        vault=base.vault,
        clock=base.clock,
        audit=base.audit,
        reserved_principals=base.settings.ssh_ca.reserved_principals,
    )


def _authenticator(base: Foundation, tokens: AccessTokens) -> Authenticator:
    return Authenticator(
        base.database,
        tokens=tokens,
        users=base.users,
        clock=base.clock,
        cache_seconds=base.settings.auth.session_cache_seconds,
        activity_interval=_activity_interval(base.settings),
    )


def _activity_interval(settings: Settings) -> timedelta:
    # Activity has to be known more exactly than the idle time of seats.
    idle = timedelta(minutes=settings.license.seat_idle_minutes)
    return min(ACTIVITY_INTERVAL, idle / 4) if settings.license.seats else ACTIVITY_INTERVAL


def _sessions(base: Foundation, tokens: AccessTokens) -> Sessions:
    times, wanted = base.settings.auth, base.settings.license
    return Sessions(
        base.database,
        tokens=tokens,
        users=base.users,
        clock=base.clock,
        lifetimes=Lifetimes(
            refresh=timedelta(days=times.refresh_token_days), family=timedelta(days=times.refresh_family_days)
        ),
        seats=Seats(
            store=SeatStore(base.database),
            sessions=SessionStore(base.database),
            users=base.users,
            clock=base.clock,
            count=wanted.seats,
            idle_minutes=wanted.seat_idle_minutes,
        ),
    )
