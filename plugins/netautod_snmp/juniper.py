"""The deviations of Junos from Q-BRIDGE-MIB: VLANs by an index of its own, ports as a text.

Switches before ELS have JUNIPER-VLAN-MIB, later ones JUNIPER-L2ALD-MIB. On the former dot1qVlanStaticTable
goes by that index as well, on the latter by the tag, with lists as `501,502` where a PortList belongs.
"""

from netautod_snmp.agent import Agent, Rows, Value
from netautod_snmp.ports import Ports
from netautod_snmp.values import bits, by_number, number, numbers, text
from netautod_snmp.vlan_table import Building

EX_VLAN = "1.3.6.1.4.1.2636.3.40.1.5.1.5.1"  # jnxExVlanEntry; index: the VLAN's own
EX_NAME, EX_TAG = f"{EX_VLAN}.2", f"{EX_VLAN}.5"
EX_TAGNESS = "1.3.6.1.4.1.2636.3.40.1.5.1.7.1.4"  # jnxExVlanPortTagness; index: that one, bridge port
UNTAGGED = 2
L2ALD_VLAN = "1.3.6.1.4.1.2636.3.48.1.3.1.1"  # jnxL2aldVlanEntry; index: the VLAN's own
L2ALD_NAME, L2ALD_TAG, L2ALD_FDB = f"{L2ALD_VLAN}.2", f"{L2ALD_VLAN}.3", f"{L2ALD_VLAN}.5"
STATIC_EGRESS = "1.3.6.1.2.1.17.7.1.4.3.1.2"  # dot1qVlanStaticEgressPorts
STATIC_UNTAGGED = "1.3.6.1.2.1.17.7.1.4.3.1.4"


async def add_vlans(agent: Agent, ports: Ports, building: Building) -> None:
    tags = await _tags(agent, EX_TAG)
    if tags:
        for index, name in by_number(await agent.walk(EX_NAME)).items():
            building.add(tags.get(index), text(name))
        _add_members(await agent.walk(EX_TAGNESS), tags, ports, building)
        return
    tags = await _tags(agent, L2ALD_TAG)
    if not tags:
        return
    for index, name in by_number(await agent.walk(L2ALD_NAME)).items():
        building.add(tags.get(index), text(name))
    untagged = by_number(await agent.walk(STATIC_UNTAGGED))
    for tag, value in by_number(await agent.walk(STATIC_EGRESS)).items():
        bare = set(listed_ports(untagged.get(tag)))
        for port in listed_ports(value) if tag in building.names else ():
            building.member(tag, ports.of_bridge_port(port), tagged=port not in bare)


async def databases(agent: Agent, known: dict[int, int | None]) -> dict[int, int | None]:
    """Return VLANs by filtering database; `known` are those of dot1qVlanFdbId."""
    tags = await _tags(agent, EX_TAG)
    if tags:
        by_index = {
            database: None if vlan is None else tags.get(vlan, vlan) for database, vlan in known.items()
        }
        return dict[int, int | None](tags) | by_index
    tags = await _tags(agent, L2ALD_TAG)
    own = {
        database: tags[index]
        for index, value in by_number(await agent.walk(L2ALD_FDB)).items()
        if (database := number(value)) is not None and index in tags
    }
    return known | own


async def _tags(agent: Agent, column: str) -> dict[int, int]:
    rows = by_number(await agent.walk(column))
    return {index: tag for index, value in rows.items() if (tag := number(value)) is not None}


def _add_members(tagness: Rows, tags: dict[int, int], ports: Ports, building: Building) -> None:
    for index, value in tagness.items():
        parts = numbers(index)
        if len(parts) == 2 and parts[0] in tags:
            interface = ports.of_bridge_port(parts[1])
            building.member(tags[parts[0]], interface, tagged=number(value) != UNTAGGED)


def listed_ports(value: Value) -> list[int]:
    """Return the ports of a PortList, or of Junos' text for it."""
    if isinstance(value, bytes) and value.strip(b"0123456789, ") == b"":
        return [int(one) for one in value.decode("ascii").replace(",", " ").split()]
    return list(bits(value))
