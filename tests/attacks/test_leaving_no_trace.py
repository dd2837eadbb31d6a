"""Attacks that try to leave no trace: refused requests, and changes of the trace in the database itself."""

import asyncio
import base64
import io
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId, system_caller
from netautod.core.logs import setup as logs
from netautod.core.schema.bases import Name, Request
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.secrets.redaction.known_secrets import hide_in_log
from netautod.store.client import Collection, Database
from netautod.store.connection import connect
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.in_process import Commands
from tests.support.programs.service import Finished, Service, run, serving
from tests.support.serving import Serve

EVENTS = "audit_events"
Run = Callable[..., Awaitable[Finished]]
PASSWORD = "a walrus in the ninth harbour"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node with its database, to which the attacker may write."""

    service: Service
    database: Database
    place: dict[str, str]

    @property
    def events(self) -> Collection:
        return self.database.collection(EVENTS)

    async def audit(self, run: Run, *words: str) -> Finished:
        return await run("audit", *words, "--data-dir", str(self.service.data_dir), variables=self.place)

    async def seen(self, admin: ApiClient, **wanted: str) -> list[Any]:
        """The events that an administrator finds, the newest first."""
        query = "&".join(f"{name}={value}" for name, value in wanted.items())
        found: list[Any] = (await admin.get(f"/api/audit?{query}")).expect()["events"]
        return found


@asynccontextmanager
async def running(mongo_uri: str, folder: Path, name: str = "", **settings: str) -> AsyncIterator[Node]:
    database = connect(mongo_uri, name or f"a{uuid4().hex[:20]}")
    place = {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": database.name, **settings}
    try:
        async with serving(folder, variables=place) as service:
            yield Node(service=service, database=database, place=place)
        if not name:
            await database.drop()
    finally:
        database.close()


@pytest.fixture(scope="module")
async def node(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Node]:
    folder = tmp_path_factory.mktemp("trace")
    async with running(mongo_uri, folder / "data") as made:
        yield made


@pytest.fixture(scope="module")
async def admin(node: Node) -> ApiClient:
    return await node.service.client()


async def user_of(admin: ApiClient, node: Node, role: str = "viewer") -> tuple[str, ApiClient]:
    """A new user's id, and a client that is logged in."""
    name = f"u{uuid4().hex[:8]}"
    made = await admin.post("/api/users", {"username": name, "password": PASSWORD, "roles": [role]})
    return made.expect(201)["id"], await node.service.client(name, PASSWORD)


# --- What is refused

CLOSED_TO_VIEWERS = (
    ("GET", "/api/users", "/api/users"),
    ("GET", f"/api/users/{uuid4()}", "/api/users/:id"),
    ("DELETE", f"/api/users/{uuid4()}", "/api/users/:id"),
    ("GET", "/api/audit", "/api/audit"),
    ("POST", f"/api/devices/{uuid4()}/exec-command", "/api/devices/:id/exec-command"),
    ("POST", "/api/system/pause", "/api/system/pause"),
)


async def test_a_caller_who_tries_route_after_route_is_in_the_audit(node: Node, admin: ApiClient) -> None:
    user_id, client = await user_of(admin, node)
    for method, path, _ in CLOSED_TO_VIEWERS:
        assert (await client.request(method, path)).status == 403
    found = await node.seen(admin, actor_id=user_id, action="request.denied")
    wanted = [f"{method} {pattern}" for method, _, pattern in CLOSED_TO_VIEWERS]
    assert [event["resource_id"] for event in reversed(found)] == wanted
    assert found[0]["details"]["permission"] == "system.manage"


async def test_who_reaches_for_a_stronger_user_is_in_the_audit(node: Node, admin: ApiClient) -> None:
    role = (await admin.post("/api/roles", {"name": uuid4().hex, "permissions": ["users.manage"]})).expect(
        201
    )
    user_id, client = await user_of(admin, node, role["name"])
    admin_id = (await admin.get("/api/auth/me")).json["id"]
    assert (await client.put(f"/api/users/{admin_id}", {"is_active": False})).status == 403
    (event,) = await node.seen(admin, actor_id=user_id, action="request.denied")
    assert event["resource_id"] == "PUT /api/users/:id"


UNUSED = ["/api/sites", "/api/docs", "/api/devices", "/api/roles", "/api/users"]


def _forged(token: str) -> str:
    """The claims of a good token, for another user, under no signature of ours."""
    head, claims, signature = token.split(".")
    read = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    read["sub"] = str(uuid4())
    body = base64.urlsafe_b64encode(json.dumps(read).encode()).decode().rstrip("=")
    return f"{head}.{body}.{signature}"


async def _nothing_known(node: Node, admin: ApiClient) -> tuple[str, str | None]:
    return "garbage", None


async def _another_user(node: Node, admin: ApiClient) -> tuple[str, str | None]:
    return _forged(admin.token or ""), None


async def _logged_out(node: Node, admin: ApiClient) -> tuple[str, str | None]:
    user_id, client = await user_of(admin, node)
    (await client.post("/api/auth/logout")).expect()
    return client.token or "", user_id


async def _unknown_api_token(node: Node, admin: ApiClient) -> tuple[str, str | None]:
    return "nat_" + "x" * 43, None


async def _api_token_of_a_disabled_user(node: Node, admin: ApiClient) -> tuple[str, str | None]:
    user_id, client = await user_of(admin, node)
    token = (await client.post("/api/auth/tokens", {"name": "ci", "permissions": []})).expect(201)["token"]
    (await admin.put(f"/api/users/{user_id}", {"is_active": False})).expect()
    return token, user_id


@pytest.mark.parametrize(
    "token_of",
    [
        pytest.param(_nothing_known, id="a token made of nothing is in the audit"),
        pytest.param(_another_user, id="a token forged for another user is in the audit, not as that user"),
        pytest.param(_logged_out, id="a stolen token used after the logout is in the audit, with its user"),
        pytest.param(_unknown_api_token, id="a guessed API token is in the audit"),
        pytest.param(_api_token_of_a_disabled_user, id="a disabled user's API token is in the audit"),
    ],
)
async def test_a_refused_token_is_in_the_audit(
    node: Node, admin: ApiClient, token_of: Callable[[Node, ApiClient], Awaitable[tuple[str, str | None]]]
) -> None:
    token, user_id = await token_of(node, admin)
    # Each at a route of its own: the minute of a stranger at a route has one event.
    route = UNUSED.pop()
    assert (await admin.with_token(token).get(route)).status == 401
    found = await node.seen(admin, action="request.token_refused")
    (event,) = [event for event in found if event["resource_id"] == f"GET {route}"]
    assert (event["actor_id"], event["ip_address"]) == (user_id, "127.0.0.1")
    assert token not in json.dumps(found)


async def test_a_made_up_refresh_token_is_in_the_audit(node: Node, admin: ApiClient) -> None:
    refused = await admin.with_token(None).post("/api/auth/refresh", {"refresh_token": "made up"})
    assert refused.status == 401
    found = await node.seen(admin, action="request.token_refused", resource_type="route")
    assert "POST /api/auth/refresh" in [event["resource_id"] for event in found]


async def test_a_flood_of_refused_tokens_is_a_few_events_with_its_count(
    mongo_uri: str, tmp_path: Path
) -> None:
    settings = {"NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0"}
    async with running(mongo_uri, tmp_path / "data", **settings) as node:
        stranger = (await node.service.anonymous()).with_token("nat_stolen")
        answers = [await stranger.get("/api/devices") for _ in range(1000)]
        assert {answer.status for answer in answers} == {401}
        await node.service.stop()
        found = await node.events.find({"action": "request.token_refused"})
    assert len(found) <= 3
    assert sum(event["details"]["count"] for event in found) == 1000


# --- Who acts


async def test_what_an_api_token_does_names_the_token(node: Node, admin: ApiClient) -> None:
    asked = {"name": "ci of mallory", "permissions": ["devices.*"]}
    token = (await admin.post("/api/auth/tokens", asked)).expect(201)
    by_token = admin.with_token(token["token"])
    site = (await by_token.post("/api/sites", {"name": uuid4().hex})).expect(201)
    (event,) = await node.seen(admin, resource_id=site["id"])
    assert event["details"]["token"] == {"id": token["id"], "name": "ci of mallory"}
    assert (await by_token.get("/api/audit")).status == 403
    (denied,) = [
        event
        for event in await node.seen(admin, action="request.denied")
        if event["details"].get("token") is not None
    ]
    assert denied["details"]["token"]["id"] == token["id"]


# --- Who changes the trace


async def _other_actor(events: Collection) -> object:
    return await events.update({"resource_id": "7"}, {"$set": {"actor_name": "somebody else"}})


async def _other_detail(events: Collection) -> object:
    return await events.update({"resource_id": "7"}, {"$set": {"details.name": "harmless"}})


async def _later(events: Collection) -> object:
    one = await events.find_one({"resource_id": "8"})
    assert one is not None
    return await events.update({"resource_id": "7"}, {"$set": {"at": one["at"]}})


async def _gone(events: Collection) -> object:
    return await events.delete({"resource_id": "7"})


async def _newest_gone(events: Collection) -> object:
    newest = await events.find({}, sort=[("at", -1)], limit=2)
    return await events.delete_many({"_id": {"$in": [event["_id"] for event in newest]}})


async def _oldest_gone(events: Collection) -> object:
    oldest = await events.find({}, sort=[("at", 1)], limit=2)
    return await events.delete_many({"_id": {"$in": [event["_id"] for event in oldest]}})


async def _made_up(events: Collection) -> object:
    one = await events.find_one({"resource_id": "7"})
    assert one is not None
    for name in ("seq", "prev", "hash"):
        one.pop(name, None)
    return await events.insert_many([{**one, "_id": str(uuid4()), "actor_name": "an innocent"}])


async def _moved(events: Collection) -> object:
    return await events.update({"resource_id": "7"}, {"$set": {"org_id": str(uuid4())}})


@pytest.mark.slow
@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(_other_actor, id="an event whose actor was changed is found"),
        pytest.param(_other_detail, id="an event whose details were changed is found"),
        pytest.param(_later, id="an event that was given another time is found"),
        pytest.param(_gone, id="an event that was deleted is found"),
        pytest.param(_newest_gone, id="the newest events cut off are found"),
        pytest.param(_oldest_gone, id="the oldest events cut off are found"),
        pytest.param(_made_up, id="an event that was made up is found"),
        pytest.param(_moved, id="an event that was moved to another organization is found"),
    ],
)
async def test_who_changes_the_trace_is_found(
    node: Node, admin: ApiClient, commands: Commands, attack: Callable[[Collection], Awaitable[object]]
) -> None:
    """While the service runs, which goes on writing; what the attacker did stays found until it is undone."""
    await _numbered(node, admin)
    whole = await node.audit(commands, "verify")
    assert whole.code == 0, whole.out
    kept = await node.events.find({})
    await attack(node.events)
    await admin.post("/api/sites", {"name": uuid4().hex})
    changed = await node.audit(commands, "verify")
    assert changed.code == 1, changed.out
    assert "NOT whole" in changed.out
    for event in kept:
        await node.events.update({"_id": event["_id"]}, {"$set": event}, upsert=True)
    await node.events.delete_many({"actor_name": "an innocent"})
    assert (await node.audit(commands, "verify")).code == 0


async def _numbered(node: Node, admin: ApiClient) -> None:
    """Ten sites whose events the attacker can find by number: only their resource is no id."""
    if await node.events.count({"resource_id": "7"}):
        return
    one = await node.events.find_one({})
    assert one is not None
    log = AuditLog(store=AuditStore(node.database), clock=SystemClock())
    for number in range(10):
        caller = system_caller(OrgId(one["org_id"]), "mallory")
        await log.record(caller, "site.create", "site", str(number), {"name": "malice"})


@pytest.mark.slow
async def test_a_chain_made_anew_is_found_by_what_was_noted_elsewhere(node: Node, commands: Commands) -> None:
    shown = (await node.audit(commands, "verify")).out.splitlines()[0]
    number, _, noted = shown.rpartition(" ")[2].partition(":")
    assert (await node.audit(commands, "verify", "--expect", f"{number}:{noted}")).code == 0
    assert (await node.audit(commands, "verify", "--expect", f"{number}:{noted[::-1]}")).code == 1


@pytest.mark.slow
async def test_what_retention_deleted_leaves_the_chain_whole(
    mongo_uri: str, tmp_path: Path, commands: Commands
) -> None:
    soon = {"NETAUTOD_RETENTION_AUDIT_DAYS": "0.000001", "NETAUTOD_RETENTION_INTERVAL_SECONDS": "1"}
    async with running(mongo_uri, tmp_path / "data", **soon) as node:
        await eventually(lambda: node.events.count({"action": "audit.retention"}), seconds=60)
        verified = await node.audit(commands, "verify")
    assert verified.code == 0, verified.out
    assert "deleted at their age" in verified.out


@pytest.mark.slow
async def test_the_traces_of_nodes_that_write_at_once_are_one_chain(
    mongo_uri: str, tmp_path: Path, commands: Commands
) -> None:
    async with running(mongo_uri, tmp_path / "data") as one:
        async with running(mongo_uri, tmp_path / "data", one.database.name) as other:
            clients = [await one.service.client(), await other.service.client()]
            asked = [
                client.post("/api/sites", {"name": uuid4().hex}) for _ in range(50) for client in clients
            ]
            assert {answer.status for answer in await asyncio.gather(*asked)} == {201}
            await other.service.stop()
        found = await one.events.find({"action": "site.create"}, sort=[("seq", 1)])
        assert len(found) == 100
        verified = await one.audit(commands, "verify")
    assert verified.code == 0, verified.out


async def test_an_export_shows_no_terminal_what_a_name_tells_it_to_do(node: Node, admin: ApiClient) -> None:
    (await admin.post("/api/sites", {"name": "core\u202e\u200f\u061c"})).expect(201)
    done = await node.audit(run, "export")
    assert (done.code, done.out.isascii()) == (0, True)
    assert "core\\u202e\\u200f\\u061c" in done.out


# -- log lines --

HIDING = "\u200f\u061c\u202e\u2066\u2028\u0085\x9b\u200b\ufeff\u00ad\U000e0041\u3164"


class RenamingRequest(Request):
    name = Name()


class RenamingHandler(JsonHandler):
    @any_token(body=RenamingRequest)
    async def post(self) -> None:
        """Renames."""
        self.answer({})


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "character", [pytest.param(one, id=f"with U+{ord(one):04X} in the name of a field") for one in HIDING]
)
async def test_a_request_writes_no_log_line_that_hides_something(
    serve: Serve, form: str, character: str
) -> None:
    root, lines = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    try:
        root.handlers = []
        logs.configure(level="info", format=form, hide=hide_in_log, stream=lines)
        api, _ = (await serve(routes=[Route(path="/api/renamed", handler=RenamingHandler)])).client()
        body = json.dumps({f"{character}forged": 1}, ensure_ascii=False).encode()
        assert (await api.post("/api/renamed", raw=body)).status == 400
    finally:
        root.handlers, root.level = handlers, level
    assert "forged" in lines.getvalue()
    assert all(line.isprintable() for line in lines.getvalue().split("\n"))
