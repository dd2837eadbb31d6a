"""The permission walk: every route of the service, asked by everybody, held to the table of permissions.

That the table and the routes of the service are the same is tested in test_route_table.py.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from netautod.assembly import routes
from netautod.assembly.build import build
from netautod.assembly.configuration import Configuration
from netautod.assembly.identity import build_sessions
from netautod.assembly.installation import Installation, People, open_installation
from netautod.assembly.settings import Settings
from netautod.assembly.settings import table as settings_table
from netautod.automation.executions.abandoned.watched import Watched
from netautod.core.identity.caller import RequestInfo, system_caller
from netautod.core.identity.permissions import grants
from netautod.http.settings import LimitSettings
from netautod.http.status.health import Health
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.users.models import NewUser, User
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.client import Database
from netautod.store.scoped import scoped
from tests.assembly.route_table import Line, built, table
from tests.support.client import ApiClient, Response
from tests.support.serving import serve_application

PASSWORD = "correct horse battery staple"
INFO = RequestInfo(ip_address="192.0.2.1", request_id="walk", user_agent="walk")
TABLE = table()
ROUTES = sorted(set(built()) & set(TABLE))


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The whole service on a random port. `ids`: records of the organization default, by path prefix."""

    client: ApiClient
    sessions: Sessions
    people: dict[str, User]
    installation: Installation
    ids: dict[str, str]

    async def ask(self, line: Line, who: str, ids: dict[str, str]) -> Response:
        """Send the request with a session of its own, so that a logout does not end later requests."""
        return await (await self.logged_in(who)).request(
            line.method, concrete(line.path, ids), None if line.method in ("GET", "DELETE") else {}
        )

    async def logged_in(self, who: str) -> ApiClient:
        if who == "nobody":
            return self.client.with_token(None)
        user = self.people[who]
        _, tokens = await self.sessions.begin(user, client_type="admin_ui", auth_provider="local", info=INFO)
        return self.client.with_token(tokens.access_token)


def concrete(path: str, ids: dict[str, str]) -> str:
    """Return the path with the id of its record, or with one that no record has."""
    best = max((prefix for prefix in ids if path.startswith(f"{prefix}/:")), key=len, default=None)
    first = ids[best] if best is not None else str(uuid4())
    parts = path.replace(":", first, 1)
    # The second one is a version of a config or a document.
    return parts.replace(":", "1")


@pytest.fixture(scope="module")
async def walk(
    fresh_module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Walk]:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("walk"),
        admin_password=PASSWORD,
        limits=LimitSettings(requests_per_second=0, anonymous_per_second=0),
    )
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(open_installation(settings, fresh_module_database))
        configuration = Configuration(settings=settings, plugins=LoadedPlugins.load(settings_table()))
        service = await stack.enter_async_context(build(configuration, installation, _health, Watched()))
        server, url = serve_application(service.application)
        client = ApiClient(base_url=url, description=routes.description())
        made = Walk(
            client=client,
            sessions=(await build_sessions(installation)).sessions,
            people=await _people(installation.people),
            installation=installation,
            ids={},
        )
        made.ids.update(await _records(made))
        yield made
        server.stop()
        await server.close_all_connections()
        await service.node.drain(5)


async def _health() -> Health:
    return "ok"


async def _people(people: People) -> dict[str, User]:
    caller = system_caller(await people.organizations.default_id())
    await people.organizations.create_organization("b", admin="stranger", password=PASSWORD)
    for name in ("viewer", "operator"):
        await people.users.create(caller, NewUser(username=name, password=PASSWORD, roles=(name,)))
    users = {user.username: user for user in await people.users.all_users()}
    return {name: users[name] for name in ("viewer", "operator", "admin", "stranger")}


async def _records(walk: Walk) -> dict[str, str]:
    """Create one record of every kind in the organization default, as the admin."""
    api = await walk.logged_in("admin")
    cron = {"cron_expression": "0 0 1 1 *", "enabled": False}
    bodies: dict[str, dict[str, Any]] = {
        "/api/auth/tokens": {"name": "ci", "permissions": []},
        "/api/credentials": {"name": "c", "credential_type": "generic_secret", "secret": "s"},
        "/api/devices": {"name": "d", "host": "192.0.2.1", "device_type": "linux"},
        "/api/devices/sources/inventory": {"name": "i", "url": "http://192.0.2.80", "token": "t"},
        "/api/docs": {"name": "n", "category": "outputs", "content_type": "text", "content": "c"},
        "/api/roles": {"name": "r", "permissions": []},
        "/api/sites": {"name": "s"},
        "/api/tasks/agent-schedules": {"name": "a", "prompt": "p", **cron},
        "/api/tasks/schedules": {"name": "t", "task_type": "custom_script", **cron},
    }
    ids = {}
    for path, body in bodies.items():
        answer = await api.post(path, body)
        assert answer.status == 201, (path, answer.content)
        ids[path] = answer.json["id"]
    run = await api.post(f"/api/tasks/schedules/{ids['/api/tasks/schedules']}/run")
    await _ended(api, run.json["id"])
    sessions = (await api.get("/api/auth/sessions")).json["sessions"]
    return {
        **ids,
        "/api/admin/agent-tasks/history": run.json["id"],
        "/api/auth/sessions": sessions[0]["id"],
        "/api/config/devices": ids["/api/devices"],
        "/api/tasks/executions": run.json["id"],
        "/api/users": walk.people["viewer"].id,
    }


async def _ended(api: ApiClient, execution_id: str) -> None:
    for _ in range(400):
        if (await api.get(f"/api/tasks/executions/{execution_id}")).json["completed_at"] is not None:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the execution did not end")


def allowed(line: Line, user: User | None) -> bool:
    if line.permission == "public":
        return True
    if user is None:
        return False
    return line.permission == "any" or grants(user.permissions, line.permission)


@pytest.mark.parametrize("who", ["nobody", "viewer", "operator", "admin", "stranger"])
@pytest.mark.parametrize("key", ROUTES)
async def test_a_route_admits_the_users_of_the_table(walk: Walk, key: str, who: str) -> None:
    """Send ids that no record has: an admitted user gets a 404, or the name of what is missing."""
    line = TABLE[key]
    answer = await walk.ask(line, who, {})
    assert answer.status < 500 or line.path.endswith("/poll"), answer.content
    if allowed(line, walk.people.get(who)):
        assert answer.status not in (401, 403), answer.content
    else:
        expected = (401, "Authentication required") if who == "nobody" else (403, "Insufficient permissions")
        assert (answer.status, answer.json["error"]) == expected


@pytest.mark.parametrize("key", [key for key in ROUTES if ":" in key])
async def test_another_organizations_admin_finds_nothing_by_our_ids(walk: Walk, key: str) -> None:
    before = await snapshot(walk)
    answer = await walk.ask(TABLE[key], "stranger", walk.ids)
    # 400: the body is looked at first, and an empty one is wrong.
    assert answer.status in (400, 404), answer.content
    assert await snapshot(walk) == before


@pytest.mark.parametrize("key", [key for key in ROUTES if key.startswith("GET ")])
async def test_another_organizations_admin_reads_none_of_our_ids(walk: Walk, key: str) -> None:
    answer = await walk.ask(TABLE[key], "stranger", {})
    ours = [*walk.ids.values(), *(user.id for name, user in walk.people.items() if name != "stranger")]
    assert not any(found.encode() in answer.content for found in ours)


async def snapshot(walk: Walk) -> dict[str, list[dict[str, Any]]]:
    """Return all documents of the organization default that requests can change, without sessions."""
    org_id = walk.people["admin"].org_id
    names = (
        "credentials",
        "devices",
        "documents",
        "executions",
        "inventory_sources",
        "roles",
        "sites",
        "tasks",
        "users",
        "api_tokens",
    )
    return {
        name: await scoped(walk.installation.database, name).find(org_id, {}, sort=[("_id", 1)])
        for name in names
    }
