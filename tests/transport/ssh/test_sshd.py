"""Against a server that nobody here wrote: OpenSSH's sshd, private to the test, on a free port."""

import os
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import CaptureItem
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import KILLED, open_session
from netautod.transport.ssh.target import Login, Target
from tests.support.platform_fixtures import load
from tests.support.programs.sshd import PROGRAM, Sshd

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")


def _hostname() -> str:
    return Path("/etc/hostname").read_text().strip()


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
    return Login(username=sshd.username, private_key=sshd.private_key)


async def test_a_linux_host_is_captured(target: Target, login: Login) -> None:
    async with open_session(target, login) as session:
        taken = await capture(session)
    assert taken.raw.startswith(f"### file /etc/hostname\n{_hostname()}\n")
    assert "\n### file /etc/passwd\nroot:x:0:0:" in taken.raw
    assert f"\n### command uname -srm\n{os.uname().sysname} {os.uname().release}" in taken.raw


async def test_the_parts_are_those_of_the_recorded_fixture(target: Target, login: Login) -> None:
    """Compare the heads; what this machine lacks is said in a note."""
    async with open_session(target, login) as session:
        taken = await capture(session)
    heads = [line for line in load("linux").first.split("\n") if line.startswith("### ")]
    skipped = {f"### {note.partition(' skipped: ')[0]}" for note in taken.notes}
    here = [line for line in taken.raw.split("\n") if line.startswith("### ")]
    assert here == [head for head in heads if head not in skipped]


async def test_an_operator_chooses_what_is_read(target: Target, login: Login, tmp_path: Path) -> None:
    config = tmp_path / "chosen.conf"
    config.write_text("option on\n")
    entries = [str(config), "/no/such/file", "echo read by a command", "-false", "no-such-program-here"]
    registry = PlatformRegistry()
    registry.replace_capture("linux", [CaptureItem.parse(entry) for entry in entries])
    async with open_session(replace(target, platform=registry.get("debian")), login) as session:
        taken = await capture(session)
    assert taken.raw == (
        f"### file {config}\noption on\n\n### command echo read by a command\nread by a command\n"
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


async def test_a_wrong_key_is_refused(target: Target, sshd: Sshd) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    with pytest.raises(DeviceFailed) as caught:
        async with open_session(target, Login(username=sshd.username, private_key=key)):
            pass
    assert caught.value.kind == "auth"


async def test_a_password_where_only_keys_are_taken(target: Target, sshd: Sshd) -> None:
    with pytest.raises(DeviceFailed, match=r"does not accept a login .* by password") as caught:
        async with open_session(target, Login(username=sshd.username, password="p")):
            pass
    assert caught.value.kind == "auth"


async def test_a_killed_command_is_no_capture(target: Target, login: Login) -> None:
    item = CaptureItem(command="echo part; kill -9 $$", optional=True)
    platform = replace(target.platform, capture=(item,))
    async with open_session(replace(target, platform=platform), login) as session:
        assert (await session.execute("echo part; kill -9 $$")).exit_status == KILLED
        with pytest.raises(DeviceFailed) as caught:
            await capture(session)
        assert caught.value.kind == "refused_command"


async def test_a_shell_on_a_real_terminal(target: Target, login: Login, platforms: PlatformRegistry) -> None:
    generic = replace(target, platform=platforms.get("generic"))
    async with open_session(generic, login) as session:
        assert await session.run("echo one; echo two") == "one\ntwo"
