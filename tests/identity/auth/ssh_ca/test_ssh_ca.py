"""SSH certificates from a login: how OpenSSH reads them, who gets one, and the authority behind them."""

import asyncio
import shutil
from asyncio.subprocess import PIPE
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.core.json.values import to_text
from netautod.identity.auth.ssh_ca import store as ssh_ca
from netautod.identity.auth.ssh_ca.public_keys import parse_public_key
from netautod.identity.users.models import NewUser
from netautod.secrets.vault.rewrapping import rewrap
from tests.identity.auth.support import Node, NodeStarter
from tests.support.client import ApiClient, assert_error
from tests.support.clock import MovableClock
from tests.support.installation import PASSWORD, Installation
from tests.support.programs.sshd import PROGRAM, running_sshd

KEYGEN = shutil.which("ssh-keygen")
Http = Callable[[Node], ApiClient]


def new_key(kind: str = "ssh-ed25519") -> tuple[asyncssh.SSHKey, str]:
    key = asyncssh.generate_private_key(kind)
    return key, key.export_public_key().decode().strip()


@pytest.fixture
async def ada(installation: Installation) -> str:
    await installation.add("ada", "viewer")
    return "ada"


async def log_in(client: ApiClient, username: str, public_key: str | None = None) -> Any:
    body = {"username": username, "password": PASSWORD}
    return (
        await client.post("/api/auth/login", {**body, "public_key": public_key} if public_key else body)
    ).expect()


async def listed(certificate: str, folder: Path) -> list[str]:
    """Return the lines that `ssh-keygen -L` prints, trimmed."""
    file = folder / "key-cert.pub"
    file.write_text(certificate + "\n")
    assert KEYGEN is not None
    process = await asyncio.create_subprocess_exec(
        KEYGEN, "-L", "-f", str(file), stdout=PIPE, env={"TZ": "UTC"}
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return [line.strip() for line in output.decode().splitlines()]


@pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed")
async def test_what_ssh_keygen_says_of_a_certificate(
    node: Node, http: Http, ada: str, clock: MovableClock, tmp_path: Path
) -> None:
    key, public = new_key()
    client = http(node)
    answer = await log_in(client, ada, f"{public} ada@laptop")
    made = answer["ssh_certificate"]
    sessions = await node.documents("sessions")
    lines = await listed(made["certificate"], tmp_path)
    authority = await client.with_token(answer["access_token"]).get("/api/ssh-ca")
    assert made["ca_public_key"] == authority.json["ca_public_key"]
    begin = clock.now().replace(microsecond=0) - timedelta(seconds=60)
    end = begin + timedelta(seconds=60, hours=8)
    assert (made["valid_after"], made["valid_before"], made["serial"]) == (to_text(begin), to_text(end), 1)
    assert lines[1:] == [
        "Type: ssh-ed25519-cert-v01@openssh.com user certificate",
        f"Public key: ED25519-CERT {key.get_fingerprint('sha256')}",
        f"Signing CA: ED25519 {authority.json['fingerprint']} (using ssh-ed25519)",
        f'Key ID: "ada {sessions[0]["_id"]}"',
        "Serial: 1",
        f"Valid: from {begin:%Y-%m-%dT%H:%M:%S} to {end:%Y-%m-%dT%H:%M:%S}",
        "Principals:",
        "ada",
        "Critical Options: (none)",
        "Extensions:",
        "permit-X11-forwarding",
        "permit-agent-forwarding",
        "permit-port-forwarding",
        "permit-pty",
        "permit-user-rc",
    ]


async def admitted(port: int, username: str, key: asyncssh.SSHKey, certificate: str) -> bool:
    """Return whether the server accepts the key with the certificate."""
    try:
        async with asyncssh.connect(
            "127.0.0.1",
            port,
            username=username,
            client_keys=[(key, asyncssh.import_certificate(certificate))],
            known_hosts=None,
            agent_path=None,
            config=None,
            preferred_auth="publickey",
        ) as connection:
            return (await connection.run("echo in")).stdout == "in\n"
    except asyncssh.PermissionDenied:
        return False


@pytest.mark.skipif(PROGRAM is None, reason="sshd is not installed")
@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"])
async def test_a_real_server_that_trusts_the_authority_alone(
    node: Node,
    http: Http,
    installation: Installation,
    clock: MovableClock,
    tmp_path: Path,
    ada: str,
    kind: str,
) -> None:
    await installation.add("grace", "viewer")
    client = http(node)
    key = asyncssh.generate_private_key(kind, key_size=3072) if kind == "ssh-rsa" else new_key(kind)[0]
    public = key.export_public_key().decode()
    adas, graces = [
        (await log_in(client, name, public))["ssh_certificate"]["certificate"] for name in (ada, "grace")
    ]
    clock.move(-8 * 3600 - 61)
    expired = (await log_in(client, ada, public))["ssh_certificate"]["certificate"]
    default = await installation.organizations.default_id()
    ca = (await node.ssh_ca.public_key(default)).ca_public_key
    (tmp_path / "sshd").mkdir()
    async with running_sshd(tmp_path / "sshd", trusted_ca=ca, principals=ada) as server:
        assert await admitted(server.port, server.username, key, adas)
        assert not await admitted(server.port, server.username, key, graces)
        assert not await admitted(server.port, server.username, key, expired)
        stolen = new_key()[0]
        with pytest.raises(ValueError, match="mismatch"):
            await admitted(server.port, server.username, stolen, adas)


async def test_a_login_without_a_key_gets_no_certificate(node: Node, http: Http, ada: str) -> None:
    client = http(node)
    assert "ssh_certificate" not in await log_in(client, ada)
    for nothing in (None, ""):
        body = {"username": ada, "password": PASSWORD, "public_key": nothing}
        answer = await client.post("/api/auth/login", body)
        assert "ssh_certificate" not in answer.json
    assert await node.documents("ssh_cas") == []


async def test_serial_numbers_are_never_given_twice(start: NodeStarter, http: Http, ada: str) -> None:
    clients = [http(await start()) for _ in range(3)]
    _, public = new_key()
    answers = await asyncio.gather(*(log_in(clients[n % 3], ada, public) for n in range(12)))
    certificates = [answer["ssh_certificate"] for answer in answers]
    assert sorted(made["serial"] for made in certificates) == list(range(1, 13))
    assert len({made["ca_public_key"] for made in certificates}) == 1


async def test_each_organization_has_an_authority_of_its_own(
    node: Node, http: Http, installation: Installation
) -> None:
    other = await installation.organizations.create_organization("other", admin="olga", password=PASSWORD)
    client = http(node)
    _, public = new_key()
    ours = (await log_in(client, "admin", public))["ssh_certificate"]
    theirs = (await log_in(client, "olga", public))["ssh_certificate"]
    assert ours["ca_public_key"] != theirs["ca_public_key"]
    assert (ours["serial"], theirs["serial"]) == (1, 1)
    key = await node.ssh_ca.public_key(other.organization.id)
    assert key.ca_public_key == theirs["ca_public_key"]


async def test_the_authority_is_for_any_valid_token(node: Node, http: Http, ada: str) -> None:
    client = http(node)
    assert_error(await client.get("/api/ssh-ca"), 401)
    viewer = client.with_token((await node.log_in(ada)).access_token)
    first, again = [(await viewer.get("/api/ssh-ca")).json for _ in range(2)]
    assert first == again
    assert first["ca_public_key"].startswith("ssh-ed25519 ")
    assert (
        asyncssh.import_public_key(first["ca_public_key"]).get_fingerprint("sha256") == first["fingerprint"]
    )


async def test_a_reserved_name_gets_no_certificate_and_no_session(
    node: Node, http: Http, installation: Installation
) -> None:
    await installation.add("root", "viewer")
    client = http(node)
    _, public = new_key()
    body = {"username": "ROOT", "password": PASSWORD, "public_key": public}
    assert_error(await client.post("/api/auth/login", body), 400, "reserved")
    assert await node.documents("sessions") == []
    assert "access_token" in await log_in(client, "root")


async def test_a_wrong_password_gets_no_certificate(node: Node, http: Http, ada: str) -> None:
    body = {"username": ada, "password": "wrong", "public_key": new_key()[1]}
    assert_error(await http(node).post("/api/auth/login", body), 401)
    assert await node.documents("ssh_cas") == []


async def test_a_disabled_users_key_is_not_signed(node: Node, http: Http, ada: str) -> None:
    user = await node.users.by_username(ada)
    assert user is not None
    await node.users.update(system_caller(user.org_id), user.id, {"is_active": False})
    body = {"username": ada, "password": PASSWORD, "public_key": new_key()[1]}
    assert_error(await http(node).post("/api/auth/login", body), 401)


async def test_the_private_key_is_sealed_and_every_signature_audited(
    node: Node, http: Http, ada: str
) -> None:
    key, public = new_key()
    answer = await log_in(http(node), ada, public)
    (stored,) = await node.documents("ssh_cas")
    assert set(stored) == {"_id", "org_id", "private_key", "serial", "created_at"}
    assert b"ssh-ed25519" not in str(stored).encode()
    (event,) = await node.documents("audit_events", {"action": "ssh_certificate.sign"})
    assert event["details"] == {
        "serial": 1,
        "principals": ["ada"],
        "fingerprint": key.get_fingerprint("sha256"),
        "valid_before": answer["ssh_certificate"]["valid_before"],
    }


async def test_the_authority_outlives_a_rotation_of_keys(node: Node, installation: Installation) -> None:
    org_id = await installation.organizations.default_id()
    before = await node.ssh_ca.public_key(org_id)
    await installation.vault.rotate_organization_key(org_id)
    result = await rewrap(installation.vault, installation.database, ssh_ca.SEALED_FIELDS)
    assert (result.rewrapped, result.failed) == (1, 0)
    assert await node.ssh_ca.public_key(org_id) == before


async def test_a_user_of_a_name_like_a_list_is_one_principal(node: Node, installation: Installation) -> None:
    """Refuse a separator in a username: principals are a list in the certificate."""
    with pytest.raises(InvalidInput):
        await node.users.create(
            await installation.system(), NewUser(username="ada,root", password=PASSWORD, roles=())
        )


def openssh(key: Any) -> str:
    return str(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode())


ED25519 = new_key()[1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ED25519, id="Ed25519"),
        pytest.param(f"  {ED25519} a comment of words\n", id="a comment and spaces around it"),
        pytest.param(openssh(ec.generate_private_key(ec.SECP256R1())), id="ECDSA with 256 bits"),
        pytest.param(openssh(ec.generate_private_key(ec.SECP521R1())), id="ECDSA with 521 bits"),
        pytest.param(openssh(rsa.generate_private_key(65537, 3072)), id="RSA with 3072 bits"),
    ],
)
def test_keys_that_are_accepted(text: str) -> None:
    assert parse_public_key(text).fingerprint == asyncssh.import_public_key(text).get_fingerprint("sha256")


def certificate_of(text: str) -> str:
    authority = asyncssh.generate_private_key("ssh-ed25519")
    made = authority.generate_user_certificate(asyncssh.import_public_key(text), "id", principals=["root"])
    return made.export_certificate().decode().strip()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ssh-ed25519", id="a type alone"),
        pytest.param("ssh-ed25519 AAAA", id="a type and nothing behind it"),
        pytest.param("ssh-ed25519 not/base64!", id="no base64"),
        pytest.param(ED25519[:-8], id="a key that is cut off"),
        pytest.param(ED25519.replace("ssh-ed25519", "ssh-rsa"), id="another type than the key's"),
        pytest.param(ED25519.split(" ")[1], id="no type"),
        pytest.param(f'command="sh" {ED25519}', id="options before the key"),
        pytest.param(f"{ED25519}\n{ED25519}", id="two keys"),
        pytest.param(f"{ED25519} a\rb", id="a line break in the comment"),
        pytest.param(f"{ED25519} a\0b", id="a NUL"),
        pytest.param(certificate_of(ED25519), id="a certificate"),
        pytest.param(openssh(rsa.generate_private_key(65537, 2048)), id="RSA with 2048 bits"),
        pytest.param("ssh-dss AAAAB3NzaC1kc3MAAACBAP", id="DSA"),
        pytest.param("sk-ssh-ed25519@openssh.com AAAAGnNr", id="a security key"),
        pytest.param("-----BEGIN PUBLIC KEY-----", id="PEM"),
        pytest.param("-----BEGIN OPENSSH PRIVATE KEY-----", id="a private key"),
        pytest.param("\u0130ssh-ed25519 AAAA", id="letters outside ASCII"),
    ],
)
def test_keys_that_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^public_key: "):
        parse_public_key(text)


async def test_a_bad_key_is_a_400_before_the_password_is_looked_at(node: Node, http: Http, ada: str) -> None:
    client = http(node)
    for body in (
        {"username": ada, "password": "wrong", "public_key": "ssh-rsa AAAA"},
        {"username": ada, "password": PASSWORD, "public_key": {"$ne": ""}},
        {"username": ada, "password": PASSWORD, "public_key": "x" * 20_000},
    ):
        assert_error(await client.post("/api/auth/login", body), 400, "public_key")
    assert await node.actions() == []
