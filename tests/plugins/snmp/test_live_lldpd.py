"""Neighbors and ARP of a real agent: lldpd tells snmpd through AgentX what it hears on a real cable."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from netautod.plugin_api import ArpEntry, SnmpAccess
from netautod_snmp.arp import read_arp
from netautod_snmp.gufo_agent import GufoAgent
from netautod_snmp.interfaces import read_table
from netautod_snmp.neighbors import read_neighbors
from tests.plugins.snmp.lldp_network import FAR, NEAR, PORT, Network, cabled, daemons, refuse_or_skip, run
from tests.support.execution import eventually

ACCESS = SnmpAccess(address=NEAR, port=PORT, community="public")


@pytest.fixture
async def network() -> AsyncIterator[Network]:
    refuse_or_skip()
    # Not pytest's folder, which only its owner enters: lldpd gives up its rights.
    with tempfile.TemporaryDirectory() as folder, cabled(Path(folder)) as made:
        made.folder.chmod(0o755)
        run(*f"ip -n {made.near} neigh add 198.18.77.3 lladdr 02:00:00:00:00:03 dev outside0".split())
        run(*f"ip -n {made.near} neigh add 2001:db8::3 lladdr 02:00:00:00:00:33 dev outside0".split())
        async with daemons(made):
            yield made


async def test_a_neighbor_that_lldpd_hears(network: Network) -> None:
    async def hears() -> bool:
        return network.hears()

    await eventually(hears, seconds=30)
    async with GufoAgent(ACCESS).opened() as agent:
        ports = (await read_table(agent)).ports

        async def read() -> object:
            return await read_neighbors(agent, ports, enterprise=None)

        await eventually(read, seconds=30)  # lldpd tells snmpd a moment later
        found = await read_neighbors(agent, ports, enterprise=None)
        arp = await read_arp(agent, ports)

    assert found is not None
    [neighbor] = found
    mac = network.addresses(network.far)["far0"]
    assert neighbor.local_interface == "near0"
    assert neighbor.protocol == "lldp"
    assert neighbor.remote_system_name == "far-switch"
    assert (neighbor.remote_chassis_id, neighbor.remote_port) == (mac, mac)
    assert neighbor.remote_port_description == "far0"
    assert neighbor.remote_mgmt_address == FAR
    assert neighbor.remote_capabilities == ("stationOnly",)
    static = [entry for entry in arp if entry.interface == "outside0" and entry.type == "static"]
    assert sorted(static, key=lambda entry: entry.ip_address) == [
        ArpEntry(
            ip_address=address, mac_address=f"02:00:00:00:00:{last}", interface="outside0", type="static"
        )
        for address, last in (("198.18.77.3", "03"), ("2001:db8::3", "33"))
    ]
