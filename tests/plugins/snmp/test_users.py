"""Users of SNMPv3, with a real snmpd: who is let in, and that an encrypted error ends no table as good."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest

from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod_snmp import agent as agent_module
from netautod_snmp.agent import Agent, WalkFailed
from tests.support.programs.started import free_port

pytestmark = pytest.mark.slow
AUTH, PRIV = "auth-pass-phrase", "priv-pass-phrase"
CONFIG = f"""
rocommunity public 127.0.0.1
createUser md5des MD5 "{AUTH}" DES "{PRIV}"
createUser shaaes SHA "{AUTH}" AES "{PRIV}"
createUser sha256 SHA-256 "{AUTH}" AES "{PRIV}"
createUser plain SHA "{AUTH}"
rouser md5des priv
rouser shaaes priv
rouser sha256 priv
rouser plain auth
"""
NAME = "1.3.6.1.2.1.1.5.0"


@pytest.fixture(scope="module")
async def port(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[int]:
    program = shutil.which("snmpd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("snmpd is not installed")
        pytest.skip("snmpd is not installed")
    folder = tmp_path_factory.mktemp("snmpd")
    number = free_port()
    config = folder / "snmpd.conf"
    config.write_text(CONFIG)
    process = await asyncio.create_subprocess_exec(
        *(program, "-f", "-C", "-c", str(config), "-m", "", "-Lf", str(folder / "log")),
        f"udp:127.0.0.1:{number}",
        env={**os.environ, "SNMP_PERSISTENT_DIR": str(folder / "state")},
    )
    await _until_it_answers(number)
    yield number
    process.terminate()
    await process.wait()


async def _until_it_answers(number: int) -> None:
    access = SnmpAccess(address="127.0.0.1", port=number, community="public")
    async with asyncio.timeout(60), Agent(access, seconds=0.2, tries=200).opened() as agent:
        await agent.get([NAME])


def user(name: str, auth: str = "sha", auth_key: str = AUTH, **priv: Any) -> SnmpUser:
    return SnmpUser(name=name, auth_protocol=auth, auth_key=auth_key, **priv)


def private(protocol: str, key: str = PRIV) -> dict[str, Any]:
    return {"priv_protocol": protocol, "priv_key": key}


async def opened(port: int, one: SnmpUser) -> dict[str, Any]:
    access = SnmpAccess(address="127.0.0.1", port=port, user=one)
    async with Agent(access, seconds=1.0).opened() as agent:
        return await agent.get([NAME])


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(user("md5des", "md5", **private("des")), id="MD5 and DES"),
        pytest.param(user("shaaes", "sha", **private("aes")), id="SHA and AES"),
        pytest.param(user("sha256", "sha256", **private("aes")), id="SHA-256 and AES"),
        pytest.param(user("plain"), id="without privacy"),
    ],
)
async def test_a_user_is_let_in(port: int, one: SnmpUser) -> None:
    assert NAME in await opened(port, one)


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        pytest.param(user("nobody"), "auth", id="an unknown user"),
        pytest.param(user("plain", auth_key="another-pass-phrase"), "auth", id="another key"),
        pytest.param(user("plain", "md5"), "auth", id="another protocol"),
        pytest.param(
            user("shaaes", **private("aes", "another-pass-phrase")), "timeout", id="another key of privacy"
        ),
    ],
)
async def test_a_user_is_not_let_in(port: int, one: SnmpUser, kind: str) -> None:
    with pytest.raises(DeviceFailed) as failed:
        await opened(port, one)
    assert failed.value.kind == kind


@pytest.mark.parametrize(
    "one", [user("plain"), user("shaaes", **private("aes"))], ids=["in the open", "encrypted"]
)
async def test_tables_are_read_to_their_end(port: int, one: SnmpUser) -> None:
    access = SnmpAccess(address="127.0.0.1", port=port, user=one)
    async with Agent(access, seconds=2.0).opened() as agent:
        assert "1" in await agent.walk("1.3.6.1.2.1.2.2.1.2")
        assert await agent.walk("1.3.6.1.4.1.99999") == {}
        assert len(await agent.walk("1.3.6.1.6.3.10")) > 3


async def test_an_error_that_is_encrypted_ends_no_walk_as_good(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an agent that stops with an error after the first answer: the walk sees nothing but an end."""
    monkeypatch.setattr(agent_module, "REPETITIONS", (2,))
    access = SnmpAccess(address="127.0.0.1", port=port, user=user("shaaes", **private("aes")))
    async with Agent(access, seconds=2.0).opened() as agent:
        once = agent._once
        asked = 0

        async def stops(send: Any, receive: Any) -> Any:
            nonlocal asked
            asked += 1
            return None if asked == 2 else await once(send, receive)

        monkeypatch.setattr(agent, "_once", stops)
        with pytest.raises(WalkFailed, match="the agent answers an error"):
            await agent.walk("1.3.6.1.2.1.1.9")
