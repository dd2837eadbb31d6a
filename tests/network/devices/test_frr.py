"""FRR through the service: pulls, commands and tests of logins on a device with two passwords and a pager."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import CaptureItem
from tests.network.configs.fleet import Fleet
from tests.support.programs.frr import ENABLE_PASSWORD, PASSWORD, Frr, require, running_frr
from tests.support.programs.sshd import Sshd


@pytest.fixture
async def frr(tmp_path: Path) -> AsyncIterator[Frr]:
    require()
    folder = tmp_path / "frr"
    folder.mkdir()
    async with running_frr(folder) as running:
        yield running


async def added(fleet: Fleet, frr: Frr, enable_secret: str | None = ENABLE_PASSWORD) -> str:
    """A device with a credential of its own."""
    credential = await fleet.credential(
        f"frr {enable_secret}", username=frr.username, secret=PASSWORD, enable_secret=enable_secret
    )
    return await fleet.entry("frr1", frr.vty.port, device_type="frr", default_credential_id=credential)


async def test_two_pulls_of_an_idle_zebra_are_one_version(fleet: Fleet, frr: Frr) -> None:
    device_id = await added(fleet, frr)
    hashes = set()
    for changed in (True, False):
        answer = await fleet.pulled(device_id)
        assert (answer["version"], answer["changed"]) == (1, changed)
        newest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
        hashes.add(newest["config_hash"])
    assert len(hashes) == 1
    assert newest["config_text"].endswith("\nend\n")
    assert "\nhostname frr1\n" in newest["config_text"]
    assert PASSWORD not in newest["config_text"]
    assert ENABLE_PASSWORD not in newest["config_text"]


async def test_a_changed_password_is_a_new_version(fleet: Fleet, frr: Frr) -> None:
    device_id = await added(fleet, frr)
    await fleet.pulled(device_id)
    scope = fleet.scope()
    async with scope.open(device_id) as opened:
        for command in ("configure terminal", "enable password another-one", "end"):
            assert await opened.session.run(command) == ""
        assert opened.session.mode == "privileged"
    # The stored enable secret is the old one now: nothing but a refusal comes of it.
    answer = await fleet.api.post(f"/api/config/devices/{device_id}/pull")
    assert answer.status == 502
    assert "enable" in answer.json["error"]
    new = await fleet.credential("new", username=frr.username, secret=PASSWORD, enable_secret="another-one")
    await fleet.api.put(f"/api/devices/{device_id}", {"default_credential_id": new})
    answer = await fleet.pulled(device_id)
    assert (answer["version"], answer["changed"]) == (2, True)


async def test_single_commands(fleet: Fleet, frr: Frr) -> None:
    device_id = await added(fleet, frr)
    version = await fleet.ran(device_id, "show version")
    assert (version["success"], version["output"].startswith("FRRouting ")) == (True, True)
    shown = await fleet.ran(device_id, "show running-config")
    assert shown["output"].endswith("\nend")
    assert "--More--" not in shown["output"]
    unknown = await fleet.ran(device_id, "show everything")
    assert "% [ZEBRA] Unknown command: show everything" in str(unknown)


async def test_a_command_of_a_credential_without_enable_secret(fleet: Fleet, frr: Frr) -> None:
    device_id = await added(fleet, frr, enable_secret=None)
    version = await fleet.ran(device_id, "show version")
    assert (version["success"], version["output"].startswith("FRRouting ")) == (True, True)


async def test_a_password_that_zebra_refuses_suspends_the_login(fleet: Fleet, frr: Frr) -> None:
    """sshd accepts it: only the terminal tells that the login is refused."""
    device_id = await added(fleet, frr)
    async with fleet.scope().open(device_id) as opened:
        for command in ("configure terminal", "password changed-meanwhile", "end"):
            await opened.session.run(command)
    tested = await fleet.tested(device_id)
    assert (tested["success"], "on its terminal" in tested["message"]) == (False, True)
    run = fleet.scope(bulk=True)
    with pytest.raises(DeviceFailed) as caught:
        async with run.open(device_id):
            pass
    assert caught.value.kind == "suspended"


async def test_vtysh_is_read_from_a_login_shell_by_key(fleet: Fleet, frr: Frr) -> None:
    key = await fleet.credential(
        "key", credential_type="ssh_key", username=frr.username, secret=frr.vtysh.private_key
    )
    device_id = await fleet.entry("frr1", frr.vtysh.port, device_type="frr", default_credential_id=key)
    for changed in (True, False):
        answer = await fleet.pulled(device_id)
        assert (answer["version"], answer["changed"]) == (1, changed)


async def test_vtysh_over_an_exec_channel_by_an_operators_list(fleet: Fleet, frr: Frr, sshd: Sshd) -> None:
    read = CaptureItem.parse(f'{frr.vtysh_command} -c "show running-config"')
    fleet.sessions.platforms.replace_capture("linux", [read])
    key = await fleet.credential(
        "key", credential_type="ssh_key", username=sshd.username, secret=sshd.private_key
    )
    device_id = await fleet.entry("host", sshd.port, device_type="linux", default_credential_id=key)
    for changed in (True, False):
        answer = await fleet.pulled(device_id)
        assert (answer["version"], answer["changed"]) == (1, changed)
    command = await fleet.ran(device_id, f'{frr.vtysh_command} -c "show version"')
    assert (command["success"], command["output"].startswith("FRRouting ")) == (True, True)
