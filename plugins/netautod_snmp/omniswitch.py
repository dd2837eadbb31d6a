"""VLANs and addresses of Alcatel-Lucent's OmniSwitches: ALCATEL-IND1-VLAN-MGR-MIB and -MAC-ADDRESS-MIB.

Release 7 and later have them below 6486.801, release 6 below 6486.800.
"""

from netautod.plugin_api import MacEntry
from netautod_snmp.agent import Agent
from netautod_snmp.ports import Ports
from netautod_snmp.values import by_number, number, numbers, octets, text
from netautod_snmp.vlan_table import MOST_VLAN, Building

BRANCHES = ("1.3.6.1.4.1.6486.801.1.2.1", "1.3.6.1.4.1.6486.800.1.2.1")
VLAN_NAME = "3.1.1.1.1.1.2"  # vlanDescription; index: VLAN
PORT_TYPE = "3.1.1.2.1.1.3"  # vpaType; index: VLAN, ifIndex
CONFIGURED = 1  # the VLAN of the port's untagged frames
ADDRESS = "8.1.1.8.1.7"  # slMacAddressGblManagement; index: domain, kind, ifIndex, VLAN, 0, address
PARTS = 11


async def add_vlans(agent: Agent, ports: Ports, building: Building) -> None:
    for branch in BRANCHES:
        for vlan, name in by_number(await agent.walk(f"{branch}.{VLAN_NAME}")).items():
            building.add(vlan, text(name))
        if not building.names:
            continue
        for index, kind in (await agent.walk(f"{branch}.{PORT_TYPE}")).items():
            parts = numbers(index)
            if len(parts) != 2 or parts[0] not in building.names:
                continue
            untagged = number(kind) == CONFIGURED
            building.member(parts[0], ports.names.get(parts[1]), tagged=not untagged)
            if untagged:
                building.natives[parts[1]] = parts[0]
        return


async def addresses(agent: Agent, ports: Ports) -> list[MacEntry]:
    for branch in BRANCHES:
        found = []
        for index in await agent.walk(f"{branch}.{ADDRESS}"):
            parts = numbers(index)
            bare = octets(parts[-6:])
            if len(parts) == PARTS and bare is not None:
                vlan = parts[3] if 1 <= parts[3] <= MOST_VLAN else None
                found.append(
                    MacEntry(mac_address=bare.hex(":"), vlan_id=vlan, interface=ports.names.get(parts[2]))
                )
        if found:
            return found
    return []
