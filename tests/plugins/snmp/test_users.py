"""Users of SNMPv3, with a real snmpd: who is let in, and that an encrypted error ends no table as good."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod_snmp import gufo_agent as agent_module
from netautod_snmp.agent import WalkFailed
from netautod_snmp.gufo_agent import GufoAgent
from tests.plugins.snmp.snmpd import NAME, serving_snmpd

pytestmark = pytest.mark.slow
AUTH, PRIV = "auth-pass-phrase", "priv-pass-phrase"
CONFIG = f"""
createUser md5des MD5 "{AUTH}" DES "{PRIV}"
createUser shaaes SHA "{AUTH}" AES "{PRIV}"
createUser sha256 SHA-256 "{AUTH}" AES "{PRIV}"
createUser plain SHA "{AUTH}"
rouser md5des priv
rouser shaaes priv
rouser sha256 priv
rouser plain auth
createUser cisco SHA "{AUTH}" AES256C "{PRIV}"
createUser blumenthal SHA "{AUTH}" AES256 "{PRIV}"
createUser longer SHA-512 "{AUTH}" AES256 "{PRIV}"
rouser cisco priv
rouser blumenthal priv
rouser longer priv
"""


@pytest.fixture(scope="module")
async def port(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[int]:
    async with serving_snmpd(tmp_path_factory.mktemp("snmpd"), CONFIG) as number:
        yield number


def user(name: str, auth: str = "sha", auth_key: str = AUTH, **priv: Any) -> SnmpUser:
    return SnmpUser(name=name, auth_protocol=auth, auth_key=auth_key, **priv)


def private(protocol: str, key: str = PRIV) -> dict[str, Any]:
    return {"priv_protocol": protocol, "priv_key": key}


async def opened(port: int, one: SnmpUser) -> dict[str, Any]:
    access = SnmpAccess(address="127.0.0.1", port=port, user=one)
    async with GufoAgent(access, seconds=1.0).opened() as agent:
        return await agent.get([NAME])


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(user("md5des", "md5", **private("des")), id="MD5 and DES"),
        pytest.param(user("shaaes", "sha", **private("aes")), id="SHA and AES"),
        pytest.param(user("sha256", "sha256", **private("aes")), id="SHA-256 and AES"),
        pytest.param(user("plain"), id="without privacy"),
        pytest.param(user("cisco", "sha", **private("aes256")), id="AES-256, key lengthened as Cisco does"),
        pytest.param(user("blumenthal", "sha", **private("aes256")), id="AES-256, as net-snmp does"),
        pytest.param(user("longer", "sha512", **private("aes256")), id="AES-256, key long enough"),
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
    async with GufoAgent(access, seconds=2.0).opened() as agent:
        assert "1" in await agent.walk("1.3.6.1.2.1.2.2.1.2")
        assert await agent.walk("1.3.6.1.4.1.99999") == {}
        assert len(await agent.walk("1.3.6.1.6.3.10")) > 3


async def test_an_error_that_is_encrypted_ends_no_walk_as_good(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer as an agent that stops with an error after the first answer: the walk sees nothing but
    an end.
    """
    monkeypatch.setattr(agent_module, "REPETITIONS", (2,))
    access = SnmpAccess(address="127.0.0.1", port=port, user=user("shaaes", **private("aes")))
    async with GufoAgent(access, seconds=2.0).opened() as agent:
        once = agent._once
        requests = 0

        async def stops(send: Any, receive: Any) -> Any:
            nonlocal requests
            requests += 1
            return None if requests == 2 else await once(send, receive)

        monkeypatch.setattr(agent, "_once", stops)
        with pytest.raises(WalkFailed, match="the agent answers an error"):
            await agent.walk("1.3.6.1.2.1.1.9")
