"""SSH principals of users: who gives them, which are never given, and which changes remove them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from netautod.core.identity.caller import system_caller
from netautod.identity.users.models import NewUser
from tests.identity.auth.ssh_ca.ssh_keygen import KEYGEN, ssh_keygen
from tests.identity.auth.support import Node
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
PUBLIC = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
ADA = {"username": "ada", "password": PASSWORD, "roles": []}


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


@pytest.fixture
async def admin(node: Node, client: ApiClient) -> ApiClient:
    return client.with_token((await node.log_in()).access_token)


@pytest.fixture
async def heidi(node: Node, client: ApiClient, admin: ApiClient) -> ApiClient:
    """Return a client whose user manages users, and nothing else."""
    (await admin.post("/api/roles", {"name": "helpdesk", "permissions": ["users.manage"]})).expect(201)
    await node.installation.add("heidi", "helpdesk")
    return client.with_token((await node.log_in("heidi")).access_token)


async def made(api: ApiClient, **change: Any) -> dict[str, Any]:
    user: dict[str, Any] = (await api.post("/api/users", {**ADA, **change})).expect(201)
    return user


async def test_who_is_made_with_a_principal(node: Node, admin: ApiClient, heidi: ApiClient) -> None:
    assert (await made(admin))["ssh_principals"] == ["ada"]
    assert (await made(admin, username="bob", ssh_principals=["ops", "ops", "bob"]))["ssh_principals"] == [
        "ops",
        "bob",
    ]
    assert (await made(admin, username="none", ssh_principals=[]))["ssh_principals"] == []
    assert (await made(heidi, username="carla"))["ssh_principals"] == []
    assert (await made(heidi, username="dora", ssh_principals=[]))["ssh_principals"] == []
    assert (await made(admin, username="root"))["ssh_principals"] == []
    org_id = await node.installation.organizations.default_id()
    new = NewUser(username="lara", roles=(), auth_provider="ldap", external_id="1")
    lara = await node.users.create(system_caller(org_id, "ldap"), new)
    assert lara.ssh_principals == ("lara",)


@pytest.mark.parametrize(
    ("held", "sent", "given"),
    [
        pytest.param(["ada"], {}, [], id="held by another user"),
        pytest.param(["ops", "Ada"], {}, [], id="held in capitals"),
        pytest.param(["ada2", "xada", "a.a"], {}, ["ada"], id="others are held"),
        pytest.param(["ada"], {"ssh_principals": ["ada"]}, ["ada"], id="named all the same"),
    ],
)
async def test_a_name_that_another_user_holds_is_given_only_if_it_is_named(
    admin: ApiClient, held: list[str], sent: dict[str, Any], given: list[str]
) -> None:
    await made(admin, username="bob", ssh_principals=held)
    assert (await made(admin, **sent))["ssh_principals"] == given


async def test_a_manager_of_users_writes_none(admin: ApiClient, heidi: ApiClient) -> None:
    refused = await heidi.post("/api/users", {**ADA, "ssh_principals": ["ada"]})
    assert_error(refused, 403, "system.manage")
    user = await made(admin)
    path = f"/api/users/{user['id']}"
    for names in (["ada", "ops"], []):
        assert_error(await heidi.put(path, {"ssh_principals": names}), 403, "system.manage")
    (await heidi.put(path, {**user, "email": "ada@example.org"})).expect()
    (await admin.put(path, {"ssh_principals": ["ops"]})).expect()
    assert (await admin.get(path)).json["ssh_principals"] == ["ops"]


async def test_an_api_token_without_system_manage_makes_no_principal(
    client: ApiClient, admin: ApiClient
) -> None:
    scoped = {"name": "hr", "permissions": ["users.manage"]}
    token = (await admin.post("/api/auth/tokens", scoped)).expect(201)["token"]
    assert (await made(client.with_token(token)))["ssh_principals"] == []


@pytest.mark.parametrize(
    ("names", "text"),
    [
        pytest.param(["root"], "root is reserved", id="a reserved one"),
        pytest.param(["ops", "ROOT"], "ROOT is reserved", id="a reserved one in capitals"),
        pytest.param(["a,root"], "ssh_principals", id="a list"),
        pytest.param(["a root"], "ssh_principals", id="a space"),
        pytest.param(["*"], "ssh_principals", id="a wildcard"),
        pytest.param(["r?ot"], "ssh_principals", id="a wildcard of one character"),
        pytest.param(["!ops"], "ssh_principals", id="a negation"),
        pytest.param(["root\n"], "ssh_principals", id="a line break"),
        pytest.param(["\u0440oot"], "ssh_principals", id="a letter that looks like another"),
        pytest.param(["-oProxyCommand"], "ssh_principals", id="an option"),
        pytest.param([""], "ssh_principals", id="nothing"),
        pytest.param(["a" * 256], "ssh_principals", id="too long a one"),
        pytest.param([f"p{n}" for n in range(33)], "ssh_principals", id="too many"),
        pytest.param([7], "ssh_principals", id="a number"),
        pytest.param("ops", "ssh_principals", id="no array"),
    ],
)
async def test_a_principal_that_is_refused(admin: ApiClient, names: Any, text: str) -> None:
    assert_error(await admin.post("/api/users", {**ADA, "ssh_principals": names}), 400, text)
    user = await made(admin)
    assert_error(await admin.put(f"/api/users/{user['id']}", {"ssh_principals": names}), 400, text)


async def test_a_password_set_without_the_permission_takes_them_away(
    client: ApiClient, admin: ApiClient, heidi: ApiClient
) -> None:
    """Check it: else a manager of users would get a certificate by logging in with that password."""
    user = await made(admin)
    new = "another long passphrase 77"
    (await heidi.put(f"/api/users/{user['id']}", {"password": new})).expect()
    login = {"username": "ada", "password": new, "public_key": PUBLIC}
    assert_error(await client.post("/api/auth/login", login), 400, "ssh_principals")
    (await admin.put(f"/api/users/{user['id']}", {"ssh_principals": ["ada"]})).expect()
    (await admin.put(f"/api/users/{user['id']}", {"password": PASSWORD})).expect()
    answer = await client.post("/api/auth/login", {**login, "password": PASSWORD})
    assert "ssh_certificate" in answer.expect()


@pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed")
async def test_a_certificate_holds_all_principals_of_the_user(
    client: ApiClient, admin: ApiClient, tmp_path: Path
) -> None:
    await made(admin, ssh_principals=["ops", "ada"])
    login = {"username": "ada", "password": PASSWORD, "public_key": PUBLIC}
    file = tmp_path / "ada-cert.pub"
    file.write_text((await client.post("/api/auth/login", login)).expect()["ssh_certificate"]["certificate"])
    lines = [line.strip() for line in (await ssh_keygen("-L", "-f", str(file)))[1].splitlines()]
    start = lines.index("Principals:")
    assert lines[start + 1 : start + 4] == ["ops", "ada", "Critical Options: (none)"]


async def test_users_of_older_releases_keep_their_principal(
    node: Node, client: ApiClient, admin: ApiClient
) -> None:
    ada, root = await made(admin), await made(admin, username="root")
    rows = node.installation.database.collection("users")
    await rows.update_many({"_id": {"$in": [ada["id"], root["id"]]}}, {"$unset": {"ssh_principals": ""}})
    assert (await admin.get(f"/api/users/{ada['id']}")).json["ssh_principals"] == ["ada"]
    for name, status in (("ada", 200), ("root", 400)):
        login = {"username": name, "password": PASSWORD, "public_key": PUBLIC}
        assert (await client.post("/api/auth/login", login)).status == status
