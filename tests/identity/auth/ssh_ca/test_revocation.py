"""Certificates that end early: what revokes them, who may, and a server that uses the list."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncssh
import pytest

from netautod.core.identity.caller import Caller
from netautod.identity.auth.ssh_ca.store import CERTIFICATES
from tests.identity.auth.ssh_ca.ssh_keygen import KEYGEN, listed, ssh_keygen
from tests.identity.auth.support import Node, NodeStarter
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD
from tests.support.programs.sshd import PROGRAM, running_sshd

pytestmark = pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed")
Http = Callable[[Node], ApiClient]
KEY = asyncssh.generate_private_key("ssh-ed25519")
PUBLIC = KEY.export_public_key().decode()
NEW = "another long passphrase 77"


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A user who has logged in with a key."""

    api: ApiClient
    id: str
    answer: dict[str, Any]

    @property
    def certificate(self) -> dict[str, Any]:
        made: dict[str, Any] = self.answer["ssh_certificate"]
        return made


async def holder(client: ApiClient, username: str, password: str = PASSWORD) -> Holder:
    body = {"username": username, "password": password, "public_key": PUBLIC}
    answer = (await client.post("/api/auth/login", body)).expect()
    api = client.with_token(answer["access_token"])
    return Holder(api=api, id=(await api.get("/api/auth/me")).json["id"], answer=answer)


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


@pytest.fixture
async def admin(node: Node, client: ApiClient) -> ApiClient:
    return client.with_token((await node.log_in()).access_token)


@pytest.fixture
async def ada(node: Node, client: ApiClient) -> Holder:
    await node.installation.add("ada", "viewer")
    return await holder(client, "ada")


async def revoked(node: Node, folder: Path) -> set[int]:
    """Return the numbers of the list, a second after the change."""
    node.clock.move(1)
    file = folder / "krl"
    file.write_bytes((await node.parts.revocation.current()).content)
    code, text = await ssh_keygen("-Ql", "-f", str(file))
    assert code == 0
    return {number for numbers in listed(text).values() for number in numbers}


async def log_out(admin: ApiClient, ada: Holder) -> None:
    (await ada.api.post("/api/auth/logout")).expect()


async def end_session(admin: ApiClient, ada: Holder) -> None:
    (session,) = (await admin.get(f"/api/auth/sessions?user_id={ada.id}")).json["sessions"]
    assert (await admin.delete(f"/api/auth/sessions/{session['id']}")).status == 204


async def end_others(admin: ApiClient, ada: Holder) -> None:
    other = await holder(ada.api.with_token(None), "ada")
    (await other.api.delete("/api/auth/sessions/other")).expect()


async def replay(admin: ApiClient, ada: Holder, node: Node) -> None:
    body = {"refresh_token": ada.answer["refresh_token"]}
    (await ada.api.post("/api/auth/refresh", body)).expect()
    node.clock.move(11)
    assert (await ada.api.post("/api/auth/refresh", body)).status == 401


def put(**change: Any) -> Callable[[ApiClient, Holder], Awaitable[None]]:
    async def change_user(admin: ApiClient, ada: Holder) -> None:
        (await admin.put(f"/api/users/{ada.id}", change)).expect()

    return change_user


async def delete(admin: ApiClient, ada: Holder) -> None:
    assert (await admin.delete(f"/api/users/{ada.id}")).status == 204


async def revoke_number(admin: ApiClient, ada: Holder) -> None:
    body = {"serial": ada.certificate["serial"]}
    assert (await admin.post("/api/ssh-ca/revoke", body)).expect() == {"revoked": 1}
    assert (await admin.post("/api/ssh-ca/revoke", body)).expect() == {"revoked": 0}


async def revoke_user(admin: ApiClient, ada: Holder) -> None:
    assert (await admin.post("/api/ssh-ca/revoke", {"user_id": ada.id})).expect() == {"revoked": 1}


async def nothing(admin: ApiClient, ada: Holder) -> None: ...


async def change_own_password(admin: ApiClient, ada: Holder) -> None:
    body = {"current_password": PASSWORD, "new_password": NEW}
    (await ada.api.put("/api/auth/password", body)).expect()


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        pytest.param(log_out, True, id="the user logs out"),
        pytest.param(end_session, True, id="an admin ends the session"),
        pytest.param(end_others, True, id="the user ends the session from another one"),
        pytest.param(put(is_active=False), True, id="the user is disabled"),
        pytest.param(put(password=NEW), True, id="the password is reset"),
        pytest.param(put(ssh_principals=["ops"]), True, id="the principal is taken away"),
        pytest.param(delete, True, id="the user is deleted"),
        pytest.param(revoke_number, True, id="the number is revoked"),
        pytest.param(revoke_user, True, id="all of the user are revoked"),
        pytest.param(put(email="a@example.org"), False, id="something else of the user changes"),
        pytest.param(put(ssh_principals=["ops", "ada"]), False, id="a principal comes beside it"),
        pytest.param(change_own_password, False, id="the user changes the password in this session"),
        pytest.param(nothing, False, id="nothing happens"),
    ],
)
async def test_what_revokes_a_certificate(
    node: Node,
    admin: ApiClient,
    ada: Holder,
    tmp_path: Path,
    end: Callable[[ApiClient, Holder], Awaitable[None]],
    expected: bool,
) -> None:
    assert await revoked(node, tmp_path) == set()
    await end(admin, ada)
    assert (ada.certificate["serial"] in await revoked(node, tmp_path)) is expected


async def test_a_replayed_refresh_token_revokes_it_and_what_was_revoked_stays_so(
    node: Node, admin: ApiClient, ada: Holder, tmp_path: Path
) -> None:
    await replay(admin, ada, node)
    assert await revoked(node, tmp_path) == {1}
    other = await holder(admin.with_token(None), "ada")
    for principals in (["ops"], ["ada"]):
        await put(ssh_principals=principals)(admin, other)
        assert await revoked(node, tmp_path) == {1, 2}


async def test_the_list_of_another_node_follows_within_a_second(
    start: NodeStarter, node: Node, admin: ApiClient, ada: Holder, tmp_path: Path
) -> None:
    elsewhere = await start()
    assert await revoked(elsewhere, tmp_path) == set()
    await log_out(admin, ada)
    assert await revoked(elsewhere, tmp_path) == {1}


async def test_what_has_expired_leaves_the_list(
    node: Node, admin: ApiClient, ada: Holder, tmp_path: Path
) -> None:
    await log_out(admin, ada)
    node.clock.move(9 * 3600 - 2)
    assert await revoked(node, tmp_path) == {1}
    assert await revoked(node, tmp_path) == set()


async def test_a_certificate_is_on_record_before_it_is_handed_out(
    node: Node, client: ApiClient, ada: Holder
) -> None:
    (row,) = await node.documents(CERTIFICATES)
    assert (row["serial"], row["user_id"], row["principals"]) == (1, ada.id, ["ada"])
    rows = node.installation.database.collection(CERTIFICATES)
    await rows.insert({"_id": "x", "org_id": row["org_id"], "serial": 2})  # so that the next cannot be
    body = {"username": "ada", "password": PASSWORD, "public_key": PUBLIC}
    assert "ssh_certificate" not in (await client.post("/api/auth/login", body)).json


async def test_who_may_revoke(node: Node, client: ApiClient, admin: ApiClient, ada: Holder) -> None:
    (await admin.post("/api/roles", {"name": "helpdesk", "permissions": ["users.manage"]})).expect(201)
    await node.installation.add("heidi", "helpdesk")
    await node.installation.organizations.create_organization("other", admin="olga", password=PASSWORD)
    heidi, olga = [client.with_token((await node.log_in(name)).access_token) for name in ("heidi", "olga")]
    boss = await holder(client, "admin")
    revoke = "/api/ssh-ca/revoke"
    assert_error(await ada.api.post(revoke, {"serial": 1}), 403)
    for body in ({"serial": boss.certificate["serial"]}, {"user_id": boss.id}):
        assert_error(await heidi.post(revoke, body), 403, "do not hold")
    assert_error(await heidi.post(revoke, {"serial": 99}), 404, "Certificate not found")
    assert_error(await olga.post(revoke, {"serial": 1}), 404, "Certificate not found")
    assert_error(await olga.post(revoke, {"user_id": ada.id}), 404, "User not found")
    assert_error(await admin.post(revoke, {"user_id": str(uuid4())}), 404)
    for bad in ({}, {"serial": 1, "user_id": ada.id}, {"serial": 0}, {"serial": "1"}, {"serial": 2**63}):
        assert_error(await admin.post(revoke, bad), 400, "serial")
    assert await node.documents("audit_events", {"action": "ssh_certificate.revoke"}) == []


async def test_a_number_of_an_older_release_can_be_revoked_by_an_administrator(
    node: Node, admin: ApiClient, ada: Holder, tmp_path: Path
) -> None:
    await node.installation.database.collection(CERTIFICATES).delete_many({})
    body = {"serial": 1}
    assert (await admin.post("/api/ssh-ca/revoke", body)).expect() == {"revoked": 1}
    assert (await admin.post("/api/ssh-ca/revoke", body)).expect() == {"revoked": 0}
    assert_error(await admin.post("/api/ssh-ca/revoke", {"serial": 2}), 404)
    assert await revoked(node, tmp_path) == {1}


async def test_the_list_over_http(node: Node, client: ApiClient, admin: ApiClient, ada: Holder) -> None:
    first = await client.get("/api/ssh-ca/krl")
    assert (first.status, first.headers["Content-Type"]) == (200, "application/octet-stream")
    assert first.content.startswith(b"SSHKRL")
    node.clock.move(5)
    assert (await client.get("/api/ssh-ca/krl")).content == first.content
    await log_out(admin, ada)
    node.clock.move(1)
    assert (await client.get("/api/ssh-ca/krl")).content != first.content


async def test_a_crowd_that_fetches_the_list_makes_it_once_a_second(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reads = node.installation.stores.ssh_certificates, list[Any]()
    read = store.unexpired

    async def counted(since: Any) -> Any:
        reads.append(since)
        return await read(since)

    monkeypatch.setattr(store, "unexpired", counted)
    for seconds in (0, 0.5, 0.4):
        node.clock.move(seconds)
        for _ in range(20):
            await node.parts.revocation.current()
    assert len(reads) == 1


@pytest.mark.skipif(PROGRAM is None, reason="sshd is not installed")
async def test_a_real_server_lets_a_certificate_in_until_it_is_revoked(
    node: Node, client: ApiClient, admin: ApiClient, ada: Holder, tmp_path: Path
) -> None:
    folder, file = tmp_path / "sshd", tmp_path / "revoked"
    folder.mkdir()
    file.write_bytes((await client.get("/api/ssh-ca/krl")).content)
    other = await holder(client, "ada")
    ca = ada.certificate["ca_public_key"]

    async def admitted(holds: Holder, port: int, username: str) -> bool:
        certificate = asyncssh.import_certificate(holds.certificate["certificate"])
        try:
            async with asyncssh.connect(
                "127.0.0.1",
                port,
                username=username,
                client_keys=[(KEY, certificate)],
                known_hosts=None,
                agent_path=None,
                config=None,
                preferred_auth="publickey",
            ):
                return True
        except asyncssh.PermissionDenied:
            return False

    async with running_sshd(folder, trusted_ca=ca, principals="ada", revoked=file) as server:
        assert await admitted(ada, server.port, server.username)
        await log_out(admin, ada)
        node.clock.move(1)
        file.write_bytes((await client.get("/api/ssh-ca/krl")).content)
        assert not await admitted(ada, server.port, server.username)
        assert await admitted(other, server.port, server.username)


async def test_a_certificate_of_the_services_own_login_is_revoked_with_its_user(
    node: Node, ada: Holder, tmp_path: Path
) -> None:
    org_id = (await node.users.by_username("ada")).org_id  # type: ignore[union-attr]
    caller = Caller(user_id=ada.id, org_id=org_id, username="ada", permissions=frozenset())
    await node.ssh_ca.sign_for_device(caller, username="svc", credential_id="c", public_key=PUBLIC)
    assert await revoked(node, tmp_path) == set()
    user = await node.users.find(ada.id)
    assert user is not None
    await node.users.delete(await node.installation.system(), user.id)
    assert await revoked(node, tmp_path) == {1, 2}
