"""Nodes of one service on a test's database: each with its own key ring, session cache and HTTP server."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.assembly.identity import Identity, SessionServices, build_identity
from netautod.assembly.settings import Settings
from netautod.console.base.rendering import Renderer
from netautod.console.base.static import StaticFiles
from netautod.console.help.pages import ManualPages
from netautod.console.routes import PAGES, chapters
from netautod.core.identity.caller import RequestInfo
from netautod.core.identity.refusals import Refusals
from netautod.identity.auth.lockout.service import Lockout
from netautod.identity.auth.models import IssuedTokens, LoginRequest
from netautod.identity.auth.service import AuthService
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.settings import AuthSettings, LicenseSettings, SshCaSettings
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.users.service import UserService
from netautod.manual.library import Manual
from netautod.plugin_api.auth import AuthProvider
from tests.support.client import ApiClient
from tests.support.clock import MovableClock
from tests.support.installation import PASSWORD, Installation
from tests.support.serving import Servers

INFO = RequestInfo(ip_address="192.0.2.1", request_id="request-1", user_agent="tests")
NodeStarter = Callable[..., Awaitable["Node"]]
ServeNode = Callable[["Node"], ApiClient]


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node. `pauses`: how long the lockout made logins wait, without waiting."""

    installation: Installation
    logins: SessionServices
    parts: Identity
    lockout: Lockout
    ssh_ca: SshAuthority
    pauses: list[float]

    @property
    def clock(self) -> MovableClock:
        assert isinstance(self.installation.clock, MovableClock)
        return self.installation.clock

    @property
    def auth(self) -> AuthService:
        return self.parts.auth

    @property
    def authenticator(self) -> Authenticator:
        return self.logins.authenticator

    @property
    def users(self) -> UserService:
        return self.installation.users

    async def log_in(self, username: str = "admin", password: str = PASSWORD) -> IssuedTokens:
        return await self.auth.login("local", LoginRequest(username=username, password=password), INFO)

    async def documents(self, collection: str, where: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return await self.installation.database.collection(collection).find(where or {})

    async def actions(self) -> list[str]:
        events = await self.installation.database.collection("audit_events").find({}, sort=[("at", 1)])
        return [event["action"] for event in events if event["action"].startswith("auth.")]


async def start_node(
    installation: Installation,
    *,
    plugins: Sequence[AuthProvider] = (),
    seats: int = 0,
    auth: AuthSettings | None = None,
) -> Node:
    settings = Settings(
        auth=auth or AuthSettings(),
        license=LicenseSettings(seats=seats),
        ssh_ca=SshCaSettings(reserved_principals=("root",)),
    )
    own, pauses = installation.on_another_node(settings=settings), list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    parts = await build_identity(own, plugins, sleep=pause)
    return Node(
        installation=own,
        logins=parts.sessions,
        parts=parts,
        lockout=parts.lockout,
        ssh_ca=parts.ssh_ca,
        pauses=pauses,
    )


def serve_node(servers: Servers, node: Node, *, port: int = 0, refusals: Refusals | None = None) -> ApiClient:
    """Serve the node over HTTP, with the pages that need no other services."""
    people, static = node.installation.people, StaticFiles.read()
    services = (node.installation.audit, people.roles, people.users, *node.parts.services)
    return servers.listen(
        (*services, static, Renderer(static, chapters()), ManualPages(Manual.installed())),
        authenticate=node.authenticator.authenticate,
        page_caller=node.parts.page_callers.caller_of,
        pages=PAGES,
        port=port,
        refusals=refusals,
    )
