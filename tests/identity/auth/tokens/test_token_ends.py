"""The end of API tokens: at their expiry, with their owner's password, by a manager; and what they show."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.json.values import to_text
from netautod.core.work.guard import no_guard
from tests.identity.auth.support import Node
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
CI = {"name": "ci", "permissions": ["devices.access"]}
NEW = "another long passphrase 77"


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


@pytest.fixture
async def admin(node: Node, client: ApiClient) -> ApiClient:
    return client.with_token((await node.log_in()).access_token)


@pytest.fixture
async def carla(node: Node, client: ApiClient) -> ApiClient:
    await node.installation.add("carla", "operator")
    return client.with_token((await node.log_in("carla")).access_token)


async def id_of(api: ApiClient) -> str:
    return str((await api.get("/api/auth/me")).json["id"])


async def made(api: ApiClient, **change: Any) -> dict[str, Any]:
    token: dict[str, Any] = (await api.post("/api/auth/tokens", {**CI, **change})).expect(201)
    return token


async def lives(client: ApiClient, token: dict[str, Any]) -> bool:
    return (await client.with_token(token["token"]).get("/api/auth/me")).status == 200


async def test_an_end_that_is_none_is_for_holders_of_system_manage(
    node: Node, admin: ApiClient, carla: ApiClient
) -> None:
    refused = await carla.post("/api/auth/tokens", {**CI, "expires_at": "never"})
    assert_error(refused, 403, "system.manage")
    for days, status in ((367, 400), (366, 201)):
        at = to_text(node.clock.now() + timedelta(days=days))
        answer = await carla.post("/api/auth/tokens", {**CI, "expires_at": at})
        assert answer.status == status, days
    assert (await made(admin, expires_at="never"))["expires_at"] is None
    assert (await made(admin, expires_at="2999-01-01T00:00:00Z"))["expires_at"].startswith("2999")


async def test_a_reset_password_ends_the_tokens_and_a_disabled_owner_only_stops_them(
    node: Node, client: ApiClient, admin: ApiClient, carla: ApiClient
) -> None:
    token, path = await made(carla), f"/api/users/{await id_of(carla)}"
    await admin.put(path, {"is_active": False})
    assert not await lives(client, token)
    await admin.put(path, {"is_active": True})
    assert await lives(client, token)
    (await admin.put(path, {"password": NEW})).expect(200)
    assert not await lives(client, token)
    assert (await admin.get(f"{path}/tokens")).json["tokens"] == []


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param({}, False, id="a new password of one's own ends one's tokens"),
        pytest.param({"keep_api_tokens": False}, False, id="also when it says so"),
        pytest.param({"keep_api_tokens": True}, True, id="unless they are to be kept"),
    ],
)
async def test_a_changed_password(
    client: ApiClient, carla: ApiClient, sent: dict[str, Any], kept: bool
) -> None:
    token = await made(carla)
    change = {"current_password": PASSWORD, "new_password": NEW, **sent}
    (await carla.put("/api/auth/password", change)).expect(200)
    assert await lives(client, token) is kept
    assert (await carla.get("/api/auth/tokens")).json["total"] == int(kept)
    assert await lives(client, await made(carla))


async def test_a_token_that_is_stored_after_the_reset_has_ended_as_well(
    node: Node, client: ApiClient, admin: ApiClient, carla: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reset the password between the read of the session and the insert."""
    store, path = node.installation.stores.api_tokens, f"/api/users/{await id_of(carla)}"
    insert = store.insert

    async def late(token: Any) -> None:
        (await admin.put(path, {"password": NEW})).expect(200)
        await insert(token)

    monkeypatch.setattr(store, "insert", late)
    token = await made(carla)
    assert not await lives(client, token)
    await node.parts.api_tokens.resume()
    assert await node.documents("api_tokens") == []


async def test_managers_of_users_see_and_revoke_the_tokens_of_others(
    node: Node, client: ApiClient, admin: ApiClient, carla: ApiClient
) -> None:
    token, user_id = await made(carla), await id_of(carla)
    listed = (await admin.get(f"/api/users/{user_id}/tokens")).json
    assert [row["id"] for row in listed["tokens"]] == [token["id"]]
    assert "token" not in listed["tokens"][0]
    assert_error(await carla.get(f"/api/users/{user_id}/tokens"), 403)
    for path in (f"/api/users/{uuid4()}/tokens", f"/api/users/{user_id}/tokens/{uuid4()}"):
        assert_error(await admin.delete(path), 405 if path.endswith("tokens") else 404)
    assert_error(await admin.get(f"/api/users/{uuid4()}/tokens"), 404, "User not found")
    assert (await admin.delete(f"/api/users/{user_id}/tokens/{token['id']}")).status == 204
    assert not await lives(client, token)
    (event,) = await node.documents("audit_events", {"action": "api_token.revoke"})
    assert (event["actor_name"], event["details"]["user_id"]) == ("admin", user_id)


async def test_the_tokens_of_a_stronger_user_stay(node: Node, client: ApiClient, admin: ApiClient) -> None:
    (await admin.post("/api/roles", {"name": "helpdesk", "permissions": ["users.manage"]})).expect(201)
    await node.installation.add("heidi", "helpdesk")
    heidi = client.with_token((await node.log_in("heidi")).access_token)
    token, admins = await made(admin), await id_of(admin)
    path = f"/api/users/{admins}/tokens/{token['id']}"
    assert_error(await heidi.delete(path), 403, "do not hold")
    scoped = await made(admin, permissions=["users.manage"])
    assert_error(await client.with_token(scoped["token"]).delete(path), 403, "log in")
    assert await lives(client, token)


async def test_a_token_shows_what_it_may_do_now(
    client: ApiClient, admin: ApiClient, carla: ApiClient
) -> None:
    token = await made(carla, permissions=["devices.access", "tasks.operate"])
    machine = client.with_token(token["token"])
    shown = {name: token[name] for name in ("id", "name", "expires_at")}
    answer = (await machine.get("/api/auth/me")).expect()
    assert answer["permissions"] == ["devices.access", "tasks.operate"]
    assert answer["token"] == shown
    assert "token" not in (await carla.get("/api/auth/me")).json
    await admin.put(f"/api/users/{await id_of(carla)}", {"roles": ["viewer"]})
    assert (await machine.get("/api/auth/me")).json["permissions"] == ["devices.access"]


async def test_tokens_of_older_releases_get_an_end(node: Node, client: ApiClient, admin: ApiClient) -> None:
    old, forever = await made(admin), await made(admin, expires_at="never")
    rows = node.installation.database.collection("api_tokens")
    await rows.update(
        {"_id": old["id"]}, {"$set": {"expires_at": None}, "$unset": {"never": "", "epoch": ""}}
    )
    end = node.clock.now() + timedelta(days=90)
    await node.installation.stores.api_tokens.give_end(end, no_guard)
    found = {row["_id"]: row["expires_at"] for row in await node.documents("api_tokens")}
    assert found == {old["id"]: end, forever["id"]: None}
    assert await lives(client, old)
    node.clock.move(90 * 86400)
    await node.parts.api_tokens.resume()
    assert not await lives(client, old)
    assert await lives(client, forever)
