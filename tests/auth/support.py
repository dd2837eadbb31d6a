"""Nodes of one service on a test's database: each with its own key ring, session cache and HTTP server."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from netautod.audit.service import AuditLog
from netautod.auth.account.service import AccountService
from netautod.auth.authenticator import Authenticator
from netautod.auth.lockout.service import Lockout, LockoutRules
from netautod.auth.models import IssuedTokens, LoginRequest
from netautod.auth.providers import LocalProvider, Providers
from netautod.auth.provisioning import Provisioning
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
from netautod.core.identity import OrgId, RequestInfo
from netautod.plugin_api.auth import AuthProvider
from netautod.users.roles.service import RoleService
from netautod.users.service import UserService
from netautod.vault.vault import INSTALLATION, Vault
from tests.support.client import ApiClient
from tests.support.serving import Servers
from tests.users.support import PASSWORD, Installation, MovableClock, install

INFO = RequestInfo(ip_address="192.0.2.1", request_id="request-1", user_agent="tests")
NodeStarter = Callable[[], Awaitable["Node"]]


@dataclass(frozen=True, kw_only=True)
class Node:
    installation: Installation
    clock: MovableClock
    keys: SigningKeys
    tokens: AccessTokens
    authenticator: Authenticator
    sessions: Sessions
    lockout: Lockout
    auth: AuthService
    account: AccountService
    api_tokens: ApiTokens
    roles: RoleService
    users: UserService
    ssh_ca: SshAuthority
    pauses: list[float]

    async def log_in(self, username: str = "admin", password: str = PASSWORD) -> IssuedTokens:
        return await self.auth.login("local", LoginRequest(username=username, password=password), INFO)

    async def documents(self, collection: str, where: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return await self.installation.database.collection(collection).find(where or {})

    async def actions(self) -> list[str]:
        events = await self.installation.database.collection("audit_events").find({}, sort=[("at", 1)])
        return [event["action"] for event in events if event["action"].startswith("auth.")]


async def start_node(
    installation: Installation,
    vault: Vault,
    clock: MovableClock,
    *,
    plugins: Sequence[AuthProvider] = (),
    seats: int = 0,
) -> Node:
    database = installation.database
    audit = AuditLog(database, clock)
    # Each node has its own services, which tell its own caches only.
    users = install(database, installation.hasher, clock).users
    keys = await SigningKeys.open(SigningKeyStore(database), vault=vault, clock=clock)
    tokens = AccessTokens(keys, clock=clock, lifetime_seconds=3600)
    authenticator = Authenticator(database, tokens=tokens, users=users, clock=clock, cache_seconds=1.0)
    lifetimes = Lifetimes(refresh=timedelta(days=7), family=timedelta(days=30))
    sessions = Sessions(
        database,
        tokens=tokens,
        users=users,
        clock=clock,
        lifetimes=lifetimes,
        seats=Seats(
            store=SeatStore(database),
            sessions=SessionStore(database),
            users=users,
            clock=clock,
            count=seats,
            idle_minutes=120,
        ),
    )
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    ssh_ca = SshAuthority(
        store=SshAuthorityStore(database),
        vault=vault,
        clock=clock,
        audit=audit,
        reserved_principals=("root",),
    )
    key = await vault.derived_key(INSTALLATION, "login failures")
    providers = Providers([LocalProvider(users)], plugins)
    lockout = Lockout(database, rules=LockoutRules(), account_key=key, clock=clock, sleep=pause)
    auth = AuthService(
        providers=providers,
        users=users,
        organizations=installation.organizations,
        sessions=sessions,
        lockout=lockout,
        authenticator=authenticator,
        audit=audit,
        provisioning=Provisioning(
            users=users, organizations=installation.organizations, rules=providers.provisioning
        ),
        ssh_ca=ssh_ca,
    )
    account = AccountService(
        users=users, sessions=sessions, lockout=lockout, authenticator=authenticator, audit=audit
    )
    api_tokens = ApiTokens(database, clock=clock, audit=audit, forget=authenticator.forget_api_token)
    roles = RoleService(database, clock=clock, audit=audit)

    async def forget(org_id: OrgId, record_id: str) -> None:
        authenticator.forget_all()

    users.changed.register(forget)
    roles.changed.register(forget)
    users.deleted.register(api_tokens.follow_deleted_user)
    return Node(
        installation=installation,
        clock=clock,
        keys=keys,
        tokens=tokens,
        authenticator=authenticator,
        sessions=sessions,
        lockout=lockout,
        auth=auth,
        account=account,
        api_tokens=api_tokens,
        roles=roles,
        users=users,
        ssh_ca=ssh_ca,
        pauses=pauses,
    )


def serve_node(servers: Servers, node: Node, *more: object, port: int = 0) -> ApiClient:
    """The node over HTTP, with the services that it has and `more`."""
    services = (
        node.account,
        node.api_tokens,
        AuditLog(node.installation.database, node.clock),
        node.auth,
        node.roles,
        node.ssh_ca,
        node.users,
        *more,
    )
    return servers.listen(services, authenticate=node.authenticator.authenticate, port=port)
