"""The whole service with the plugin of these tests, and two of ours, on a random port."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

import netautod_netconf
import netautod_reports
from netautod.assembly.build import build
from netautod.assembly.configuration import Configuration
from netautod.assembly.identity import build_sessions
from netautod.assembly.installation import Installation, open_installation
from netautod.assembly.plugins import collect_additions, load_plugins
from netautod.assembly.routes import description
from netautod.assembly.settings import Settings
from netautod.automation.executions.abandoned.watched import Watched
from netautod.core.identity.caller import OrgId, RequestInfo, system_caller
from netautod.core.identity.permissions import PermissionKeys
from netautod.http.settings import LimitSettings
from netautod.http.status.health import Health
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.users.models import NewUser
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.client import Database
from tests.plugins.additions import lab
from tests.support.client import ApiClient
from tests.support.serving import serve_application

PASSWORD = "correct horse battery staple"
INFO = RequestInfo(ip_address="192.0.2.1", request_id="additions", user_agent="additions")
PLUGINS = {"lab": lab, "reports": netautod_reports, "netconf": netautod_netconf}


@dataclass(frozen=True, kw_only=True)
class Running:
    """A service with plugins.

    `client` has no token; `admin` may do everything, `stranger` too, in another organization.
    """

    client: ApiClient
    sessions: Sessions
    installation: Installation
    organization: OrgId
    data_dir: Path

    async def user(self, name: str, *permissions: str) -> ApiClient:
        """Create a user of the organization, with a role of these permissions."""
        admin = await self.logged_in("admin")
        (await admin.post("/api/roles", {"name": name, "permissions": permissions})).expect(201)
        caller = system_caller(await self.installation.people.organizations.default_id())
        people = self.installation.people.users
        await people.create(caller, NewUser(username=name, password=PASSWORD, roles=(name,)))
        return await self.logged_in(name)

    async def logged_in(self, name: str) -> ApiClient:
        users = {user.username: user for user in await self.installation.people.users.all_users()}
        _, tokens = await self.sessions.begin(
            users[name], client_type="admin_ui", auth_provider="local", info=INFO
        )
        return self.client.with_token(tokens.access_token)


@pytest.fixture(scope="module")
async def running(
    fresh_module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Running]:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("additions"),
        admin_password=PASSWORD,
        limits=LimitSettings(requests_per_second=0, anonymous_per_second=0),
    )
    configuration = Configuration(settings=settings, plugins=LoadedPlugins.of(PLUGINS))
    plugins = load_plugins(configuration)
    additions = collect_additions(plugins, PermissionKeys())
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(open_installation(settings, fresh_module_database))
        service = await stack.enter_async_context(build(configuration, installation, _health, Watched()))
        server, url = serve_application(service.application)
        people = installation.people
        await people.organizations.create_organization("b", admin="stranger", password=PASSWORD)
        sessions = await build_sessions(installation)
        yield Running(
            client=ApiClient(base_url=url, description=description(additions=additions)),
            sessions=sessions.sessions,
            installation=installation,
            organization=await people.organizations.default_id(),
            data_dir=settings.data_dir,
        )
        server.stop()
        await server.close_all_connections()
        await service.node.drain(5)


async def _health() -> Health:
    return "ok"
