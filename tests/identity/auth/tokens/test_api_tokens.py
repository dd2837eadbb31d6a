"""API tokens: shown once, scoped, expiring, revoked, and never stronger than their owner at the moment."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Unauthenticated, Unavailable
from netautod.core.json.values import to_text
from netautod.identity.auth.tokens.service import hash_of
from netautod.identity.auth.tokens.store import ApiTokenStore
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
CI = {"name": "ci", "permissions": ["devices.access"]}


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


async def logged_in(node: Node, client: ApiClient, username: str = "admin") -> ApiClient:
    return client.with_token((await node.log_in(username)).access_token)


async def made(api: ApiClient, **change: Any) -> dict[str, Any]:
    token: dict[str, Any] = (await api.post("/api/auth/tokens", {**CI, **change})).expect(201)
    return token


async def permissions_of(node: Node, token: str) -> set[str] | None:
    """Return the permissions; None: refused."""
    try:
        return set((await node.authenticator.authenticate(token, INFO)).permissions)
    except Unauthenticated:
        return None


async def test_the_way_of_a_token(node: Node, client: ApiClient) -> None:
    api = await logged_in(node, client)
    token = await made(api, name=" ci ")
    assert token["token"].startswith("nat_")
    assert len(token["token"]) == 47
    ends_at = to_text(node.clock.now() + timedelta(days=90))
    assert (token["name"], token["expires_at"], token["last_used_at"]) == ("ci", ends_at, None)
    machine = client.with_token(token["token"])
    assert (await machine.get("/api/auth/me")).json["username"] == "admin"
    assert_error(await machine.get("/api/users"), 403, "Insufficient permissions")
    listed = (await api.get("/api/auth/tokens")).json
    assert listed["total"] == 1
    assert set(listed["tokens"][0]) == set(token) - {"token"}
    assert listed["tokens"][0]["last_used_at"] == to_text(node.clock.now())
    assert (await api.delete(f"/api/auth/tokens/{token['id']}")).status == 204
    assert_error(await machine.get("/api/auth/me"), 401, "Invalid or expired token")
    assert_error(await api.delete(f"/api/auth/tokens/{token['id']}"), 404, "Token not found")
    assert (await api.get("/api/auth/tokens")).json["tokens"] == []


async def test_only_the_hash_is_stored(node: Node, client: ApiClient) -> None:
    token = await made(await logged_in(node, client))
    (row,) = await node.documents("api_tokens")
    assert row["hash"] == hashlib.sha256(token["token"].encode()).hexdigest()
    assert token["token"] not in str(row)


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        pytest.param({"name": ""}, 400, "name", id="no name"),
        pytest.param({"name": {"$ne": ""}}, 400, "name: Not a valid string", id="an operator as a name"),
        pytest.param({"permissions": None}, 400, "permissions", id="no permissions"),
        pytest.param({"permissions": ["fly"]}, 400, "no permission 'fly'", id="an unknown one"),
        pytest.param({"permissions": [{"$gt": ""}]}, 400, "permissions", id="an operator as one"),
        pytest.param({"expires_at": "soon"}, 400, "expires_at: Not an ISO", id="no moment"),
        pytest.param({"expires_at": 17}, 400, "expires_at: Not a valid string", id="a number"),
        pytest.param({"expires_at": {"$gt": ""}}, 400, "expires_at", id="an operator as a moment"),
        pytest.param({"expires_at": "2099-01-01T00:00:00"}, 400, "offset is missing", id="no offset"),
        pytest.param({"expires_at": "0001-01-01T00:00:00+14:00"}, 400, "expires_at", id="before year 1"),
        pytest.param({"expires_at": "2020-01-01T00:00:00Z"}, 400, "must be in the future", id="the past"),
        pytest.param({"expires_at": "Never"}, 400, "expires_at: Not an ISO", id="never in another form"),
        pytest.param({"user_id": str(uuid4())}, 400, "user_id: Unknown field", id="for another user"),
        pytest.param({"hash": "x"}, 400, "hash: Unknown field", id="a field of ours"),
        pytest.param({"token": "nat_x"}, 400, "token: Unknown field", id="a token of one's own choice"),
    ],
)
async def test_a_bad_token_is_refused(
    untouched: Node, http: Http, change: dict[str, Any], status: int, text: str
) -> None:
    api = await logged_in(untouched, http(untouched))
    assert_error(await api.post("/api/auth/tokens", {**CI, **change}), status, text)
    assert await untouched.documents("api_tokens") == []


async def test_a_token_holds_only_what_its_maker_holds(node: Node, client: ApiClient) -> None:
    await node.installation.add("carla", "operator")
    api = await logged_in(node, client, "carla")
    for permissions in (["*"], ["users.manage"], ["devices.*"], ["devices.access", "system.manage"]):
        refused = await api.post("/api/auth/tokens", {"name": "x", "permissions": permissions})
        assert_error(refused, 403, "you do not hold")
    token = await made(api, permissions=["devices.access", "tasks.operate"])
    assert await permissions_of(node, token["token"]) == {"devices.access", "tasks.operate"}


async def test_a_token_shrinks_and_grows_with_its_owner(start: NodeStarter, http: Http) -> None:
    here, elsewhere = await start(), await start()
    carla = await here.installation.add("carla", "operator")
    token = (await made(await logged_in(here, http(here), "carla"), permissions=["devices.manage"]))["token"]
    admin = await logged_in(here, http(here))
    path = f"/api/users/{carla.id}"

    async def seen() -> list[set[str] | None]:
        before = await permissions_of(here, token)
        elsewhere.clock.move(1)
        return [before, await permissions_of(elsewhere, token)]

    as_operator = {"devices.access", "devices.manage"}  # both of them are keys of the role
    assert await seen() == [as_operator] * 2
    await admin.put(path, {"roles": ["viewer"]})
    assert await seen() == [{"devices.access"}] * 2
    await admin.put(path, {"roles": ["admin"]})
    assert await seen() == [{"devices.manage"}] * 2
    await admin.put(path, {"roles": []})
    assert await seen() == [set()] * 2
    await admin.put(path, {"is_active": False})
    assert await seen() == [None] * 2
    await admin.put(path, {"is_active": True, "roles": ["operator"]})
    assert await seen() == [as_operator] * 2
    await admin.delete(path)
    assert await seen() == [None] * 2
    assert await here.documents("api_tokens") == []


async def test_a_token_expires_on_all_nodes(start: NodeStarter, http: Http) -> None:
    nodes = [await start(), await start()]
    at = to_text(nodes[0].clock.now() + timedelta(seconds=100))
    token = await made(await logged_in(nodes[0], http(nodes[0])), expires_at=at)
    assert token["expires_at"] == at
    nodes[0].clock.move(99.999)
    assert [await permissions_of(node, token["token"]) for node in nodes] == [{"devices.access"}] * 2
    nodes[0].clock.move(0.001)
    assert [await permissions_of(node, token["token"]) for node in nodes] == [None] * 2


async def test_a_revoked_token_is_refused_within_a_second_elsewhere(start: NodeStarter, http: Http) -> None:
    here, elsewhere = await start(), await start()
    api = await logged_in(here, http(here))
    token = await made(api)
    assert await permissions_of(elsewhere, token["token"]) is not None
    await api.delete(f"/api/auth/tokens/{token['id']}")
    elsewhere.clock.move(1)
    assert await permissions_of(elsewhere, token["token"]) is None


async def test_its_last_use_is_stored_once_a_minute(start: NodeStarter, http: Http) -> None:
    nodes = [await start(), await start()]
    token = (await made(await logged_in(nodes[0], http(nodes[0]))))["token"]
    began = nodes[0].clock.now()
    for seconds, expected in ((0, 0), (59, 0), (1, 60), (2, 60), (57, 60), (1, 120)):
        nodes[0].clock.move(seconds)
        await asyncio.gather(*(permissions_of(node, token) for node in nodes))
        (row,) = await nodes[0].documents("api_tokens")
        assert (row["last_used_at"] - began).total_seconds() == expected


async def test_tokens_of_other_users_are_not_found(node: Node, client: ApiClient) -> None:
    await node.installation.add("carla", "admin")
    await node.installation.organizations.create_organization("b", admin="berta", password=PASSWORD)
    token = await made(await logged_in(node, client))
    for name in ("carla", "berta"):
        api = await logged_in(node, client, name)
        assert (await api.get("/api/auth/tokens")).json["tokens"] == []
        assert_error(await api.delete(f"/api/auth/tokens/{token['id']}"), 404, "Token not found")
    assert await permissions_of(node, token["token"]) == {"devices.access"}


async def test_an_api_token_cannot_do_what_a_login_is_for(node: Node, client: ApiClient) -> None:
    api = await logged_in(node, client)
    token = await made(api, permissions=["*"])
    machine = client.with_token(token["token"])
    (session,) = (await machine.get("/api/auth/sessions")).json["sessions"]
    assert session["current"] is False
    password = {"current_password": PASSWORD, "new_password": "another long password"}
    for answer in (
        await machine.post("/api/auth/tokens", CI),
        await machine.delete(f"/api/auth/tokens/{token['id']}"),
        await machine.put("/api/auth/password", password),
        await machine.delete("/api/auth/sessions/other"),
        await machine.delete(f"/api/auth/sessions/{session['id']}"),
        await machine.post("/api/auth/logout"),
    ):
        assert_error(answer, 403, "An API token cannot do this")
    assert (await machine.get("/api/auth/tokens")).json["total"] == 1
    assert (await api.get("/api/auth/me")).status == 200


async def test_a_scoped_token_is_refused_what_its_owner_may_do_to_himself(
    node: Node, client: ApiClient
) -> None:
    token = await made(await logged_in(node, client), permissions=["users.manage"])
    machine = client.with_token(token["token"])
    (admin,) = (await machine.get("/api/users")).json["users"]
    assert_error(await machine.put(f"/api/users/{admin['id']}", {"email": "e@example.org"}), 403)
    carla = {"username": "carla", "password": PASSWORD, "roles": ["viewer"]}
    assert_error(await machine.post("/api/users", carla), 403, "you do not hold")


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("nat_" + "A" * 43, id="well formed"),
        pytest.param("nat_", id="the prefix alone"),
        pytest.param("nat_" + "A" * 44, id="a character too many"),
        pytest.param("NAT_" + "A" * 43, id="capitals"),
        pytest.param("nat_" + "\u00e9" * 43, id="not ASCII"),
        pytest.param(hash_of("nat_" + "A" * 43), id="a hash"),
    ],
)
async def test_made_up_tokens_open_nothing(untouched: Node, token: str) -> None:
    assert await permissions_of(untouched, token) is None


async def test_a_flood_of_made_up_tokens_drives_no_session_out(
    start: NodeStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.identity.auth.sessions.authenticator.MAX_CACHED", 5)
    node = await start()
    token = (await node.log_in()).access_token
    await node.authenticator.authenticate(token, INFO)
    for number in range(20):
        assert await permissions_of(node, f"nat_{number:043d}") is None

    async def away(*args: Any) -> None:
        raise Unavailable("away")

    monkeypatch.setattr("netautod.identity.auth.sessions.store.SessionStore.get", away)
    assert (await node.authenticator.authenticate(token, INFO)).username == "admin"


async def test_a_last_use_that_cannot_be_stored_is_no_refusal(
    node: Node, client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await made(await logged_in(node, client)))["token"]

    async def away(*args: Any) -> None:
        raise Unavailable("away")

    monkeypatch.setattr(ApiTokenStore, "record_use", away)
    assert await permissions_of(node, token) == {"devices.access"}


async def test_tokens_of_users_that_are_gone_are_removed_at_start(node: Node, client: ApiClient) -> None:
    carla = await node.installation.add("carla", "viewer")
    kept = await made(await logged_in(node, client))
    await made(await logged_in(node, client, "carla"))
    await node.installation.database.collection("users").delete({"_id": carla.id})  # and then it died
    await node.parts.api_tokens.resume()
    assert [row["_id"] for row in await node.documents("api_tokens")] == [kept["id"]]


NOTES = "notes.read"


@pytest.mark.parametrize(
    ("permissions", "reads"),
    [
        pytest.param(["*"], False, id="everything"),
        pytest.param(["notes.*"], False, id="their family"),
        pytest.param(["docs.*", "docs.manage"], False, id="documents"),
        pytest.param([NOTES], True, id="named"),
        pytest.param(["*", NOTES], True, id="named beside everything"),
    ],
)
async def test_a_token_reads_notes_only_if_it_names_them(
    node: Node, client: ApiClient, permissions: list[str], reads: bool
) -> None:
    await node.installation.add("oscar", "operator")
    for username in ("admin", "oscar"):
        api = await logged_in(node, client, username)
        if username == "oscar" and "*" in str(permissions):
            continue  # wildcards that an operator cannot grant
        token = await made(api, permissions=permissions)
        assert token["permissions"] == permissions
        caller = await node.authenticator.authenticate(token["token"], INFO)
        assert caller.can(NOTES) is reads
        assert caller.within(caller.scope).can(NOTES) is reads
        owner = await node.users.active_caller(caller.org_id, caller.user_id)
        assert owner is not None
        assert owner.can(NOTES)
        assert owner.within(caller.scope).can(NOTES) is reads  # a task of the token


@pytest.mark.parametrize("named", [pytest.param(False, id="not named"), pytest.param(True, id="named")])
async def test_a_token_gives_nobody_the_notes_that_it_does_not_name(
    node: Node, client: ApiClient, named: bool
) -> None:
    oscar = await node.installation.add("oscar", "operator")
    api = await logged_in(node, client)
    machine = client.with_token((await made(api, permissions=["*", *([NOTES] if named else [])]))["token"])
    roles = {role["name"]: role for role in (await api.get("/api/roles")).json["roles"]}
    password = "a longer passphrase 2026"
    answers = [
        await machine.post("/api/users", {"username": f"u{n}", "password": password, "roles": [role]})
        for n, role in enumerate(("operator", "admin"))
    ]
    answers += [
        await machine.post("/api/roles", {"name": f"r{n}", "permissions": [key]})
        for n, key in enumerate((NOTES, "notes.*", "*"))
    ]
    answers.append(await machine.put(f"/api/users/{oscar.id}", {"password": password}))
    assert [answer.status for answer in answers] == ([201] * 5 + [200] if named else [403] * 6)
    assert roles["viewer"]["permissions"] == ["devices.access", "docs.read"]
    made_viewer = {"username": "vera", "password": password, "roles": ["viewer"]}
    assert (await machine.post("/api/users", made_viewer)).status == 201
