"""The plugins of the guide at work; test_wheels.py runs this where their wheels are installed."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from acme_login import hashed  # type: ignore[import-not-found]
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from netautod.testing import (
    CliScript,
    DeviceUnderTest,
    LocalServer,
    ScriptedCommand,
    ServiceClient,
    ServiceUnderTest,
    SimulatedDevice,
    http_answer,
)

NAMES = {"my_plugin", "acme_platform", "acme_inventory", "acme_login"}
SCRIPT = CliScript(
    prompts={"privileged": "{host}#"},
    mode="privileged",
    commands=(ScriptedCommand(command="show config all", modes=("privileged",)),),
    unknown="Unknown command\n",
)
CONFIG = """\
# generated at 2026-11-21 06:44:12
hostname sw1
user admin password s3cret
# end of configuration
"""


def test_all_are_installed_from_wheels_and_work(netautod_service: ServiceUnderTest) -> None:
    rows = [line.split(maxsplit=2) for line in netautod_service.run("plugins").splitlines()]
    found = {name: (version, state) for name, version, state in rows}
    assert set(found) >= NAMES
    assert {state for _, state in found.values()} == {"ok"}
    for name in NAMES:
        module = __import__(name)
        assert "site-packages" in Path(module.__file__ or "").parts


def test_the_executor_runs(netautod_client: ServiceClient, netautod_device: DeviceUnderTest) -> None:
    netautod_device.simulated.responses = {"show uptime": "3 days\n"}
    done = netautod_client.run_task("ask", {"command": "show uptime"})
    assert (done["state"], done["output"]) == ("completed", {"sw1": "3 days"})


def test_the_blocking_executor_runs(netautod_client: ServiceClient, netautod_device: DeviceUnderTest) -> None:
    assert netautod_client.run_task("resolve")["output"] == {"sw1": "127.0.0.1"}


def test_the_source_syncs(netautod_client: ServiceClient) -> None:
    lines = "# acme inventory\nsw1 192.0.2.1\nsw2\n"
    with LocalServer({"/devices.txt": http_answer(lines)}) as inventory:
        body = {"inventory_url": inventory.url, "token": "canary"}
        synced = netautod_client.post("/api/devices/sync/inventory", body).json
    assert (synced["added"], synced["failed"]) == (1, 1)
    assert inventory.requests[-1].headers["authorization"] == "Bearer canary"


def test_the_provider_logs_in(netautod_service: ServiceUnderTest, users: Path) -> None:
    users.write_text(f"grace {hashed('grace', 'a pass phrase')}\n")
    anonymous = ServiceClient(url=netautod_service.url)
    names = {provider["name"] for provider in anonymous.get("/api/auth/providers").json["providers"]}
    assert "acme_login" in names
    grace = anonymous.login("grace", "a pass phrase", provider="acme_login")
    assert grace.get("/api/auth/me").json["username"] == "grace"
    wrong = {"username": "grace", "password": "another", "provider": "acme_login"}
    assert anonymous.post("/api/auth/login", wrong).status == 401


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    """Return the TLS context of a server whose certificate no client trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sw")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_the_collector_polls(
    netautod_client: ServiceClient, netautod_device: DeviceUnderTest, tls: ssl.SSLContext
) -> None:
    rows: list[dict[str, Any]] = [{"name": "Gi0/1", "description": "", "up": True, "mac": "0000.0c12.3456"}]
    with LocalServer({"POST /rest": rows}, tls=tls) as switch:
        path = f"/api/devices/{netautod_device.id}"
        fields = {"automation_transport": "my_rest", "automation_port": switch.port}
        assert netautod_client.put(path, fields).status == 200
        poll = netautod_client.poll(netautod_device.id)
    assert poll["sources"]["interfaces"] == "my_rest"
    interfaces = netautod_client.get(f"{path}/interfaces").json["interfaces"]
    assert [row["name"] for row in interfaces] == ["GigabitEthernet0/1"]


class TestThePlatform:
    @pytest.fixture
    def netautod_simulated(self) -> SimulatedDevice:
        return SimulatedDevice(platform="acme_os", script=SCRIPT, config=CONFIG)

    def test_captures(self, netautod_client: ServiceClient, netautod_device: DeviceUnderTest) -> None:
        assert netautod_client.run_task("backup")["state"] == "completed"
        path = f"/api/config/devices/{netautod_device.id}/configs/latest"
        text = netautod_client.get(path).json["config_text"]
        assert "hostname sw1" in text
        assert "s3cret" not in text
