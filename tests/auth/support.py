"""Nodes of one service on a test's database: each with its own key ring, session cache and HTTP server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from netautod.audit.service import AuditLog
from netautod.auth import handlers
from netautod.auth.access_tokens import AccessTokens
from netautod.auth.authenticator import Authenticator
from netautod.auth.lockout import Lockout, LockoutRules
from netautod.auth.models import IssuedTokens, LoginRequest
from netautod.auth.providers import LocalProvider, Providers
from netautod.auth.service import AuthService
from netautod.auth.sessions import Lifetimes, Sessions
from netautod.auth.signing_keys import SigningKeys
from netautod.clock import SystemClock
from netautod.http import openapi
from netautod.http.context import HttpContext, RequestInfo, networks
from netautod.http.limits import RateLimiter
from netautod.http.routes import application
from netautod.users import handlers as user_handlers
from netautod.vault.vault import INSTALLATION, Vault
from tests.support.client import ApiClient
from tests.users.support import PASSWORD, Installation, MovableClock

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
    pauses: list[float]

    async def log_in(self, username: str = "admin", password: str = PASSWORD) -> IssuedTokens:
        return await self.auth.login("local", LoginRequest(username=username, password=password), INFO)

    async def documents(self, collection: str, where: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return await self.installation.database.collection(collection).find(where or {})

    async def actions(self) -> list[str]:
        events = await self.installation.database.collection("audit_events").find({}, sort=[("at", 1)])
        return [event["action"] for event in events if event["action"].startswith("auth.")]


async def start_node(installation: Installation, vault: Vault, clock: MovableClock) -> Node:
    database, users = installation.database, installation.users
    keys = await SigningKeys.open(database, vault=vault, clock=clock)
    tokens = AccessTokens(keys, clock=clock, lifetime_seconds=3600)
    authenticator = Authenticator(database, tokens=tokens, users=users, clock=clock, cache_seconds=1.0)
    lifetimes = Lifetimes(refresh=timedelta(days=7), family=timedelta(days=30))
    sessions = Sessions(database, tokens=tokens, users=users, clock=clock, lifetimes=lifetimes)
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    key = await vault.derived_key(INSTALLATION, "login failures")
    lockout = Lockout(database, rules=LockoutRules(), account_key=key, clock=clock, sleep=pause)
    auth = AuthService(
        providers=Providers([LocalProvider(users)]),
        users=users,
        organizations=installation.organizations,
        sessions=sessions,
        lockout=lockout,
        authenticator=authenticator,
        audit=AuditLog(database, clock),
    )
    return Node(
        installation=installation,
        clock=clock,
        keys=keys,
        tokens=tokens,
        authenticator=authenticator,
        sessions=sessions,
        lockout=lockout,
        auth=auth,
        pauses=pauses,
    )


def serve_node(node: Node) -> tuple[HTTPServer, ApiClient]:
    """The node over HTTP on a random port; it believes an X-Forwarded-For of the tests."""
    listed = [*handlers.routes(node.auth), *user_handlers.routes(node.installation.users)]
    context = HttpContext(
        authenticate=node.authenticator.authenticate,
        limiter=RateLimiter(clock=SystemClock(), rate=0, burst=1),
        trusted_proxies=networks(["127.0.0.1"]),
        cors_origins=frozenset(),
    )
    server = HTTPServer(application(listed, context))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    return server, ApiClient(base_url=url, description=openapi.document(listed))
