"""Against a server that nobody here wrote: OpenSSH's sshd, private to the test, on a free port."""

import asyncio
import getpass
import os
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh
import pytest
import pytest_asyncio

from netautod.ssh.capture import capture
from netautod.ssh.failures import DeviceFailure
from netautod.ssh.login import Login, Target
from netautod.ssh.platform_model import CaptureItem
from netautod.ssh.platforms import PlatformRegistry
from netautod.ssh.session import KILLED, open_session
from tests.support.platform_fixtures import load

_SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(_SSHD is None, reason="no sshd (apt package openssh-server)")


@dataclass(frozen=True, kw_only=True)
class Sshd:
    """A running server and the key that logs in to it."""

    port: int
    private_key: str
    fingerprint: str


def _configuration(folder: Path, port: int) -> Path:
    path = folder / "sshd_config"
    path.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\nAuthorizedKeysFile {folder}/authorized_keys\n"
    )
    return path


def _hostname() -> str:
    return Path("/etc/hostname").read_text().strip()


async def _listening(port: int) -> None:
    async with asyncio.timeout(5):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)  # sshd has no way to say that it is ready
            else:
                writer.close()
                await writer.wait_closed()
                return


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sshd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sshd]:
    assert _SSHD is not None
    folder = tmp_path_factory.mktemp("sshd")
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    host_key.write_private_key(folder / "host_key")
    (folder / "host_key").chmod(0o600)
    key = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "authorized_keys").write_bytes(key.export_public_key())
    if os.geteuid() == 0:  # sshd run by root insists on its privilege separation folder
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        _SSHD, "-D", "-e", "-f", str(_configuration(folder, port)), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await _listening(port)
        yield Sshd(
            port=port,
            private_key=key.export_private_key().decode(),
            fingerprint=host_key.get_fingerprint("sha256"),
        )
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture
def target(sshd: Sshd, platforms: PlatformRegistry) -> Target:
    return Target(
        host="127.0.0.1",
        port=sshd.port,
        platform=platforms.get("linux"),
        host_key_fingerprint=sshd.fingerprint,
    )


@pytest.fixture
def login(sshd: Sshd) -> Login:
    return Login(username=getpass.getuser(), private_key=sshd.private_key)


async def test_a_linux_host_is_captured(target: Target, login: Login) -> None:
    async with open_session(target, login) as session:
        taken = await capture(session)
    assert taken.raw.startswith(f"### file /etc/hostname\n{_hostname()}\n")
    assert "\n### file /etc/passwd\nroot:x:0:0:" in taken.raw
    assert f"\n### command uname -srm\n{os.uname().sysname} {os.uname().release}" in taken.raw


async def test_the_parts_are_those_of_the_recorded_fixture(target: Target, login: Login) -> None:
    """What this machine lacks is said in a note."""
    async with open_session(target, login) as session:
        taken = await capture(session)
    heads = [line for line in load("linux").first.split("\n") if line.startswith("### ")]
    skipped = {f"### {note.partition(' skipped: ')[0]}" for note in taken.notes}
    here = [line for line in taken.raw.split("\n") if line.startswith("### ")]
    assert here == [head for head in heads if head not in skipped]


async def test_an_operator_chooses_what_is_read(target: Target, login: Login, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen.conf"
    chosen.write_text("option on\n")
    entries = [str(chosen), "/no/such/file", "echo read by a command", "-false", "no-such-program-here"]
    registry = PlatformRegistry()
    registry.capture_instead("linux", [CaptureItem.parse(entry) for entry in entries])
    async with open_session(replace(target, platform=registry.get("debian")), login) as session:
        taken = await capture(session)
    assert taken.raw == (
        f"### file {chosen}\noption on\n\n### command echo read by a command\nread by a command\n"
    )
    assert [note.partition(" skipped")[0] for note in taken.notes] == [
        "file /no/such/file",
        "command false",
        "command no-such-program-here",
    ]


async def test_exit_status_and_error_stream(target: Target, login: Login) -> None:
    async with open_session(target, login) as session:
        result = await session.execute("echo out; echo err >&2; exit 3")
        assert (result.output, result.errors, result.exit_status) == ("out\n", "err\n", 3)
        assert await session.run("printf 'a\\nb'; echo oops >&2") == "a\nboops\n"


async def test_a_file_name_with_quotes_is_read_as_it_is(target: Target, login: Login, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s $(odd) "name"'
    odd.write_text("content\n")
    platform = replace(target.platform, capture=(CaptureItem(file=str(odd)),))
    async with open_session(replace(target, platform=platform), login) as session:
        assert (await capture(session)).raw == "content\n"


async def test_a_wrong_key_is_refused(target: Target) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    with pytest.raises(DeviceFailure) as caught:
        async with open_session(target, Login(username=getpass.getuser(), private_key=key)):
            pass
    assert caught.value.kind == "auth"


async def test_a_password_where_only_keys_are_taken(target: Target) -> None:
    with pytest.raises(DeviceFailure, match=r"does not accept a login .* by password") as caught:
        async with open_session(target, Login(username=getpass.getuser(), password="p")):
            pass
    assert caught.value.kind == "auth"


async def test_a_killed_command_is_no_capture(target: Target, login: Login) -> None:
    item = CaptureItem(command="echo part; kill -9 $$", optional=True)
    platform = replace(target.platform, capture=(item,))
    async with open_session(replace(target, platform=platform), login) as session:
        assert (await session.execute("echo part; kill -9 $$")).exit_status == KILLED
        with pytest.raises(DeviceFailure) as caught:
            await capture(session)
        assert caught.value.kind == "refused_command"


async def test_a_shell_on_a_real_terminal(target: Target, login: Login, platforms: PlatformRegistry) -> None:
    generic = replace(target, platform=platforms.get("generic"))
    async with open_session(generic, login) as session:
        assert await session.run("echo one; echo two") == "one\ntwo"
