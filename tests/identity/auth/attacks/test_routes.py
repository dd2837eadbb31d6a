"""Attacks on the routes of users, roles, sessions and tokens (OWASP ASVS 5.0 V6 to V8)."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from marshmallow import fields

from netautod.core.schema.bases import Request
from netautod.identity.auth.schemas import ApiTokenBody, LoginBody, PasswordBody, RefreshBody
from netautod.identity.users.schemas import RoleRequest, UserCreate
from tests.identity.auth.support import Node, NodeStarter
from tests.support.client import ApiClient, Response, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
NEW_PASSWORD = "another long password"
BODIES: list[tuple[str, str, type[Request], dict[str, Any]]] = [
    ("POST", "/api/auth/login", LoginBody, {"username": "admin", "password": PASSWORD}),
    ("POST", "/api/auth/refresh", RefreshBody, {"refresh_token": "x"}),
    (
        "PUT",
        "/api/auth/password",
        PasswordBody,
        {"current_password": PASSWORD, "new_password": NEW_PASSWORD},
    ),
    ("POST", "/api/auth/tokens", ApiTokenBody, {"name": "ci", "permissions": []}),
    ("POST", "/api/users", UserCreate, {"username": "eve", "password": PASSWORD, "roles": []}),
    ("PUT", "/api/users/SELF", UserCreate, {}),
    ("POST", "/api/roles", RoleRequest, {"name": "r", "permissions": []}),
]
OPERATORS = ({"$ne": ""}, {"$gt": ""}, {"$regex": ".*"}, ["admin"], {"$where": "1"})
# What decides on rights, and what only the service itself writes.
PRECIOUS = (
    *("id", "org_id", "user_id", "roles", "role_ids", "permissions", "is_active", "builtin", "password_hash"),
    *("session_epoch", "refresh_epoch", "kept_session_id", "revision", "hash", "sid", "external_id"),
)


def string_fields(schema: type[Request]) -> list[str]:
    return [name for name, field in schema().fields.items() if isinstance(field, fields.String)]


@pytest.fixture
async def admin(untouched: Node, http: Http) -> ApiClient:
    return http(untouched).with_token((await untouched.log_in()).access_token)


async def send(client: ApiClient, method: str, path: str, body: dict[str, Any]) -> Response:
    own = (await client.get("/api/auth/me")).json["id"]
    return await client.request(method, path.replace("SELF", own), body)


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        pytest.param(method, path, body, field, id=f"{method} {path} {field}")
        for method, path, schema, body in BODIES
        for field in string_fields(schema)
    ],
)
async def test_no_text_field_takes_an_operator(
    admin: ApiClient, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    for operator in OPERATORS:
        assert_error(await send(admin, method, path, {**body, field: operator}), 400, field)


@pytest.mark.parametrize(
    ("method", "path", "schema", "body"),
    [pytest.param(*found, id=f"{found[0]} {found[1]}") for found in BODIES],
)
async def test_no_field_is_assigned_that_a_client_does_not_own(
    admin: ApiClient, method: str, path: str, schema: type[Request], body: dict[str, Any]
) -> None:
    for field in PRECIOUS:
        if field not in schema().fields and field not in schema.read_only:
            assert_error(
                await send(admin, method, path, {**body, field: "x"}), 400, f"{field}: Unknown field"
            )


async def test_read_only_fields_of_a_new_user_are_the_services(admin: ApiClient, untouched: Node) -> None:
    me = (await admin.get("/api/auth/me")).json
    sent = {"id": me["id"], "org_id": "x", "permissions": ["*"], "created_at": "x", "last_login_at": "x"}
    made = await admin.post("/api/users", {"username": "eve", "password": PASSWORD, "roles": [], **sent})
    assert made.status == 201
    assert (made.json["permissions"], made.json["last_login_at"]) == ([], None)
    assert made.json["id"] != me["id"]
    assert made.json["org_id"] == me["org_id"]
    assert (await admin.delete(f"/api/users/{made.json['id']}")).status == 204


async def test_a_login_makes_a_new_session_whatever_is_sent_along(node: Node, http: Http) -> None:
    client = http(node)
    first = (await client.post("/api/auth/login", BODIES[0][3])).json
    headers = {"Authorization": f"Bearer {first['access_token']}", "Cookie": "sid=1; session=1"}
    second = await client.post("/api/auth/login", BODIES[0][3], headers=headers)
    assert "Set-Cookie" not in second.headers
    rows = await node.documents("sessions")
    assert len({row["_id"] for row in rows}) == 2
    assert second.json["access_token"] != first["access_token"]
    cookie = {"Cookie": f"access_token={first['access_token']}"}
    assert_error(await client.get("/api/auth/me", headers=cookie), 401, "Authentication required")
    query = await client.get(f"/api/auth/me?access_token={first['access_token']}")
    assert_error(query, 401, "Authentication required")


async def test_a_manager_of_users_cannot_promote_himself(node: Node, http: Http) -> None:
    client = http(node)
    admin = client.with_token((await node.log_in()).access_token)
    helper = {"name": "helper", "permissions": ["users.manage", "devices.access", "docs.read"]}
    role = (await admin.post("/api/roles", helper)).json
    roles = {found["name"]: found["id"] for found in (await admin.get("/api/roles")).json["roles"]}
    eve = await node.installation.add("eve", "helper")
    boss = await node.installation.users.by_username("admin")
    assert boss is not None
    api = client.with_token((await node.log_in("eve")).access_token)
    own = f"/api/users/{eve.id}"
    user = {"username": "eve2", "password": PASSWORD, "roles": ["admin"]}
    tries: list[tuple[str, str, dict[str, Any] | None, int]] = [
        ("PUT", own, {"roles": ["admin"]}, 403),
        ("PUT", own, {"roles": ["helper", "viewer"]}, 403),
        ("PUT", own, {"permissions": ["*"]}, 200),  # read-only: ignored
        ("POST", "/api/users", user, 403),
        ("POST", "/api/users", {**user, "roles": ["helper", "operator"]}, 403),
        ("POST", "/api/roles", {"name": "x", "permissions": ["*"]}, 403),
        ("POST", "/api/roles", {"name": "x", "permissions": ["users.*"]}, 403),
        ("PUT", f"/api/roles/{role['id']}", {"permissions": ["*"]}, 403),
        ("PUT", f"/api/roles/{roles['viewer']}", {"permissions": ["*"]}, 409),
        ("PUT", f"/api/roles/{roles['admin']}", {"name": "x"}, 403),
        ("DELETE", f"/api/roles/{roles['admin']}", None, 403),
        ("PUT", f"/api/users/{boss.id}", {"password": NEW_PASSWORD}, 403),
        ("PUT", f"/api/users/{boss.id}", {"roles": ["helper"]}, 403),
        ("DELETE", f"/api/users/{boss.id}", None, 403),
        ("POST", "/api/auth/tokens", {"name": "x", "permissions": ["*"]}, 403),
        ("GET", "/api/audit", None, 403),
    ]
    for method, path, body, status in tries:
        assert (await api.request(method, path, body)).status == status, (method, path, body)
    # A second account that the attacker makes gets no more than the first one has.
    assert (await api.post("/api/users", {**user, "roles": ["helper"]})).status == 201
    second = client.with_token((await node.log_in("eve2")).access_token)
    assert (await second.put(own, {"roles": ["helper", "viewer"]})).status == 200  # holds devices.access
    assert (await second.put(own, {"roles": ["admin"]})).status == 403
    after = await node.users.find(eve.id)
    assert after is not None
    assert after.permissions == ["devices.access", "docs.read", "users.manage"]


async def disabled(admin: ApiClient, user: ApiClient, path: str) -> Response:
    return await admin.put(path, {"is_active": False})


async def deleted(admin: ApiClient, user: ApiClient, path: str) -> Response:
    return await admin.delete(path)


async def reset(admin: ApiClient, user: ApiClient, path: str) -> Response:
    return await admin.put(path, {"password": NEW_PASSWORD})


async def logged_out(admin: ApiClient, user: ApiClient, path: str) -> Response:
    return await user.post("/api/auth/logout")


@pytest.mark.parametrize(
    ("end", "machine_lives"),
    [
        pytest.param(disabled, False, id="disabled"),
        pytest.param(deleted, False, id="deleted"),
        pytest.param(reset, False, id="password reset"),
        pytest.param(logged_out, True, id="logged out"),
    ],
)
async def test_tokens_are_refused_here_at_once_and_on_every_node_within_a_second(
    start: NodeStarter,
    http: Http,
    end: Callable[[ApiClient, ApiClient, str], Awaitable[Response]],
    machine_lives: bool,
) -> None:
    nodes = [await start() for _ in range(3)]
    clients = [http(node) for node in nodes]
    carla = await nodes[0].installation.add("carla", "viewer")
    tokens = await nodes[0].log_in("carla")
    user = clients[0].with_token(tokens.access_token)
    machine = (await user.post("/api/auth/tokens", {"name": "m", "permissions": []})).json["token"]
    admin = clients[0].with_token((await nodes[0].log_in()).access_token)

    async def statuses(token: str) -> list[int]:
        return [(await client.with_token(token).get("/api/auth/me")).status for client in clients]

    assert await statuses(tokens.access_token) == await statuses(machine) == [200] * 3
    assert (await end(admin, user, f"/api/users/{carla.id}")).status < 300
    assert (await statuses(tokens.access_token))[0] == 401
    assert ((await statuses(machine))[0] == 200) is machine_lives
    nodes[0].clock.move(1)
    assert await statuses(tokens.access_token) == [401] * 3
    assert await statuses(machine) == [200 if machine_lives else 401] * 3
    for client in clients:
        refresh = await client.post("/api/auth/refresh", {"refresh_token": tokens.refresh_token})
        assert_error(refresh, 401, "Invalid or expired token")
