"""JetStream switches of TP-Link: TPLINK-DOT1Q-VLAN-MIB and TPLINK-LLDPINFO-MIB in place of the standard ones.

They count ports from 1, call them `1/0/1`, and have neither that number nor that name in IF-MIB.
"""

import re

from netautod.plugin_api import Neighbor, long_name
from netautod_snmp.agent import Agent, Value
from netautod_snmp.ports import Ports
from netautod_snmp.values import address, by_number, name_or_mac, number, numbers, text
from netautod_snmp.vlan_table import Building

VLAN = "1.3.6.1.4.1.11863.6.14.1"
PORT_NUMBER = f"{VLAN}.1.1.1.1"  # vlanPortNumber: `1/0/2`; index: ifIndex
PORT_PVID = f"{VLAN}.1.1.1.2"
VLAN_NAME = f"{VLAN}.2.1.1.2"  # dot1qVlanDescription; index: VLAN
VLAN_TAGGED, VLAN_UNTAGGED = f"{VLAN}.2.1.1.3", f"{VLAN}.2.1.1.4"  # `1/0/1-2,1/0/4,LAG1-3`
NEIGHBOR = "1.3.6.1.4.1.11863.6.35.1.2.2.1"  # lldpNeighborInfoEntry; index: ifIndex, number
NEIGHBOR_COLUMNS = {
    "chassis": 4,
    "port": 6,
    "port_description": 8,
    "name": 9,
    "description": 10,
    "address": 13,
}
_RANGE = re.compile(r"(LAG|\d+/\d+/)(\d+)(?:-(\d+))?")
MOST_PORTS = 1024  # of one range


async def bridge_ports(agent: Agent) -> dict[int, int]:
    """Return ifIndexes by port number, of one unit: a second one would have the numbers of the first."""
    found: dict[int, int] = {}
    for index, value in by_number(await agent.walk(PORT_NUMBER)).items():
        unit, _, port = (text(value) or "").rpartition("/")
        if unit == "1/0" and port.isdecimal():
            found[int(port)] = index
    return found


async def add_vlans(agent: Agent, ports: Ports, building: Building) -> None:
    names = by_number(await agent.walk(VLAN_NAME))
    if not names:
        return
    numbers_ = by_number(await agent.walk(PORT_NUMBER))
    interfaces = {text(value): ports.names.get(index) for index, value in numbers_.items()}
    for vlan, name in names.items():
        building.add(vlan, text(name))
    for column, tagged in ((VLAN_TAGGED, True), (VLAN_UNTAGGED, False)):
        for vlan, value in by_number(await agent.walk(column)).items():
            for port in listed(value):
                building.member(vlan, interfaces.get(port), tagged=tagged)
    for index, value in by_number(await agent.walk(PORT_PVID)).items():
        pvid = number(value)
        if pvid in building.names and pvid is not None:
            building.natives[index] = pvid


def listed(value: Value) -> list[str]:
    """Expand a list: `1/0/1`, `1/0/2`, `LAG1` of `1/0/1-2,LAG1`."""
    found: list[str] = []
    for kind, first, last in _RANGE.findall(text(value) or ""):
        end = min(int(last or first), int(first) + MOST_PORTS)
        found += [f"{kind}{port}" for port in range(int(first), end + 1)]
    return found


async def neighbors(agent: Agent, ports: Ports) -> list[Neighbor]:
    columns = {name: await agent.walk(f"{NEIGHBOR}.{column}") for name, column in NEIGHBOR_COLUMNS.items()}
    found = []
    for index in {**columns["chassis"], **columns["name"]}:
        parts = numbers(index)
        if len(parts) != 2:
            continue
        port = name_or_mac(columns["port"].get(index))
        found.append(
            Neighbor(
                local_interface=ports.names.get(parts[0]) or f"port {parts[0]}",
                protocol="lldp",
                remote_system_name=text(columns["name"].get(index)),
                remote_chassis_id=name_or_mac(columns["chassis"].get(index)),
                remote_port=None if port is None else long_name(port),
                remote_port_description=text(columns["port_description"].get(index)),
                remote_platform=text(columns["description"].get(index)),
                remote_mgmt_address=_address(columns["address"].get(index)),
            )
        )
    return found


def _address(value: Value) -> str | None:
    found = address(value)
    return None if found == "0.0.0.0" else found
