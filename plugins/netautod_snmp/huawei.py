"""VLANs and addresses of VRP where it has no Q-BRIDGE-MIB: HUAWEI-L2VLAN-MIB, -L2IF-MIB and -L2MAM-MIB."""

from collections.abc import Iterable, Mapping

from netautod.plugin_api import MacEntry
from netautod_snmp.agent import Agent, Rows, Value
from netautod_snmp.ports import Ports
from netautod_snmp.values import bits, by_number, number, numbers, octets, text
from netautod_snmp.vlan_table import Building

L2 = "1.3.6.1.4.1.2011.5.25.42"
VLAN_NAME = f"{L2}.3.1.1.1.1.2"  # hwL2VlanDescr; index: VLAN
VLAN_STATUS = f"{L2}.3.1.1.1.1.12"  # hwL2VlanRowStatus
PORT_INDEX = f"{L2}.1.1.1.3.1.2"  # hwL2IfPortIfIndex; index: port
PVID = f"{L2}.1.1.1.3.1.4"  # hwL2IfPVID
# Lists of VLANs by port, those up to 2047 and those from 2048: a bit for each, the first one for 0 and 2048.
HYBRID_TAGGED = (f"{L2}.1.1.1.9.1.2", f"{L2}.1.1.1.9.1.3")  # hwL2IfHybridTaggedVlanListLow, -High
HYBRID_UNTAGGED = (f"{L2}.1.1.1.9.1.4", f"{L2}.1.1.1.9.1.5")
TRUNK = (f"{L2}.1.1.1.10.1.2", f"{L2}.1.1.1.10.1.3")  # hwL2IfTrunkAllowPassVlanListLow, -High
HALF = 2048
ROW_ACTIVE = 1  # RFC 2579 RowStatus
DYNAMIC_PORT = f"{L2}.2.1.3.1.4"  # hwDynFdbPort: an ifIndex; index: address, VLAN, VSI
Lists = Mapping[int, set[int]]


async def add_vlans(agent: Agent, ports: Ports, building: Building) -> None:
    states = by_number(await agent.walk(VLAN_STATUS))
    for vlan, name in by_number(await agent.walk(VLAN_NAME)).items():
        if number(states.get(vlan)) in (None, ROW_ACTIVE):
            building.add(vlan, text(name))
    if not building.names:
        return
    trunk, tagged, untagged = [
        await _lists(agent, columns) for columns in (TRUNK, HYBRID_TAGGED, HYBRID_UNTAGGED)
    ]
    pvids = by_number(await agent.walk(PVID))
    for port, value in by_number(await agent.walk(PORT_INDEX)).items():
        index, pvid = number(value), number(pvids.get(port))
        if index is None:
            continue
        if pvid in building.names and pvid is not None:
            building.natives[index] = pvid
        bare = _untagged(trunk.get(port), tagged.get(port), untagged.get(port), pvid)
        _add(building, ports.names.get(index), bare, tagged=False)
        _add(building, ports.names.get(index), trunk.get(port, set()) | tagged.get(port, set()), tagged=True)


def _untagged(
    trunk: set[int] | None, tagged: set[int] | None, untagged: set[int] | None, pvid: int | None
) -> set[int]:
    """Return what a hybrid port lists; of a trunk its own VLAN if it is let through, of an access port that
    one.
    """
    own = set() if pvid is None else {pvid}
    if trunk:
        return own & trunk
    return untagged or set() if tagged or untagged else own


def _add(building: Building, interface: str | None, vlans: Iterable[int], *, tagged: bool) -> None:
    for vlan in vlans:
        if vlan in building.names:
            building.member(vlan, interface, tagged=tagged)


async def _lists(agent: Agent, columns: tuple[str, str]) -> Lists:
    found: dict[int, set[int]] = {}
    for half, column in enumerate(columns):
        for port, value in by_number(await agent.walk(column)).items():
            found.setdefault(port, set()).update(half * HALF + bit - 1 for bit in bits(value))
    return {port: vlans for port, vlans in found.items() if vlans}


async def addresses(agent: Agent, ports: Ports) -> list[MacEntry]:
    """Return the addresses that the switch has learned; static ones stand in a table with five keys more."""
    return list(_entries(await agent.walk(DYNAMIC_PORT), ports))


def _entries(rows: Rows, ports: Ports) -> Iterable[MacEntry]:
    for index, value in rows.items():
        parts = numbers(index)
        bare = octets(parts[:6])
        if len(parts) > 6 and bare is not None:
            yield MacEntry(
                mac_address=bare.hex(":"),
                vlan_id=_vlan(parts[6]),
                interface=_named(value, ports),
                type="dynamic",
            )


def _vlan(found: int) -> int | None:
    return found if 1 <= found < 2 * HALF - 1 else None


def _named(value: Value, ports: Ports) -> str | None:
    index = number(value)
    return None if index is None else ports.names.get(index)
