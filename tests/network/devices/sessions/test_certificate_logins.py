"""Logins with a certificate of our own authority: a real server that trusts nothing else, and who may."""

import getpass
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from netautod.transport.ssh.target import Login
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error
from tests.support.programs.sshd import PROGRAM, running_sshd


def private_key(kind: str = "ssh-ed25519", bits: int = 3072) -> str:
    options: dict[str, Any] = {"key_size": bits} if kind == "ssh-rsa" else {}
    return asyncssh.generate_private_key(kind, **options).export_private_key().decode()


async def key_credential(fleet: Fleet, name: str = "key", **fields: Any) -> str:
    body = {"credential_type": "ssh_key", "secret": private_key(), "use_certificate": True, **fields}
    return await fleet.credential(name, **body)


async def message(fleet: Fleet, device_id: str) -> str:
    return str((await fleet.tested(device_id))["message"])


async def trusting(fleet: Fleet, folder: Path, principals: str) -> Any:
    """A server that trusts the certificates of the organization for these principals."""
    ca = (await fleet.ssh_ca.public_key(fleet.org_id)).ca_public_key
    return running_sshd(folder, trusted_ca=ca, principals=principals)


@pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")
@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"])
async def test_a_server_that_trusts_our_authority_alone(fleet: Fleet, tmp_path: Path, kind: str) -> None:
    (tmp_path / "sshd").mkdir()
    me = getpass.getuser()
    async with await trusting(fleet, tmp_path / "sshd", me) as server:
        certified = await key_credential(fleet, username=me, secret=private_key(kind))
        device_id = await fleet.entry(
            "host", server.port, device_type="linux", default_credential_id=certified
        )
        command = {"command": "echo in"}
        answer = (await fleet.api.post(f"/api/devices/{device_id}/exec-command", command)).json
        assert (answer["success"], answer["output"]) == (True, "in\n"), answer
        (event,) = await fleet.audited("ssh_certificate.sign")
        assert (event["resource_id"], event["details"]["principal"]) == (certified, me)
        await fleet.api.put(f"/api/credentials/{certified}", {"use_certificate": False})
        assert (await message(fleet, device_id)).startswith("login failed: ")


@pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")
async def test_a_certificate_for_another_name_does_not_open_the_server(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "sshd").mkdir()
    async with await trusting(fleet, tmp_path / "sshd", "somebody-else") as server:
        certified = await key_credential(fleet, username=server.username)
        device_id = await fleet.entry(
            "host", server.port, device_type="linux", default_credential_id=certified
        )
        assert (await message(fleet, device_id)).startswith("login failed: ")


async def test_a_run_signs_once_for_all_of_its_devices(fleet: Fleet) -> None:
    certified = await key_credential(fleet, username="admin")
    ids = [await fleet.device(fleet.simulated(f"sw{n}"), default_credential_id=certified) for n in range(3)]
    answer = (await fleet.api.post("/api/devices/bulk/test-credentials", {"device_ids": ids})).json
    assert answer["failed"] == 3  # the simulated ones trust no authority
    assert len(await fleet.audited("ssh_certificate.sign")) == 1


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"username": "reserved"}, "the reserved name reserved", id="a reserved name"),
        pytest.param(
            {"secret": private_key("ssh-rsa", bits=2048)},
            "RSA with 3072",
            id="a key that is too short",
        ),
    ],
)
async def test_what_gets_no_certificate_sends_nothing(
    fleet: Fleet, fields: dict[str, Any], text: str
) -> None:
    switch = fleet.simulated()
    certified = await key_credential(fleet, **fields)
    device_id = await fleet.device(switch, default_credential_id=certified)
    said = await message(fleet, device_id)
    assert said.startswith("no usable credential: ")
    assert text in said
    assert switch.login_attempts == []


async def test_who_may_have_certificates_made(fleet: Fleet) -> None:
    """The authority vouches for any name, so this is more than keeping credentials."""
    keeper = fleet.with_permissions("credentials.manage")
    body = {"name": "k", "credential_type": "ssh_key", "username": "admin", "secret": private_key()}
    assert_error(await keeper.post("/api/credentials", {**body, "use_certificate": True}), 403)
    plain = await keeper.post("/api/credentials", body)
    assert (plain.status, plain.json["use_certificate"]) == (201, False)
    path = f"/api/credentials/{plain.json['id']}"
    assert_error(await keeper.put(path, {"use_certificate": True}), 403)
    assert (await fleet.api.put(path, {"use_certificate": True})).json["use_certificate"] is True
    for change in ({"username": "ada"}, {"secret": private_key()}):
        assert_error(await keeper.put(path, change), 403)
    unchanged = {"description": "for the lab", "username": "admin", "use_certificate": True}
    assert (await keeper.put(path, unchanged)).status == 200
    assert (await keeper.put(path, {"use_certificate": False})).json["use_certificate"] is False


async def test_a_certificate_needs_a_key(fleet: Fleet) -> None:
    password = f"/api/credentials/{fleet.credential_id}"
    assert_error(await fleet.api.put(password, {"use_certificate": True}), 400, "use_certificate")
    key = f"/api/credentials/{await key_credential(fleet)}"
    change = {"credential_type": "ssh_password", "secret": "pa55word"}
    assert (await fleet.api.put(key, change)).json["use_certificate"] is False
    for wrong in (None, "yes", 1):
        assert_error(await fleet.api.put(key, {"use_certificate": wrong}), 400, "use_certificate")


async def test_the_key_alone_is_never_offered_beside_its_certificate(fleet: Fleet) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    certificate = await fleet.ssh_ca.sign_for_device(
        fleet.caller, username="admin", credential_id="c", public_key=key.export_public_key().decode()
    )
    login = Login(username="admin", private_key=key.export_private_key().decode(), certificate=certificate)
    offered = login.key_pair
    assert isinstance(offered, asyncssh.SSHKeyPair)
    assert offered.algorithm == b"ssh-ed25519-cert-v01@openssh.com"
    assert key.export_private_key().decode() not in repr(login)
