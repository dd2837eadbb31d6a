"""Credentials over HTTP: types, secrets that never come back, defaults, concurrent changes."""

import asyncio
import logging
from typing import Any

import asyncssh
import pytest
from bson import BSON

from netautod.network.credentials.models import Destination, LoginSecrets
from netautod.store.scoped import scoped
from tests.network.devices.inventory import Inventory
from tests.support.client import assert_error

KEY = asyncssh.generate_private_key("ssh-ed25519")
SSH_KEY = KEY.export_private_key().decode()
SEALED_KEY = KEY.export_private_key("pkcs8-pem", "canary-passphrase").decode()
BODIES: dict[str, dict[str, Any]] = {
    "ssh_password": {"username": "u", "secret": "canary-password", "enable_secret": "canary-enable"},
    "ssh_key": {"username": "u", "secret": SEALED_KEY, "passphrase": "canary-passphrase"},
    "snmp_community": {"secret": "canary-community"},
    "snmp_v3": {
        "username": "u",
        "auth_protocol": "sha-256",
        "auth_key": "canary-auth-key",
        "priv_protocol": "AES",
        "priv_key": "canary-priv-key",
    },
    "api_token": {"secret": "canary-token"},
    "generic_secret": {"secret": "canary\nlines"},
}
ANSWER = {
    *("id", "name", "description", "credential_type", "username", "port", "allowed_hosts", "has_secret"),
    *("has_passphrase", "has_enable_secret", "is_default", "use_certificate", "created_at", "updated_at"),
}


async def _create(inventory: Inventory, kind: str, **fields: Any) -> Any:
    body = {"credential_type": kind, **BODIES[kind]}
    return await inventory.credential(f"a {kind}", **{"username": None, "secret": None, **body, **fields})


@pytest.mark.parametrize("kind", BODIES)
async def test_every_type_is_created_and_answers_exactly_the_decided_fields(
    inventory: Inventory, kind: str
) -> None:
    made = await _create(inventory, kind)
    assert set(made) == ANSWER
    assert (made["has_secret"], made["is_default"], made["allowed_hosts"]) == (True, False, [])
    assert made["port"] == (161 if kind.startswith("snmp") else None)
    assert made["has_passphrase"] == (kind == "ssh_key")
    assert made["has_enable_secret"] == (kind == "ssh_password")
    assert (await inventory.api.get(f"/api/credentials/{made['id']}")).json == made
    sent_back = await inventory.api.put(f"/api/credentials/{made['id']}", made)
    assert sent_back.status == 200, sent_back.content


async def test_no_secret_is_in_an_answer_the_database_the_log_or_a_repr(
    inventory: Inventory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers = []
    for kind in BODIES:
        made = await _create(inventory, kind)
        path = f"/api/credentials/{made['id']}"
        answers += [made, (await inventory.api.put(path, {"description": "x", **BODIES[kind]})).json]
        answers.append((await inventory.api.put(path, {**BODIES[kind], "port": 0})).json)
    answers.append((await inventory.api.get("/api/credentials")).json)
    used = await inventory.services.credentials.usable(
        inventory.org_id, override=answers[3]["id"], device_default=None
    )
    place = Destination(host="192.0.2.1", vouched=True, way_vouched=True)
    assert used.secrets_for(place).passphrase == "canary-passphrase"
    dump = b""
    for name in ("credentials", "credential_defaults", "audit_events", "devices"):
        for document in await inventory.database.collection(name).find({}):
            dump += BSON.encode(document)
    assert len(dump) > 1000
    key_line = SEALED_KEY.splitlines()[2]
    for canary in ("canary", key_line):
        assert canary.encode() not in dump
        assert canary not in repr((answers, used, used.secrets_for(place), inventory.services))
        assert canary not in caplog.text


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        pytest.param("ssh_password", {"secret": None}, "secret: needed", id="password without secret"),
        pytest.param("ssh_password", {"secret": ""}, "secret: needed", id="empty secret"),
        pytest.param("ssh_password", {"username": " "}, "username: needed", id="blank username"),
        pytest.param("ssh_password", {"passphrase": "x"}, "passphrase: not used", id="needless passphrase"),
        pytest.param("ssh_password", {"secret": "a\nreload"}, "secret: line breaks", id="line break"),
        pytest.param("ssh_password", {"enable_secret": "a\r"}, "enable_secret: line breaks", id="enable"),
        pytest.param("ssh_password", {"username": "u\tv"}, "username: line breaks", id="tab in username"),
        pytest.param("ssh_password", {"port": 22}, "port: not used", id="port of SSH"),
        pytest.param("ssh_key", {"secret": "hunter2"}, "secret: not a private key", id="no key"),
        pytest.param("ssh_key", {"passphrase": None}, "passphrase: the private key", id="no passphrase"),
        pytest.param("ssh_key", {"passphrase": "wrong"}, "passphrase: does not open", id="wrong one"),
        pytest.param("snmp_community", {"secret": None}, "secret: needed", id="no community"),
        pytest.param("snmp_community", {"username": "u"}, "username: not used", id="community and user"),
        pytest.param("snmp_community", {"port": 0}, "port", id="port 0"),
        pytest.param("snmp_v3", {"username": None}, "username: needed", id="v3 without user"),
        pytest.param("snmp_v3", {"secret": "x"}, "secret: not used", id="v3 with a secret"),
        pytest.param("snmp_v3", {"auth_protocol": "sha3"}, "auth_protocol: Must be one of", id="unknown"),
        pytest.param("snmp_v3", {"priv_protocol": 7}, "priv_protocol: Not a valid string", id="a number"),
        pytest.param("snmp_v3", {"auth_key": None}, "auth_key: auth_protocol and", id="protocol, no key"),
        pytest.param("snmp_v3", {"auth_key": "short"}, "auth_key: shorter than 8", id="short key"),
        pytest.param(
            "snmp_v3", {"auth_protocol": None, "auth_key": None}, "auth_protocol: privacy", id="privacy alone"
        ),
        pytest.param("api_token", {"secret": None}, "secret: needed", id="token without secret"),
        pytest.param("api_token", {"is_default": True}, "is_default: there is no", id="default token"),
        pytest.param("generic_secret", {"auth_key": "12345678"}, "auth_key: not used", id="generic and v3"),
        pytest.param("ssh_password", {"credential_type": "telnet"}, "credential_type", id="unknown type"),
        pytest.param("ssh_password", {"credential_type": None}, "credential_type: Missing", id="no type"),
        pytest.param("ssh_password", {"name": " "}, "name", id="blank name"),
        pytest.param("ssh_password", {"allowed_hosts": "10.0.0.0/8"}, "allowed_hosts", id="hosts as a text"),
        pytest.param("ssh_password", {"allowed_hosts": ["a b"]}, "allowed_hosts.0", id="bad entry"),
        pytest.param("ssh_password", {"is_default": 1}, "is_default", id="1 for true"),
        pytest.param("ssh_password", {"password": "x"}, "password: Unknown field", id="unknown field"),
    ],
)
async def test_bad_input_is_a_400_that_names_the_field(
    inventory: Inventory, kind: str, fields: dict[str, Any], text: str
) -> None:
    body = {"name": "c", "credential_type": kind, **BODIES[kind], **fields}
    response = await inventory.api.post("/api/credentials", body)
    assert_error(response, 400, text)
    assert b"canary" not in response.content
    assert (await inventory.api.get("/api/credentials")).json["total"] == 0


async def test_an_operator_object_is_a_400_in_every_field(inventory: Inventory) -> None:
    made = await _create(inventory, "ssh_password")
    names = {field for body in BODIES.values() for field in body}
    for field in sorted(names | {"name", "description", "credential_type", "port", "is_default"}):
        wrong = {field: {"$ne": None}}
        body = {"name": "c", "credential_type": "ssh_password", **BODIES["ssh_password"], **wrong}
        assert_error(await inventory.api.post("/api/credentials", body), 400, field)
        assert_error(await inventory.api.put(f"/api/credentials/{made['id']}", wrong), 400, field)


async def test_a_put_changes_only_what_is_sent(inventory: Inventory) -> None:
    made = await _create(inventory, "ssh_password")
    path = f"/api/credentials/{made['id']}"
    place = Destination(host="192.0.2.1", vouched=True, way_vouched=True)
    usable = inventory.services.credentials.usable
    changed = (await inventory.api.put(path, {"username": "other", "allowed_hosts": ["192.0.2.0/24"]})).json
    assert (changed["username"], changed["has_enable_secret"]) == ("other", True)
    used = await usable(inventory.org_id, override=made["id"], device_default=None)
    assert used.username == "other"
    assert used.secrets_for(place) == LoginSecrets(password="canary-password", enable_secret="canary-enable")
    cleared = (await inventory.api.put(path, {"enable_secret": None, "secret": "new"})).json
    assert cleared["has_enable_secret"] is False
    later = await usable(inventory.org_id, override=made["id"], device_default=None)
    assert later.secrets_for(place) == LoginSecrets(password="new")
    assert later.revision > used.revision
    assert_error(await inventory.api.put(path, {"secret": None}), 400, "secret: needed")
    assert_error(await inventory.api.put(path, {"name": None}), 400, "name: Field may not be null")


async def test_a_type_changes_within_its_kind_and_with_its_secret(inventory: Inventory) -> None:
    made = await _create(inventory, "ssh_password")
    path = f"/api/credentials/{made['id']}"
    for target in ("snmp_v3", "api_token"):
        refused = await inventory.api.put(path, {"credential_type": target, **BODIES[target]})
        assert_error(refused, 400, "credential_type: cannot change from ssh_password")
    refused = await inventory.api.put(path, {"credential_type": "ssh_key"})
    assert_error(refused, 400, "secret: has to be sent")
    key = {"credential_type": "ssh_key", "secret": SEALED_KEY, "passphrase": "canary-passphrase"}
    changed = (await inventory.api.put(path, key)).json
    assert (changed["has_passphrase"], changed["has_enable_secret"]) == (True, True)
    assert_error(await inventory.api.put(path, {"passphrase": None}), 400, "passphrase: the private key")
    back = (await inventory.api.put(path, {"credential_type": "ssh_password", "secret": "x"})).json
    assert (back["has_passphrase"], back["username"]) == (False, "u")


async def test_an_snmp_type_change_drops_what_the_new_type_has_not(inventory: Inventory) -> None:
    made = await _create(inventory, "snmp_v3", port=1161)
    path = f"/api/credentials/{made['id']}"
    community = {"credential_type": "snmp_community", "secret": "public"}
    changed = (await inventory.api.put(path, community)).json
    assert (changed["username"], changed["port"], changed["has_secret"]) == (None, 1161, True)
    stored = await scoped(inventory.database, "credentials").find_one(inventory.org_id, {})
    assert stored is not None
    assert (set(stored["sealed"]), stored["auth_protocol"]) == ({"secret"}, None)
    assert_error(await inventory.api.put(path, {"port": None}), 400, "port: needed")


async def test_puts_of_different_fields_do_not_lose_each_other(inventory: Inventory) -> None:
    made = await _create(inventory, "ssh_password")
    path = f"/api/credentials/{made['id']}"
    wanted = {"name": "n", "description": "d", "username": "v", "allowed_hosts": ["x"], "is_default": True}
    answers = await asyncio.gather(*(inventory.api.put(path, {k: v}) for k, v in wanted.items()))
    assert {answer.status for answer in answers} == {200}
    final = (await inventory.api.get(path)).json
    assert {**final, **wanted} == final


async def test_there_is_one_default_per_kind_and_setting_another_moves_it(inventory: Inventory) -> None:
    first = await _create(inventory, "ssh_password", is_default=True)
    snmp = await _create(inventory, "snmp_community", is_default=True)
    second = await inventory.credential("second", is_default=True)
    assert await _defaults(inventory) == {snmp["id"], second["id"]}
    path = f"/api/credentials/{first['id']}"
    assert (await inventory.api.put(path, {"is_default": True})).json["is_default"] is True
    await inventory.api.put(f"/api/credentials/{second['id']}", {"is_default": False})
    assert await _defaults(inventory) == {snmp["id"], first["id"]}
    assert (await inventory.api.put(path, {"is_default": False})).json["is_default"] is False
    await inventory.api.delete(f"/api/credentials/{snmp['id']}")
    assert await _defaults(inventory) == set()
    assert_error(await inventory.api.put(path, {"is_default": None}), 400, "is_default")


async def test_many_defaults_at_once_leave_one_and_never_none(inventory: Inventory) -> None:
    made = [await inventory.credential(f"c{number}") for number in range(10)]
    await inventory.api.put(f"/api/credentials/{made[0]['id']}", {"is_default": True})
    seen: list[int] = []

    async def watch() -> None:
        seen.extend([len(await _defaults(inventory)) for _ in range(20)])

    await asyncio.gather(
        watch(),
        *(inventory.api.put(f"/api/credentials/{one['id']}", {"is_default": True}) for one in made),
    )
    assert set(seen) == {1}
    fresh = [inventory.api.post("/api/credentials", _named(f"n{n}")) for n in range(10)]
    assert {answer.status for answer in await asyncio.gather(*fresh)} == {201}
    assert len(await _defaults(inventory)) == 1


async def test_the_first_defaults_at_once_leave_one(inventory: Inventory) -> None:
    answers = await asyncio.gather(
        *(inventory.api.post("/api/credentials", _named(f"n{number}")) for number in range(10))
    )
    assert {answer.status for answer in answers} == {201}
    assert len(await _defaults(inventory)) == 1


def _named(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "credential_type": "ssh_password",
        "username": "u",
        "secret": "s",
        "is_default": True,
    }


async def _defaults(inventory: Inventory) -> set[str]:
    listed = (await inventory.api.get("/api/credentials?limit=100")).json["credentials"]
    return {credential["id"] for credential in listed if credential["is_default"]}


async def test_names_lists_organizations_and_permissions(inventory: Inventory) -> None:
    made = [await inventory.credential(name) for name in ("b", "a", "c")]
    page = (await inventory.api.get("/api/credentials?limit=2&offset=1")).json
    assert ([one["name"] for one in page["credentials"]], page["total"]) == (["b", "c"], 3)
    path = f"/api/credentials/{made[0]['id']}"
    assert_error(await inventory.api.put(path, {"name": "a"}), 409, "Credential with this name already")
    assert_error(await inventory.api.post("/api/credentials", {**_named("a")}), 409, "already exists")
    other, reader = inventory.elsewhere(), inventory.with_permissions("devices.manage", "tasks.operate")
    assert (await other.get("/api/credentials")).json["total"] == 0
    for method in ("GET", "PUT", "DELETE"):
        body = {"name": "stolen"} if method == "PUT" else None
        assert_error(await other.request(method, path, body), 404, "Credential not found")
        assert_error(await reader.request(method, path, body), 403, "Insufficient permissions")
    assert (await reader.get("/api/credentials")).status == 403
    assert (await reader.post("/api/credentials", _named("x"))).status == 403
    assert (await inventory.api.get("/api/credentials/nonsense")).status == 404


KEY_FIELDS = {"credential_type": "ssh_key", **BODIES["ssh_key"]}


def _key_under(passphrase: str) -> str:
    return KEY.export_private_key("pkcs8-pem", passphrase).decode()


@pytest.mark.parametrize(
    "guess",
    [
        pytest.param({"passphrase": "wrong"}, id="a passphrase for the stored key"),
        pytest.param({"secret": _key_under("wrong")}, id="a key for the stored passphrase"),
    ],
)
async def test_ten_guesses_at_a_stored_passphrase_are_the_last(
    inventory: Inventory, guess: dict[str, str]
) -> None:
    made, other = [await inventory.credential(name, **KEY_FIELDS) for name in ("guessed", "other")]
    path = f"/api/credentials/{made['id']}"
    for _ in range(10):
        assert_error(await inventory.api.put(path, guess), 400, "passphrase: does not open the private key")
    for body in (guess, {"passphrase": "canary-passphrase"}):
        refused = await inventory.api.put(path, body)
        assert_error(refused, 429, "Too many failed attempts. Please try again later.")
        assert refused.json["retry_after_secs"] == int(refused.headers["Retry-After"]) == 900
    answers = [
        await inventory.api.put(f"/api/credentials/{other['id']}", {"passphrase": "canary-passphrase"}),
        await inventory.api.put(path, {"description": "x"}),
        await inventory.api.put(path, {"secret": _key_under("new"), "passphrase": "new"}),  # no guess
    ]
    assert [answer.status for answer in answers] == [200] * 3
    events = await inventory.database.collection("audit_events").find({"action": "credential.lockout"})
    assert [event["resource_id"] for event in events] == [made["id"]]


async def test_a_key_without_a_passphrase_clears_no_guesses(inventory: Inventory) -> None:
    made = await inventory.credential("guessed", **KEY_FIELDS)
    path, guess = f"/api/credentials/{made['id']}", {"secret": _key_under("wrong")}
    for _ in range(9):
        assert (await inventory.api.put(path, guess)).status == 400
    (await inventory.api.put(path, {"secret": KEY.export_private_key("pkcs8-pem").decode()})).expect()
    assert [(await inventory.api.put(path, guess)).status for _ in range(2)] == [400, 429]
