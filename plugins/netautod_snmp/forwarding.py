"""Forwarding tables: Q-BRIDGE-MIB, BRIDGE-MIB (RFC 4363, 4188), IEEE8021-Q-BRIDGE-MIB, Cisco's by VLAN."""

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace

from netautod.plugin_api import DeviceFailed, MacEntry, for_each
from netautod_snmp import huawei, juniper, omniswitch
from netautod_snmp.agent import Agent, Rows, WalkFailed
from netautod_snmp.bridge_ports import BASE_PORT_INDEX, indexes_of
from netautod_snmp.ports import Ports
from netautod_snmp.values import number, numbers, octets
from netautod_snmp.vendors import CISCO
from netautod_snmp.vlans import VTP_STATE

Q_PORT = "1.3.6.1.2.1.17.7.1.2.2.1.2"  # dot1qTpFdbPort; index: filtering database, address
Q_STATUS = "1.3.6.1.2.1.17.7.1.2.2.1.3"
FDB_OF_VLAN = "1.3.6.1.2.1.17.7.1.4.2.1.3"  # dot1qVlanFdbId; index: time mark, VLAN
IEEE_PORT = "1.3.111.2.802.1.1.4.1.2.2.1.2"  # ieee8021QBridgeTpFdbPort; component, database, address
IEEE_STATUS = "1.3.111.2.802.1.1.4.1.2.2.1.3"
BRIDGE_PORT = "1.3.6.1.2.1.17.4.3.1.2"  # dot1dTpFdbPort; index: address
BRIDGE_STATUS = "1.3.6.1.2.1.17.4.3.1.3"
BRIDGE_ADDRESS = "1.3.6.1.2.1.17.4.3.1.1"  # dot1dTpFdbAddress
ADDRESS_OCTETS = 6
JUNIPER = 2636
# The vendors whose own tables are read where the standard ones are empty.
INSTEAD = {2011: huawei.addresses, 6486: omniswitch.addresses}
STATUS = {1: "other", 3: "dynamic", 4: "self", 5: "static"}
INVALID = 2
OPERATIONAL = 1  # vtpVlanState
# Reserved for token ring and FDDI: a switch has no bridge for them.
RESERVED = range(1002, 1006)
DEFAULT_VLAN = 1
VLANS_AT_ONCE = 4  # a switch with hundreds of VLANs is read within the time of a poll


async def read_forwarding(
    agent: Agent, ports: Ports, *, active: Set[int] | None = frozenset(), enterprise: int | None = None
) -> list[MacEntry] | None:
    """Read the forwarding table; None for a device that forwards nothing. Raises WalkFailed.

    `active`: the VLANs of a Cisco switch that have a member which is up; None where the switch does not say.
    """
    vlans = await _databases(agent)
    if enterprise == JUNIPER:
        vlans = await juniper.databases(agent, vlans)
    found = entries_of(await agent.walk(Q_PORT), await agent.walk(Q_STATUS), ports, vlans)
    if not found:
        found = entries_of(await agent.walk(IEEE_PORT), await agent.walk(IEEE_STATUS), ports, {}, in_front=1)
    plain = await _plain(agent, ports)
    if not found and enterprise == CISCO:
        operational = set(_operational(await agent.walk(VTP_STATE)))
        if DEFAULT_VLAN in operational and ports.bridge:
            # The instance without a name is that of VLAN 1 (Cisco's document 40367, community indexing).
            found = [replace(entry, vlan_id=DEFAULT_VLAN) for entry in plain]
            operational.discard(DEFAULT_VLAN)
            plain = []
        found += (
            await _of_any_vlan(agent, ports, sorted(operational))
            if active is None
            else await _of_each_vlan(agent, ports, operational & active)
        )
    known = {entry.mac_address for entry in found}
    found += [entry for entry in plain if entry.mac_address not in known]
    if not found and enterprise in INSTEAD:
        found = await INSTEAD[enterprise](agent, ports)
    return found if found or ports.bridge else None


async def _plain(agent: Agent, ports: Ports) -> list[MacEntry]:
    """Read dot1dTpFdbTable. FortiSwitch numbers its rows: there the address is a column alone."""
    port_rows, status_rows = await agent.walk(BRIDGE_PORT), await agent.walk(BRIDGE_STATUS)
    if port_rows and all(index.isdecimal() for index in port_rows):
        addresses = {
            index: ".".join(map(str, value))
            for index, value in (await agent.walk(BRIDGE_ADDRESS)).items()
            if isinstance(value, bytes) and len(value) == ADDRESS_OCTETS
        }
        port_rows, status_rows = (
            {addresses[index]: value for index, value in rows.items() if index in addresses}
            for rows in (port_rows, status_rows)
        )
    return entries_of(port_rows, status_rows, ports, None)


def entries_of(
    port_rows: Rows,
    status_rows: Rows,
    ports: Ports,
    vlans: Mapping[int, int | None] | None,
    *,
    in_front: int = 0,
) -> list[MacEntry]:
    """Parse the rows. `vlans`: by filtering database, which is the VLAN's number where it is not among them;
    None for a table without VLANs. `in_front`: how many numbers come before that.
    """
    found: list[MacEntry] = []
    for index, value in port_rows.items():
        parts = numbers(index)[in_front:]
        if len(parts) == ADDRESS_OCTETS + 2 and parts[1] == ADDRESS_OCTETS:
            del parts[1]  # Zyxel's GS1900 puts the length in front of the address
        status = number(status_rows.get(index))
        bare = octets(parts[-6:])
        if len(parts) != (6 if vlans is None else 7) or bare is None or status == INVALID:
            continue
        database = None if vlans is None else parts[0] or None  # RouterOS has 0 where it has no VLANs
        found.append(
            MacEntry(
                mac_address=bare.hex(":"),
                vlan_id=None if database is None or vlans is None else vlans.get(database, database),
                interface=ports.of_bridge_port(number(value) or 0),
                type=STATUS.get(status or 0),
            )
        )
    return found


async def _databases(agent: Agent) -> dict[int, int | None]:
    """Return VLANs by filtering database; None for one that several share: the table cannot tell
    them apart.
    """
    found: dict[int, int | None] = {}
    for index, value in (await agent.walk(FDB_OF_VLAN)).items():
        parts, database = numbers(index), number(value)
        if parts and database is not None:
            found[database] = parts[-1] if found.get(database, parts[-1]) == parts[-1] else None
    return found


async def _of_each_vlan(agent: Agent, ports: Ports, active: Set[int]) -> list[MacEntry]:
    """Read the table of each VLAN. A switch does not answer for a VLAN in which no port is up.

    A VLAN with such a port fails the table if it is silent: its entries would seem to have gone.
    """
    found: dict[int, list[MacEntry]] = {}

    async def read(vlan: int) -> None:
        try:
            found[vlan] = await _of_vlan(agent, ports, vlan)
        except DeviceFailed as exc:
            raise WalkFailed(f"VLAN {vlan}: {exc.text}") from exc

    vlans = sorted(active)
    await for_each(vlans, read, at_once=VLANS_AT_ONCE)
    return [entry for vlan in vlans for entry in found[vlan]]


async def _of_any_vlan(agent: Agent, ports: Ports, vlans: Sequence[int]) -> list[MacEntry]:
    """Read the table of VLANs of which it is unknown whether a port is up.

    Silence is no failure; the reading ends where all VLANs that are queried together are silent.
    """
    found: list[MacEntry] = []
    for together in (vlans[start : start + VLANS_AT_ONCE] for start in range(0, len(vlans), VLANS_AT_ONCE)):
        answers: list[list[MacEntry]] = []

        async def read(vlan: int, answers: list[list[MacEntry]] = answers) -> None:
            with suppress(DeviceFailed):
                answers.append(await _of_vlan(agent, ports, vlan))

        await for_each(together, read, at_once=VLANS_AT_ONCE)
        if not answers:
            break
        found += [entry for entries in answers for entry in entries]
    return found


async def _of_vlan(agent: Agent, ports: Ports, vlan: int) -> list[MacEntry]:
    async with agent.vlan(vlan) as own:
        rows = await own.walk(BRIDGE_PORT)
        if not rows:
            return []
        status = await own.walk(BRIDGE_STATUS)
        indexes = indexes_of(await own.walk(BASE_PORT_INDEX))
    entries = entries_of(rows, status, Ports(names=ports.names, bridge=indexes), None)
    return [replace(entry, vlan_id=vlan) for entry in entries]


def _operational(states: Rows) -> Iterable[int]:
    for index, value in states.items():
        parts = numbers(index)
        if parts and number(value) == OPERATIONAL and parts[-1] not in RESERVED:
            yield parts[-1]
