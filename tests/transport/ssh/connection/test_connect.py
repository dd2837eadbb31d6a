"""Connections: every way to fail has its kind, and a credential is given away once at most."""

import asyncio
import socket
from typing import Any

import asyncssh
import pytest

from netautod.core.errors import InvalidInput
from netautod.testing import Faults, LoginAttempt, SimulatedDevice
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Hop, Login, SessionLimits, Target
from tests.transport.ssh.conftest import MakeTarget


async def _failure(target: Target, login: Login, limits: SessionLimits) -> DeviceFailed:
    with pytest.raises(DeviceFailed) as caught:
        async with open_session(target, login, limits=limits):
            pass
    return caught.value


def _key_pair() -> tuple[str, str]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    return key.export_private_key().decode(), key.export_public_key().decode()


async def test_password_login_reports_the_host_key(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice() as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        assert session.host_key_fingerprint == device.fingerprint
        assert device.login_attempts == [LoginAttempt("password", True)]


async def test_keyboard_interactive_only(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(keyboard_interactive_only=True) as device:
        async with open_session(make_target(device), login, limits=limits):
            pass
        assert device.login_attempts == [LoginAttempt("keyboard-interactive", True)]


async def test_key_login(make_target: MakeTarget, limits: SessionLimits) -> None:
    private, public = _key_pair()
    async with SimulatedDevice(password=None, authorized_key=public) as device:
        login = Login(username="admin", private_key=private)
        async with open_session(make_target(device), login, limits=limits) as session:
            assert "Cisco IOS" in await session.run("show version")
        assert device.login_attempts == [LoginAttempt("publickey", True)]


@pytest.mark.parametrize("only", [False, True], ids=["password offered first", "keyboard-interactive only"])
async def test_a_wrong_password_costs_one_try(
    make_target: MakeTarget, limits: SessionLimits, only: bool
) -> None:
    async with SimulatedDevice(keyboard_interactive_only=only) as device:
        failure = await _failure(make_target(device), Login(username="admin", password="wrong"), limits)
        assert failure.kind == "auth"
        assert "refused" in failure.text
        assert "wrong user name or password" in failure.text
        assert len(device.login_attempts) == 1


async def test_a_wrong_key_costs_one_attempt_and_no_password(
    make_target: MakeTarget, limits: SessionLimits
) -> None:
    async with SimulatedDevice(authorized_key=_key_pair()[1]) as device:
        login = Login(username="admin", private_key=_key_pair()[0])
        failure = await _failure(make_target(device), login, limits)
        assert failure.kind == "auth"
        assert device.login_attempts == [LoginAttempt("publickey", False)]


async def test_a_device_that_hangs_up_on_the_login_counts_as_refusal(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(faults=Faults(hang_up_on_login=True, refuse_logins=True)) as device:
        failure = await _failure(make_target(device), login, limits)
        assert failure.kind == "auth"
        assert len(device.login_attempts) == 1


async def test_an_expired_password_is_not_changed(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(faults=Faults(expired_password=True)) as device:
        failure = await _failure(make_target(device), login, limits)
        assert failure.kind == "auth"
        assert "password to be changed" in failure.text
        assert device.login_attempts == []


async def test_a_changed_host_key_stops_before_the_credential(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice() as device:
        pinned = device.fingerprint
        target = make_target(device, host_key_fingerprint=pinned)
        async with open_session(target, login, limits=limits):
            pass
        device.change_host_key()
        device.login_attempts.clear()
        failure = await _failure(target, login, limits)
        assert failure.kind == "host_key"
        assert "host key changed" in failure.text
        assert pinned in failure.text
        assert device.fingerprint in failure.text
        assert device.login_attempts == []


@pytest.mark.filterwarnings("ignore:Diffie-Hellman over finite fields")  # cryptography warns of what we test
@pytest.mark.parametrize(
    ("algorithms", "offered"),
    [("compatible", "diffie-hellman-group14-sha1"), ("legacy", "diffie-hellman-group1-sha1")],
)
async def test_old_algorithms_name_the_profile_that_then_works(
    make_target: MakeTarget, login: Login, limits: SessionLimits, algorithms: str, offered: str
) -> None:
    async with SimulatedDevice(algorithms=algorithms) as device:  # type: ignore[arg-type]  # parametrized
        failure = await _failure(make_target(device), login, limits)
        assert failure.kind == "kex"
        assert offered in failure.text
        assert f"'{algorithms}'" in failure.text
        async with open_session(make_target(device, ssh_profile=algorithms), login, limits=limits) as session:
            assert session.prompt == "sw1#"


async def test_a_closed_port_is_refused(
    platforms: PlatformRegistry, login: Login, limits: SessionLimits
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        target = Target(host="127.0.0.1", port=port, platform=platforms.get("linux"))
        failure = await _failure(target, login, limits)
    assert failure.kind == "refused"
    assert f"127.0.0.1 port {port}" in failure.text


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64 + ".example"])
async def test_a_name_that_does_not_resolve(
    platforms: PlatformRegistry,
    login: Login,
    limits: SessionLimits,
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(*args: object, **kwargs: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    if len(host) < 64:  # the label of the other one is too long to be asked for
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
    failure = await _failure(Target(host=host, platform=platforms.get("linux")), login, limits)
    assert failure.kind == "dns"


async def test_a_port_that_says_nothing_times_out(platforms: PlatformRegistry, login: Login) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        target = Target(host="127.0.0.1", port=port, platform=platforms.get("linux"))
        failure = await _failure(target, login, SessionLimits(login_seconds=0.2))
    assert failure.kind == "timeout"
    assert "0.2 s" in failure.text


async def test_a_port_that_hangs_up(platforms: PlatformRegistry, login: Login, limits: SessionLimits) -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        target = Target(host="127.0.0.1", port=port, platform=platforms.get("linux"))
        failure = await _failure(target, login, limits)
    assert failure.kind == "lost"


async def test_through_a_jump_device(make_target: MakeTarget, login: Login, limits: SessionLimits) -> None:
    async with SimulatedDevice(password="jump") as jump, SimulatedDevice() as device:
        hop = Hop(host=jump.host, port=jump.port, login=Login(username="admin", password="jump"))
        async with open_session(make_target(device, jump=hop), login, limits=limits) as session:
            assert session.host_key_fingerprint == device.fingerprint
            assert session.jump_host_key_fingerprints == (jump.fingerprint,)
            assert jump.open_connections == 1
        await jump.wait_until(lambda seen: seen.open_connections == 0)


async def test_a_refusal_of_the_jump_device_is_not_held_against_the_device(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(password="jump") as jump, SimulatedDevice() as device:
        hop = Hop(host=jump.host, port=jump.port, login=Login(username="admin", password="wrong"))
        failure = await _failure(make_target(device, jump=hop), login, limits)
        assert (failure.kind, failure.hop) == ("auth", jump.host)
        assert device.login_attempts == []


async def test_a_device_behind_the_jump_device_that_is_down(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice() as jump, SimulatedDevice() as device:
        hop = Hop(host=jump.host, port=jump.port, login=login)
        target = make_target(device, jump=hop)
        await device.stop()
        failure = await _failure(target, login, limits)
        assert (failure.kind, failure.hop) == ("refused", None)
        await jump.wait_until(lambda seen: seen.open_connections == 0)


def test_a_login_never_shows_its_secrets() -> None:
    login = Login(username="admin", password="p4ss", enable_secret="en4ble")
    assert "p4ss" not in repr(login)
    assert "en4ble" not in repr(login)
    keyed = Login(username="admin", private_key="k3y", passphrase="phr4se")
    assert "k3y" not in repr(keyed)
    assert "phr4se" not in repr(keyed)


@pytest.mark.parametrize("given", [{}, {"password": "p", "private_key": "k"}], ids=["neither", "both"])
def test_a_login_has_exactly_one_credential(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="either a password or a private key"):
        Login(username="admin", **given)


async def test_a_key_that_cannot_be_read(make_target: MakeTarget, limits: SessionLimits) -> None:
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    encrypted = key.export_private_key("pkcs8-pem", passphrase="right").decode()
    async with SimulatedDevice() as device:
        for login in (
            Login(username="admin", private_key="not a key"),
            Login(username="admin", private_key=encrypted, passphrase="wrong"),
            Login(username="admin", private_key=encrypted),
        ):
            failure = await _failure(make_target(device), login, limits)
            assert failure.kind == "auth"
            assert "cannot be read" in failure.text
        assert device.login_attempts == []
        assert Login(username="admin", private_key=encrypted, passphrase="right").key is not None


async def test_nothing_of_the_users_ssh_folder_or_agent_is_read(
    make_target: MakeTarget,
    limits: SessionLimits,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ignore a default key and an agent that would log in: only the credential given counts."""
    private, public = _key_pair()
    home = tmp_path_factory.mktemp("home")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text(private)
    (home / ".ssh" / "config").write_text("Host *\n  Port 1\n  User someone\n")
    monkeypatch.setenv("HOME", str(home))
    requested = asyncio.Event()

    async def agent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requested.set()
        writer.close()

    server = await asyncio.start_unix_server(agent, str(home / "agent"))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(home / "agent"))
    async with server, SimulatedDevice(authorized_key=public) as device:
        failure = await _failure(make_target(device), Login(username="admin", password="wrong"), limits)
        assert failure.kind == "auth"
        failure = await _failure(
            make_target(device), Login(username="admin", private_key=_key_pair()[0]), limits
        )
        assert failure.kind == "auth"
        assert [attempt.method for attempt in device.login_attempts] == ["password", "publickey"]
    assert not requested.is_set()
