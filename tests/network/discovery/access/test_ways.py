"""The ways to a device that are no command line: who gets which secret, and what comes of a refusal."""

import base64
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from tornado.web import Application, RequestHandler

from netautod.network.devices.models import Device
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.network.discovery.access.target import Access, DeviceTarget
from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.support.servers.certificates import Authority
from tests.support.servers.http import serve

AGENT = {"credential_type": "snmp_community", "username": None, "secret": "c0mmunity"}
USER = {
    "credential_type": "snmp_v3",
    "username": "reader",
    "secret": None,
    "auth_protocol": "SHA256",
    "auth_key": "auth-pass-phrase",
    "priv_protocol": "AES128",
    "priv_key": "priv-pass-phrase",
}


def target_of(fleet: Fleet, device: Device, *, verify_tls: bool = True) -> DeviceTarget:
    access = Access(
        credentials=fleet.parts.devices.credentials,
        sessions=fleet.sessions,
        audit=fleet.installation.audit,
        http=GuardedClient(AddressRules()),
        verify_tls=verify_tls,
    )
    return access.target(fleet.work(bulk=True), device, audited=set())


async def entry(fleet: Fleet, port: int = 9, **fields: Any) -> Device:
    """A device at this machine, whatever answers there."""
    device_id = await fleet.entry("sw1", port, device_type="generic", **fields)
    return await fleet.parts.devices.devices.get(fleet.org_id, device_id)


async def unvouched(fleet: Fleet, device: Device) -> Device:
    operator, _ = fleet.served.client("devices.manage", org_id=fleet.org_id)
    answer = await operator.put(f"/api/devices/{device.id}", {"port": device.port + 1})
    assert (answer.status, answer.json["credential_state"]) == (200, "waits_for_approval")
    return await fleet.parts.devices.devices.get(fleet.org_id, device.id)


async def test_a_community_goes_to_the_agent_of_a_device(fleet: Fleet) -> None:
    credential = await fleet.credential("agents", **AGENT, port=1161)
    target = target_of(fleet, await entry(fleet, snmp_credential_id=credential))
    assert await target.snmp() == SnmpAccess(address="127.0.0.1", port=1161, community="c0mmunity")
    assert [event["resource_id"] for event in await fleet.audited("credential.use")] == [credential]


async def test_a_user_of_version_3(fleet: Fleet) -> None:
    credential = await fleet.credential("agents", **USER)
    user = SnmpUser(
        name="reader",
        auth_protocol="sha256",
        auth_key="auth-pass-phrase",
        priv_protocol="aes",
        priv_key="priv-pass-phrase",
    )
    target = target_of(fleet, await entry(fleet, snmp_credential_id=credential))
    assert await target.snmp() == SnmpAccess(address="127.0.0.1", port=161, user=user)


@pytest.mark.parametrize("fields", [pytest.param(AGENT, id="community"), pytest.param(USER, id="user")])
async def test_no_secret_of_an_agent_goes_to_a_device_that_nobody_vouched_for(
    fleet: Fleet, fields: dict[str, Any]
) -> None:
    credential = await fleet.credential("agents", **fields)
    device = await unvouched(fleet, await entry(fleet, snmp_credential_id=credential))
    with pytest.raises(DeviceFailed) as refused:
        await target_of(fleet, device).snmp()
    assert (refused.value.kind, refused.value.credential_id) == ("not_vouched", credential)
    assert await fleet.audited("credential.use") == []


async def test_an_agent_behind_a_jump_device_is_not_asked(fleet: Fleet) -> None:
    jump = await entry(fleet)
    credential = await fleet.credential("agents", **AGENT)
    device_id = await fleet.entry(
        "inner", 22, device_type="generic", jump_device_id=jump.id, snmp_credential_id=credential
    )
    device = await fleet.parts.devices.devices.get(fleet.org_id, device_id)
    with pytest.raises(DeviceFailed, match="behind a jump device"):
        await target_of(fleet, device).snmp()


async def test_a_credential_for_other_hosts_is_not_sent(fleet: Fleet) -> None:
    credential = await fleet.credential("agents", **AGENT, allowed_hosts=["10.0.0.0/8"])
    with pytest.raises(DeviceFailed, match="credential not allowed for this host") as refused:
        await target_of(fleet, await entry(fleet, snmp_credential_id=credential)).snmp()
    assert refused.value.kind == "credential"


class CommandApi(RequestHandler):
    """Answers what it was sent, and 401 to another password."""

    def post(self) -> None:
        _, _, login = self.request.headers["Authorization"].partition(" ")
        if base64.b64decode(login).decode() != f"admin:{PASSWORD}":
            self.set_status(401)
            return
        self.finish({"path": self.request.path, "sent": json.loads(self.request.body)})


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    certificate, key = Authority(tmp_path, "authority").server("device")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server, url = serve(Application([("/.*", CommandApi)]), tls=context)
    yield int(url.rpartition(":")[2])
    server.stop()
    await server.close_all_connections()


async def test_a_request_carries_the_login_and_its_answer_comes_back(fleet: Fleet, port: int) -> None:
    target = target_of(fleet, await entry(fleet, automation_port=port), verify_tls=False)
    reply = await target.post("/command-api", {"a": 1}, port=443, seconds=10)
    assert (reply.status, json.loads(reply.body)) == (200, {"path": "/command-api", "sent": {"a": 1}})
    assert [event["resource_id"] for event in await fleet.audited("credential.use")] == [fleet.credential_id]


async def test_a_certificate_of_nobody_is_refused_before_the_login_is_sent(fleet: Fleet, port: int) -> None:
    target = target_of(fleet, await entry(fleet, automation_port=port))
    with pytest.raises(DeviceFailed, match="certificate") as refused:
        await target.post("/", {}, port=443, seconds=10)
    assert refused.value.kind == "host_key"


async def test_a_refused_login_is_suspended_and_not_repeated(fleet: Fleet, port: int) -> None:
    wrong = await fleet.credential("wrong", secret="another-pa55word")
    device = await entry(fleet, automation_port=port, automation_credential_id=wrong)
    target = target_of(fleet, device, verify_tls=False)
    for kind in ("auth", "suspended"):
        with pytest.raises(DeviceFailed) as refused:
            await target.post("/", {}, port=443, seconds=10)
        assert refused.value.kind == kind
    assert [event.credential_id for event in fleet.told.suspended] == [wrong]


async def test_no_password_goes_by_https_to_a_device_that_nobody_vouched_for(fleet: Fleet, port: int) -> None:
    device = await unvouched(fleet, await entry(fleet, automation_port=port))
    with pytest.raises(DeviceFailed) as refused:
        await target_of(fleet, device, verify_tls=False).post("/", {}, port=443, seconds=10)
    assert refused.value.kind == "not_vouched"


async def test_a_key_is_no_login_of_https(fleet: Fleet, port: int) -> None:
    text = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    key = await fleet.credential("key", credential_type="ssh_key", secret=text)
    device = await entry(fleet, automation_port=port, automation_credential_id=key)
    with pytest.raises(DeviceFailed, match="takes a user name and a password"):
        await target_of(fleet, device, verify_tls=False).post("/", {}, port=443, seconds=10)


class Server(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return password == PASSWORD


async def _echo(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Says back what it hears, in capitals; the end of the input ends it."""
    async for line in process.stdin:
        process.stdout.write(line.upper())
    process.exit(0)


class Subsystems:
    """An SSH server with one subsystem, `netconf`."""

    def __init__(self) -> None:
        self.key = asyncssh.generate_private_key("ssh-ed25519")

    async def start(self, port: int = 0) -> int:
        self._acceptor = await asyncssh.create_server(
            Server, "127.0.0.1", port, server_host_keys=[self.key], process_factory=self._serve, encoding=None
        )
        return int(self._acceptor.get_port())

    async def stop(self) -> None:
        self._acceptor.close()
        await self._acceptor.wait_closed()

    async def _serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        if process.subsystem != "netconf":
            process.exit(1)
            return
        await _echo(process)


@pytest.fixture
async def subsystems() -> AsyncIterator[tuple[Subsystems, int]]:
    server = Subsystems()
    port = await server.start()
    yield server, port
    await server.stop()


async def said(target: DeviceTarget) -> bytes:
    async with target.connect("netconf", port=830) as channel:
        await channel.send(b"hello\n")
        return await channel.receive()


async def test_a_subsystem_has_a_pinned_key_of_its_own(
    fleet: Fleet, subsystems: tuple[Subsystems, int]
) -> None:
    server, port = subsystems
    device = await entry(fleet, automation_port=port)
    assert await said(target_of(fleet, device)) == b"HELLO\n"
    pinned = await fleet.parts.devices.devices.get(fleet.org_id, device.id)
    assert pinned.port_keys == {port: server.key.get_fingerprint()}
    assert pinned.host_key_fingerprint is None
    await server.stop()
    server.key = asyncssh.generate_private_key("ssh-ed25519")
    await server.start(port)
    with pytest.raises(DeviceFailed) as changed:
        await said(target_of(fleet, pinned))
    assert changed.value.kind == "host_key"
    answer = await fleet.api.post(f"/api/devices/{device.id}/host-key/reset")
    assert answer.status in (200, 204)
    again = await fleet.parts.devices.devices.get(fleet.org_id, device.id)
    assert await said(target_of(fleet, again)) == b"HELLO\n"


async def test_at_the_port_of_the_device_its_own_key_is_the_pinned_one(
    fleet: Fleet, subsystems: tuple[Subsystems, int]
) -> None:
    server, port = subsystems
    device = await entry(fleet, port, automation_port=port)
    assert await said(target_of(fleet, device)) == b"HELLO\n"
    pinned = await fleet.parts.devices.devices.get(fleet.org_id, device.id)
    assert (pinned.host_key_fingerprint, pinned.port_keys) == (server.key.get_fingerprint(), {})


async def test_a_pinned_key_of_a_port_speaks_for_the_device_there_and_nowhere_else(
    fleet: Fleet, subsystems: tuple[Subsystems, int]
) -> None:
    _, port = subsystems
    fleet.sessions.reach = DeviceReach(rules=AddressRules.allowing(["127.0.0.0/8"]))
    device = await entry(fleet, automation_port=port)
    await said(target_of(fleet, device))
    moved = await unvouched(fleet, await fleet.parts.devices.devices.get(fleet.org_id, device.id))
    assert await said(target_of(fleet, moved)) == b"HELLO\n"
    with pytest.raises(DeviceFailed) as refused:
        async with target_of(fleet, moved).login():
            pass
    assert refused.value.kind == "not_vouched"


async def test_the_session_of_a_subsystem_is_the_one_session_of_the_device(
    fleet: Fleet, subsystems: tuple[Subsystems, int]
) -> None:
    _, port = subsystems
    device = await entry(fleet, automation_port=port)
    target = target_of(fleet, device)
    object.__setattr__(target.scope, "patience", 0.05)
    async with target_of(fleet, device).connect("netconf", port=830):
        with pytest.raises(DeviceFailed) as busy:
            await said(target)
    assert busy.value.kind == "busy"
