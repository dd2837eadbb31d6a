"""Devices of one platform that differ: another command line, another release, another right."""

import asyncssh
import pytest

from netautod.testing import CliScript, ModeChange, PagerScript, ScriptedCommand, SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, Target
from tests.support.platform_fixtures import load

_REGISTRY = PlatformRegistry()
_LOGIN = Login(username="admin", password="simulated")
_MD = """\
# TiMOS-B-23.7.R2 both/x86_64 Nokia 7750 SR Copyright (c) 2000-2023 Nokia.
# Generated 2026-11-21T06:45:01.2Z by admin from 192.0.2.9

configure {
    system {
        name "pe1"
    }
}

# Finished 2026-11-21T06:45:01.3Z
"""
_MD_CLI = CliScript(
    prompts={"privileged": "\n[/]\nA:admin@{host}# ", "config": "\n*(ex)[/configure]\nA:admin@{host}# "},
    mode="privileged",
    changes=(
        ModeChange(command="edit-config exclusive", to="config", modes=("privileged",)),
        ModeChange(command="quit-config", to="privileged", modes=("config",)),
    ),
    commands=(ScriptedCommand(command="admin show configuration"),),
    ignored=(r"environment console width \d+",),
    unknown="MINOR: MGMT_CORE #2201: Unknown element - 'no'\n",
    pager=PagerScript(
        text="Press Q to quit, Enter to print next line or any other key to print next page.",
        erase="\r" + " " * 80 + "\r",
        lines=5,
        off=("environment more false",),
    ),
)


def asa_without_more() -> CliScript:
    """Return a context of an ASA, where `more system:running-config` does not exist."""
    constructed = load("cisco_asa").script
    assert constructed is not None
    return CliScript(
        prompts={"privileged": "{host}/customer# "},
        mode="privileged",
        commands=(ScriptedCommand(command="show running-config"),),
        unknown=constructed.unknown,
        pager=constructed.pager,
    )


@pytest.mark.parametrize("mode", [pytest.param("", id="operational"), pytest.param("edit-config exclusive")])
async def test_the_md_cli_of_sr_os(mode: str) -> None:
    """Read two-line prompts, with the classic command refused first."""
    platform = _REGISTRY.get("nokia_sros_md")
    async with SimulatedDevice(platform="nokia_sros", script=_MD_CLI, config=_MD) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN) as session:
            if mode:
                await session.run(mode)
            assert (await capture(session)).raw == _MD
        assert "admin display-config" in device.commands


async def test_a_context_of_an_asa() -> None:
    text = ": Saved\n:\nASA Version 9.16(4) <context>\n!\nhostname fw1\n: end\n"
    platform = _REGISTRY.get("cisco_asa")
    async with SimulatedDevice(platform="cisco_asa", script=asa_without_more(), config=text) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN) as session:
            assert (await capture(session)).raw == text


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param("juniper_junos", "privileged", id="Junos for a user without a shell"),
        pytest.param("fortinet", "privileged", id="FortiOS without a banner to accept"),
    ],
)
async def test_a_login_without_questions(name: str, mode: str) -> None:
    fixture = load(name)
    platform = _REGISTRY.get(name)
    assert fixture.script is not None
    script = CliScript(
        prompts=fixture.script.prompts, mode=mode, commands=fixture.script.commands, unknown="x\n"
    )
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with SimulatedDevice(platform=name, script=script, config=fixture.first, host_key=key) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN) as session:
            assert (await capture(session)).raw == fixture.first
