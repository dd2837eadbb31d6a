"""Canaries: no password, hash, token or key in any log line, audit event, error or database row."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from netautod.store.client import Database
from tests.identity.auth.support import INFO, Node
from tests.support.client import ApiClient
from tests.support.installation import PASSWORD

TYPED_AS_USERNAME = "canary-typed-as-username"
WRONG = "canary wrong password"
NEW_PASSWORD = "canary new password of carla"
OWN_PASSWORD = "canary own password of carla"
RESET_PASSWORD = "canary reset password of carla"


async def everything(database: Database) -> dict[str, str]:
    """Return all documents of the raw database as text, by collection."""
    names = await database._raw.list_collection_names()
    assert {"users", "sessions", "api_tokens", "audit_events"} <= set(names)
    return {name: str(await database.collection(name).find({})) for name in names}


async def walk(client: ApiClient) -> tuple[list[str], list[str]]:
    """Use all routes; return the secrets, and the bodies of all refusals."""
    bad_logins: list[dict[str, object]] = [
        {"username": "admin", "password": WRONG},
        {"username": TYPED_AS_USERNAME, "password": WRONG},
        {"username": "admin", "password": WRONG, "client_type": WRONG + " type"},
        {"username": "admin", "password": [WRONG]},
    ]
    refusals = [(await client.post("/api/auth/login", body)).content.decode() for body in bad_logins]
    tokens = (await client.post("/api/auth/login", {"username": "admin", "password": PASSWORD})).json
    api = client.with_token(tokens["access_token"])
    user = {"username": "carla", "password": NEW_PASSWORD, "roles": ["viewer"]}
    assert (await api.post("/api/users", user)).status == 201
    refusals.append((await api.post("/api/users", user)).content.decode())
    refresh = {"refresh_token": tokens["refresh_token"]}
    second = (await client.post("/api/auth/refresh", refresh)).json
    refusals.append((await client.post("/api/auth/refresh", refresh)).content.decode())
    refusals.append(
        (await client.with_token("bad" + tokens["access_token"]).get("/api/auth/me")).content.decode()
    )
    machines, more = await walk_as_carla(client, client.with_token(second["access_token"]))
    refusals += more
    await client.with_token(second["access_token"]).post("/api/auth/logout")
    secrets = [*machines, *(tokens[name] for name in ("access_token", "refresh_token"))]
    secrets += [second[name] for name in ("access_token", "refresh_token")]
    # The signature alone is as secret as the whole token: the rest of it can be guessed.
    return [*secrets, *(secret.rsplit(".", 1)[-1] for secret in secrets)], refusals


async def walk_as_carla(client: ApiClient, admin: ApiClient) -> tuple[list[str], list[str]]:
    """Use passwords and API tokens as Carla; return the tokens, and the bodies of all answers but their
    creation.
    """
    login = {"username": "carla", "password": NEW_PASSWORD}
    carla = client.with_token((await client.post("/api/auth/login", login)).json["access_token"])
    made = await carla.post("/api/auth/tokens", {"name": "ci", "permissions": []})
    machine, user_id = made.json["token"], (await carla.get("/api/auth/me")).json["id"]
    change = {"current_password": NEW_PASSWORD, "new_password": OWN_PASSWORD, "keep_api_tokens": True}
    answers = [
        await client.with_token(machine).put("/api/auth/password", change),
        await carla.put("/api/auth/password", {**change, "current_password": WRONG}),
        await carla.put("/api/auth/password", {**change, "new_password": "carla"}),
        await carla.put("/api/auth/password", change),
        await carla.get("/api/auth/tokens"),
        await carla.get("/api/auth/sessions"),
        await carla.delete(f"/api/auth/tokens/{made.json['id']}"),
        await client.with_token(machine).get("/api/auth/me"),
        await admin.put(f"/api/users/{user_id}", {"password": [RESET_PASSWORD]}),
        await admin.put(f"/api/users/{user_id}", {"password": RESET_PASSWORD}),
        await admin.get("/api/users"),
        await admin.get("/api/audit"),
    ]
    assert [answer.status for answer in answers] == [
        403,
        401,
        400,
        200,
        200,
        200,
        204,
        401,
        400,
        200,
        200,
        200,
    ]
    kept = await carla.post("/api/auth/login", {"username": "carla", "password": RESET_PASSWORD})
    again = client.with_token(kept.json["access_token"])
    stays = (await again.post("/api/auth/tokens", {"name": "kept", "permissions": []})).json["token"]
    return [machine, stays], [answer.content.decode() for answer in answers]


async def test_no_secret_is_logged_audited_answered_or_stored(
    node: Node,
    http: Callable[[Node], ApiClient],
    database: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "pymongo")  # as logs.configure does: it would log whole commands
    caplog.set_level(logging.DEBUG)
    secrets, refusals = await walk(http(node))
    rows = await everything(database)
    hashes = [user["password_hash"] for user in await node.documents("users")]
    token_hashes = [token["_id"] for token in await node.documents("refresh_tokens")]
    token_hashes += [token["hash"] for token in await node.documents("api_tokens")]
    logged = "\n".join(record.getMessage() + str(record.exc_text or "") for record in caplog.records)
    assert "Invalid username or password" in logged
    passwords = [PASSWORD, WRONG, NEW_PASSWORD, OWN_PASSWORD, RESET_PASSWORD]
    plain = [*passwords, TYPED_AS_USERNAME, *secrets]
    for secret in [*plain, *hashes, *token_hashes]:
        assert secret not in logged
        assert secret not in rows["audit_events"]
    for secret in plain:
        for name, text in rows.items():
            assert secret not in text, name
    for secret in [*plain, *hashes, *token_hashes]:
        assert not any(secret in text for text in refusals)


async def test_the_audit_records_each_step(node: Node, http: Callable[[Node], ApiClient]) -> None:
    await walk(http(node))
    events: list[dict[str, Any]] = await node.documents(
        "audit_events", {"action": {"$regex": "^(auth|user|api)"}}
    )
    actions = [(event["action"], event["actor_name"], event["resource_type"]) for event in events]
    assert actions == [
        ("user.create", "cli", "user"),
        ("auth.login_failed", "admin", "user"),
        ("auth.login_failed", None, "user"),
        ("auth.login", "admin", "session"),
        ("user.create", "admin", "user"),
        ("auth.refresh_reuse", "admin", "session"),
        ("auth.login", "carla", "session"),
        ("api_token.create", "carla", "api_token"),
        ("auth.password_change_failed", "carla", "user"),
        ("auth.password_change", "carla", "user"),
        ("api_token.revoke", "carla", "api_token"),
        ("user.update", "admin", "user"),
        ("auth.login", "carla", "session"),
        ("api_token.create", "carla", "api_token"),
        ("auth.logout", "admin", "session"),
    ]
    for event in events[1:]:
        assert event["ip_address"] == "127.0.0.1"
        assert event["request_id"]


async def test_the_lockout_is_audited_once(node: Node) -> None:
    for _ in range(12):
        with pytest.raises(Exception, match=r"Invalid username|Too many"):
            await node.log_in(password=WRONG)
    actions = await node.actions()
    assert actions.count("auth.login_failed") == 10
    assert actions.count("auth.lockout") == 1


async def test_values_with_secrets_do_not_show_them(node: Node) -> None:
    tokens = await node.log_in()
    assert tokens.access_token not in repr(tokens)
    assert tokens.refresh_token not in repr(tokens)
    assert INFO.ip_address not in repr(tokens)
