"""The requests that only pysnmp can make: a VLAN of a Cisco switch as a user of SNMPv3, and an agent with
3DES.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from pysnmp.carrier.asyncio.dgram import udp
from pysnmp.entity import config, engine
from pysnmp.entity.rfc3413 import cmdrsp, context

from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod_snmp.agent import Agent, WalkFailed
from netautod_snmp.forwarding import BRIDGE_PORT
from netautod_snmp.gufo_agent import GufoAgent
from netautod_snmp.opening import opened
from tests.plugins.snmp.snmpd import serving_snmpd
from tests.support.programs.started import free_port
from tests.support.servers.snmp_agent import Recording, integer, oid_of, serving_agent

AUTH, PRIV = "auth-pass-phrase", "priv-pass-phrase"
MANY = {f"{BRIDGE_PORT}.0.17.34.51.{number // 250}.{number % 250}": number % 48 + 1 for number in range(600)}
BRIDGE = "1.3.6.1.2.1.17"
pytestmark = pytest.mark.slow


def reader(priv: str, key: str = PRIV, auth: str = "sha") -> SnmpUser:
    return SnmpUser(name="reader", auth_protocol=auth, auth_key=AUTH, priv_protocol=priv, priv_key=key)


def conf(cipher: str, backing: int) -> str:
    """Configure a switch as Cisco's are: VLAN 7 is in the context vlan-7, which the user's group may see."""
    return f"""
createUser reader SHA "{AUTH}" {cipher} "{PRIV}"
view all included .1
group readers usm reader
access readers vlan- usm priv prefix all none none
access readers "" usm priv exact all none none
proxy -Cn vlan-7 -v 2c -c public -t 5 127.0.0.1:{backing} {BRIDGE}
"""


@asynccontextmanager
async def switch(
    folder: Path, *, cipher: str = "AES", priv: str = "aes", seconds: float = 3
) -> AsyncIterator[Agent]:
    objects = Recording.of((oid_of(oid), integer(value)) for oid, value in MANY.items())
    async with (
        serving_agent({"public": objects}) as backing,
        serving_snmpd(folder, conf(cipher, backing.port)) as port,
        GufoAgent(SnmpAccess(address="127.0.0.1", port=port, user=reader(priv)), seconds=3).opened() as agent,
    ):
        yield agent


@pytest.mark.parametrize(
    ("cipher", "priv"),
    [
        pytest.param("AES", "aes", id="AES"),
        pytest.param("AES256C", "aes256", id="AES-256, key lengthened as Cisco does"),
        pytest.param("AES256", "aes256", id="AES-256, as net-snmp does"),
    ],
)
async def test_a_vlan_is_requested_by_its_context(tmp_path: Path, cipher: str, priv: str) -> None:
    async with switch(tmp_path, cipher=cipher, priv=priv) as agent:
        assert await agent.walk(BRIDGE_PORT) == {}
        async with agent.vlan(7) as own:
            found = await own.walk(BRIDGE_PORT)
            assert found == {oid.removeprefix(f"{BRIDGE_PORT}."): value for oid, value in MANY.items()}
            assert await own.get([next(iter(MANY)), f"{BRIDGE_PORT}.1"]) == {next(iter(MANY)): 1}


async def test_a_context_that_the_agent_does_not_know(tmp_path: Path) -> None:
    async with switch(tmp_path, seconds=0.5) as agent, agent.vlan(8) as own:
        with pytest.raises((WalkFailed, DeviceFailed), match="context vlan-8: is it open"):
            await own.walk(BRIDGE_PORT)


@contextmanager
def triple_des_agent(port: int) -> Iterator[None]:
    """Run an agent of pysnmp with its own SNMPv2-MIB."""
    served = engine.SnmpEngine()
    config.add_transport(
        served, udp.DOMAIN_NAME, udp.UdpAsyncioTransport().open_server_mode(("127.0.0.1", port))
    )
    config.add_v3_user(served, "reader", config.USM_AUTH_HMAC96_SHA, AUTH, config.USM_PRIV_CBC168_3DES, PRIV)
    config.add_vacm_user(served, 3, "reader", "authPriv", (1, 3, 6), (1, 3, 6))
    objects = context.SnmpContext(served)
    cmdrsp.GetCommandResponder(served, objects)
    cmdrsp.BulkCommandResponder(served, objects)
    try:
        yield
    finally:
        served.close_dispatcher()


async def test_an_agent_with_triple_des() -> None:
    port = free_port()
    with triple_des_agent(port):
        access = SnmpAccess(address="127.0.0.1", port=port, user=reader("3des"))
        async with opened(access) as agent:
            assert b"PySNMP" in (await agent.walk("1.3.6.1.2.1.1.1"))["0"]  # type: ignore[operator]
            assert await agent.walk("1.3.6.1.4.1.99999") == {}
            assert (await agent.walk("1.3.6.1.2.1.1.2"))["0"] == "1.3.6.1.4.1.20408"
            assert agent.latency_ms is not None


@pytest.mark.parametrize(
    ("user", "kind"),
    [
        pytest.param(reader("3des", "another-pass-phrase"), "auth", id="another key"),
        pytest.param(reader("3des", auth="md5"), "auth", id="another protocol"),
        pytest.param(
            SnmpUser(name="nobody", auth_protocol="sha", auth_key=AUTH, priv_protocol="3des", priv_key=PRIV),
            "auth",
            id="another user",
        ),
        pytest.param(
            SnmpUser(name="reader", priv_protocol="3des", priv_key=PRIV), "credential", id="no auth"
        ),
    ],
)
async def test_a_user_with_triple_des_is_not_let_in(user: SnmpUser, kind: str) -> None:
    port = free_port()
    with triple_des_agent(port):
        access = SnmpAccess(address="127.0.0.1", port=port, user=user)
        with pytest.raises(DeviceFailed) as failed:
            async with opened(access) as agent:
                await agent.walk("1.3.6.1.2.1.1.1")
    assert failed.value.kind == kind
