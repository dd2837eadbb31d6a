"""VLANs with their members: Q-BRIDGE-MIB (RFC 4363), IEEE8021-Q-BRIDGE-MIB, and Cisco's own."""

from collections.abc import Iterable, Mapping

from netautod_snmp import huawei, juniper, omniswitch, tplink
from netautod_snmp.agent import Agent, Rows, Value
from netautod_snmp.ports import Ports
from netautod_snmp.values import bits, by_number, number, numbers, text
from netautod_snmp.vendors import CISCO
from netautod_snmp.vlan_table import MOST_VLAN, Building, VlanTable

Q = "1.3.6.1.2.1.17.7.1.4"
CURRENT_EGRESS = f"{Q}.2.1.4"  # dot1qVlanCurrentEgressPorts; index: time mark, VLAN
CURRENT_UNTAGGED = f"{Q}.2.1.5"
STATIC_NAME = f"{Q}.3.1.1"  # dot1qVlanStaticName; index: VLAN
STATIC_EGRESS = f"{Q}.3.1.2"
STATIC_UNTAGGED = f"{Q}.3.1.4"
STATIC_STATUS = f"{Q}.3.1.5"
PVID = f"{Q}.5.1.1"  # dot1qPvid; index: bridge port
IEEE = "1.3.111.2.802.1.1.4.1.4"  # the same objects, each index with the component in front
IEEE_CURRENT_EGRESS, IEEE_CURRENT_UNTAGGED = f"{IEEE}.2.1.5", f"{IEEE}.2.1.6"
IEEE_STATIC_NAME, IEEE_STATIC_EGRESS, IEEE_STATIC_UNTAGGED = f"{IEEE}.3.1.3", f"{IEEE}.3.1.4", f"{IEEE}.3.1.6"
IEEE_PVID = f"{IEEE}.5.1.1"
VTP_STATE = "1.3.6.1.4.1.9.9.46.1.3.1.1.2"  # vtpVlanState; index: domain, VLAN
VTP_TYPE = "1.3.6.1.4.1.9.9.46.1.3.1.1.3"  # vtpVlanType
VTP_NAME = "1.3.6.1.4.1.9.9.46.1.3.1.1.4"
VM_VLAN = "1.3.6.1.4.1.9.9.68.1.2.2.1.2"  # vmVlan: of access ports, by ifIndex
TRUNK_ALLOWED = tuple(f"1.3.6.1.4.1.9.9.46.1.6.1.1.{column}" for column in (4, 17, 18, 19))
TRUNK_NATIVE = "1.3.6.1.4.1.9.9.46.1.6.1.1.5"  # vlanTrunkPortNativeVlan
TRUNK_STATUS = "1.3.6.1.4.1.9.9.46.1.6.1.1.14"  # vlanTrunkPortDynamicStatus
TRUNKING = 1
ETHERNET = 1  # vtpVlanType; the others are of FDDI and token ring
VTP_STATES = {1: "active", 2: "suspended", 3: "suspended", 4: "suspended"}
ROW_ACTIVE = 1  # RFC 2579 RowStatus


# The vendors with tables of their own: instead of those of the standards, or where those are missing.
FIRST = {2636: juniper.add_vlans}
INSTEAD = {2011: huawei.add_vlans, 11863: tplink.add_vlans, 6486: omniswitch.add_vlans}
FOUNDRY = 1991  # its current tables are wrong on ICX 6400 (LibreNMS reads the static ones alone)


async def read_vlans(agent: Agent, ports: Ports, *, enterprise: int | None) -> VlanTable | None:
    """Read the VLANs; None for a device that has none of these tables. Raises WalkFailed."""
    building = Building()
    if enterprise in FIRST:
        await FIRST[enterprise](agent, ports, building)
    if building.names:
        _natives(ports, building, by_number(await agent.walk(PVID)))
        return building.built()
    await _bridge(agent, ports, building, current=enterprise != FOUNDRY)
    if not building.names:
        await _ieee(agent, ports, building)
    if enterprise == CISCO:
        await _cisco(agent, ports, building)
    if not building.names and enterprise in INSTEAD:
        await INSTEAD[enterprise](agent, ports, building)
    return building.built() if building.names else None


async def _bridge(agent: Agent, ports: Ports, building: Building, *, current: bool) -> None:
    names, status = await agent.walk(STATIC_NAME), await agent.walk(STATIC_STATUS)
    for index, value in names.items():
        active = number(status.get(index)) in (None, ROW_ACTIVE)
        building.add(_last(index), text(value), "active" if active else "suspended")
    egress = _newest(await agent.walk(CURRENT_EGRESS)) if current else {}
    untagged = _newest(await agent.walk(CURRENT_UNTAGGED)) if current else {}
    static_egress, static_untagged = await agent.walk(STATIC_EGRESS), await agent.walk(STATIC_UNTAGGED)
    for vlan, value in _newest(static_egress).items():
        egress.setdefault(vlan, value)
    for vlan, value in _newest(static_untagged).items():
        untagged.setdefault(vlan, value)
    _members(ports, building, egress, untagged)
    _natives(ports, building, by_number(await agent.walk(PVID)))


async def _ieee(agent: Agent, ports: Ports, building: Building) -> None:
    for index, value in (await agent.walk(IEEE_STATIC_NAME)).items():
        building.add(_last(index), text(value))
    egress = _newest(await agent.walk(IEEE_STATIC_EGRESS)) | _newest(await agent.walk(IEEE_CURRENT_EGRESS))
    untagged = _newest(await agent.walk(IEEE_STATIC_UNTAGGED)) | _newest(
        await agent.walk(IEEE_CURRENT_UNTAGGED)
    )
    _members(ports, building, egress, untagged)
    pvid = {_last(index): value for index, value in (await agent.walk(IEEE_PVID)).items()}
    _natives(ports, building, {port: value for port, value in pvid.items() if port is not None})


def _newest(rows: Rows) -> dict[int, Value]:
    """Return the values by VLAN, which ends the index; of several time marks the last one."""
    return {vlan: value for index, value in rows.items() if (vlan := _last(index)) is not None}


def _members(
    ports: Ports, building: Building, egress: Mapping[int, Value], untagged: Mapping[int, Value]
) -> None:
    for vlan, value in egress.items():
        building.add(vlan)
        bare = set(bits(untagged.get(vlan)))
        for port in bits(value):
            building.member(vlan, ports.of_bridge_port(port), tagged=port not in bare)


def _natives(ports: Ports, building: Building, pvid: Mapping[int, Value]) -> None:
    for port, value in pvid.items():
        index = ports.bridge.get(port) if ports.bridge else port
        vlan = number(value)
        if index is not None and vlan is not None and 1 <= vlan <= MOST_VLAN:
            building.natives[index] = vlan


async def _cisco(agent: Agent, ports: Ports, building: Building) -> None:
    names, types = await agent.walk(VTP_NAME), await agent.walk(VTP_TYPE)
    for index, value in (await agent.walk(VTP_STATE)).items():
        state = VTP_STATES.get(number(value) or 0)
        if number(types.get(index)) in (None, ETHERNET):
            building.add(_last(index), text(names.get(index)), state)
    existing = frozenset(building.names)
    for port, value in by_number(await agent.walk(VM_VLAN)).items():
        vlan = number(value)
        if vlan:
            building.natives[port] = vlan
            # A port may be given to a VLAN that the switch does not have (any more): that makes none.
            if vlan in existing or not existing:
                building.member(vlan, ports.names.get(port), tagged=False)
    await _trunks(agent, ports, building)


async def _trunks(agent: Agent, ports: Ports, building: Building) -> None:
    status = by_number(await agent.walk(TRUNK_STATUS))
    trunks = [index for index, value in status.items() if number(value) == TRUNKING]
    if not trunks:
        return
    natives = by_number(await agent.walk(TRUNK_NATIVE))
    allowed = [by_number(await agent.walk(column)) for column in TRUNK_ALLOWED]
    known = sorted(building.names)
    for index in trunks:
        native = number(natives.get(index))
        if native:
            building.natives[index] = native
            if native in building.names or not known:
                building.member(native, ports.names.get(index), tagged=False)
        carried = set(_carried(column.get(index) for column in allowed))
        for vlan in known:
            if vlan in carried and vlan != native:
                building.member(vlan, ports.names.get(index), tagged=True)


def _carried(columns: Iterable[Value]) -> Iterable[int]:
    """Yield the VLANs of vlanTrunkPortVlansEnabled and its continuations: a bit for each VLAN, the first one
    for VLAN 0.
    """
    for place, value in enumerate(columns):
        for bit in bits(value):
            yield place * 1024 + bit - 1


def _last(index: str) -> int | None:
    parts = numbers(index)
    return parts[-1] if parts else None
