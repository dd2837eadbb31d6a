"""The whole service with its console on a random port; cookies stand for callers, so that nobody logs in."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from uuid import uuid4

from netautod.assembly import routes
from netautod.assembly.build import Service, build
from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import Installation, open_installation
from netautod.assembly.settings import Settings, table
from netautod.automation.executions.abandoned.watched import Watched
from netautod.console.settings import ConsoleSettings
from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, OrgId, RequestInfo
from netautod.core.identity.permissions import of_roles
from netautod.http.context import HttpContext
from netautod.http.settings import LimitSettings
from netautod.http.status.health import Health
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.client import Database
from netautod.store.settings import MongoDBSettings
from netautod.transport.outbound.settings import OutboundSettings
from tests.support.client import ApiClient
from tests.support.databases import PATIENT_SECONDS
from tests.support.pages import Browser
from tests.support.serving import serve_application

CONSOLE = ConsoleSettings()


@dataclass(frozen=True, kw_only=True)
class Site:
    service: Service
    installation: Installation
    base_url: str
    callers: dict[str, Caller]
    admin: Caller

    def browser(self, *permissions: str, org_id: str | None = None, **fields: object) -> Browser:
        """Somebody with just these permissions, in the administrator's organization unless given another."""
        cookie = uuid4().hex
        caller = replace(
            self.admin,
            permissions=of_roles(permissions),
            org_id=OrgId(org_id or self.admin.org_id),
            **fields,  # type: ignore[arg-type]
        )
        self.callers[cookie] = caller
        return Browser(base_url=self.base_url, cookie=cookie, caller=caller)

    def api(self, browser: Browser | None = None) -> ApiClient:
        """The API in the name of the same caller, else of the administrator."""
        token = browser.cookie if browser is not None else self.browser("*").cookie
        return ApiClient(base_url=self.base_url, description=routes.description(), token=token)

    async def _authenticate(self, token: str, info: RequestInfo) -> Caller:
        if token not in self.callers:
            raise Unauthenticated("Invalid or expired token")
        return replace(self.callers[token], ip_address=info.ip_address, request_id=info.request_id)

    def replace_login(self) -> None:
        settings = self.service.application.settings
        settings["context"] = replace(
            cast(HttpContext, settings["context"]),
            authenticate=self._authenticate,
            page_caller=lambda cookie, info, by_person: self._authenticate(cookie, info),
        )


@asynccontextmanager
async def open_site(
    database: Database, folder: Path, *, console: ConsoleSettings = CONSOLE
) -> AsyncIterator[Site]:
    settings = Settings(
        data_dir=folder,
        console=console,
        admin_password="correct horse battery staple",
        limits=LimitSettings(requests_per_second=0, anonymous_per_second=0),
        outbound=OutboundSettings(allow=("127.0.0.1",)),
        # A page asks the database more often than most requests do, and a loaded machine is no failure.
        mongodb=MongoDBSettings(timeout_seconds=PATIENT_SECONDS),
    )
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(open_installation(settings, database))
        configuration = Configuration(settings=settings, plugins=LoadedPlugins.load(table()))
        service = await stack.enter_async_context(build(configuration, installation, _health, Watched()))
        server, url = serve_application(service.application)
        (admin,) = await installation.people.users.all_users()
        made = Site(
            service=service,
            installation=installation,
            base_url=url,
            callers={},
            admin=Caller(
                user_id=admin.id,
                org_id=admin.org_id,
                username=admin.username,
                permissions=of_roles({"*"}),
                session_id=str(uuid4()),
            ),
        )
        made.replace_login()
        yield made
        server.stop()
        await server.close_all_connections()
        await service.node.drain(5)


async def _health() -> Health:
    return "ok"
