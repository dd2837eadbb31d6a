"""Neighbors: LLDP-MIB and LLDP-V2-MIB (IEEE 802.1AB), and those of CDP that they do not name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Address, IPv6Address

from netautod.plugin_api import Neighbor, device_text, long_name
from netautod_snmp import mikrotik, tplink
from netautod_snmp.agent import Agent, Rows, Value
from netautod_snmp.bridge_ports import TP_LINK
from netautod_snmp.cdp import CDP, CDP_COLUMNS, cdp_neighbors_of
from netautod_snmp.ports import Ports
from netautod_snmp.values import address, bits, mac, name_or_mac, number, numbers, octets, text
from netautod_snmp.vendors import CISCO

LLDP = "1.0.8802.1.1.2.1"
LOCAL_PORT_SUBTYPE, LOCAL_PORT_ID, LOCAL_PORT_DESC = (f"{LLDP}.3.7.1.{column}" for column in (2, 3, 4))
REMOTE = f"{LLDP}.4.1.1"  # lldpRemEntry; index: time mark, local port, number
MANAGEMENT = f"{LLDP}.4.2.1.3"  # lldpRemManAddrIfSubtype; the address is in the index
LLDP_V2 = "1.3.111.2.802.1.1.13.1"
REMOTE_V2 = f"{LLDP_V2}.4.1.1"  # lldpV2RemEntry; index: time mark, ifIndex, destination, number
MANAGEMENT_V2 = f"{LLDP_V2}.4.2.1.3"
# TIMETRA-LLDP-MIB: tmnxLldpRemEntry has the index of LLDP-V2-MIB and the columns of LLDP-MIB.
REMOTE_NOKIA, MANAGEMENT_NOKIA = "1.3.6.1.4.1.6527.3.1.2.59.4.1.1", "1.3.6.1.4.1.6527.3.1.2.59.4.2.1.3"
NOKIA, MIKROTIK = 6527, 14988
# ChassisIdSubtype and PortIdSubtype (802.1AB 8.5.2, 8.5.3).
CHASSIS_MAC, CHASSIS_NETWORK = 4, 5
PORT_MAC, PORT_NETWORK, PORT_NAMES = 3, 4, frozenset({1, 5})
NUMBER_SUBTYPES = {"name": 5, "alias": 1, "mac": 3, "local": 7}
# LldpSystemCapabilitiesMap: bits from the left.
CAPABILITIES = (
    *("other", "repeater", "bridge", "wlanAccessPoint", "router", "telephone", "docsisCableDevice"),
    *("stationOnly", "cVLANComponent", "sVLANComponent", "twoPortMACRelay"),
)
IPV4, IPV6 = 1, 2  # AddressFamilyNumbers


@dataclass(frozen=True, kw_only=True)
class LldpTables:
    """The columns of the remote systems table by name, what stands in front of them removed."""

    columns: Mapping[str, Rows]
    management: Rows
    local_subtypes: Rows = field(default_factory=dict)
    local_ids: Rows = field(default_factory=dict)
    local_descriptions: Rows = field(default_factory=dict)
    by_if_index: bool = False  # LLDP-V2-MIB: the second number of the index is the ifIndex


REMOTE_COLUMNS = {
    "chassis_subtype": 4,
    "chassis": 5,
    "port_subtype": 6,
    "port": 7,
    "port_description": 8,
    "name": 9,
    "description": 10,
    "capabilities": 12,
}
REMOTE_COLUMNS_V2 = {name: column + 1 for name, column in REMOTE_COLUMNS.items()}


async def read_neighbors(agent: Agent, ports: Ports, *, enterprise: int | None) -> list[Neighbor] | None:
    """Read the neighbors; None for an agent without any of the tables. Raises WalkFailed."""
    is_cisco = enterprise == CISCO
    lldp = await _lldp(agent)
    if enterprise == MIKROTIK:
        lldp = replace(lldp, columns=await mikrotik.with_local_ports(agent, lldp.columns))
    found = neighbors_of(lldp, ports)
    speaks_lldp = bool(lldp.local_ids) or bool(found)
    if not found:
        found = neighbors_of(await _by_if_index(agent, REMOTE_V2, REMOTE_COLUMNS_V2, MANAGEMENT_V2), ports)
    if not found and enterprise == NOKIA:
        found = neighbors_of(await _by_if_index(agent, REMOTE_NOKIA, REMOTE_COLUMNS, MANAGEMENT_NOKIA), ports)
    if not found and enterprise == TP_LINK:
        found = await tplink.neighbors(agent, ports)
    cdp: dict[str, Rows] = {}
    if is_cisco or not speaks_lldp:
        cdp = {name: await agent.walk(f"{CDP}.{column}") for name, column in CDP_COLUMNS.items()}
    both = merged(found, cdp_neighbors_of(cdp, ports))
    return both if both or speaks_lldp or is_cisco else None


async def _lldp(agent: Agent) -> LldpTables:
    columns = {name: await agent.walk(f"{REMOTE}.{column}") for name, column in REMOTE_COLUMNS.items()}
    return LldpTables(
        columns=columns,
        management=await agent.walk(MANAGEMENT) if columns["chassis"] else {},
        local_subtypes=await agent.walk(LOCAL_PORT_SUBTYPE),
        local_ids=await agent.walk(LOCAL_PORT_ID),
        local_descriptions=await agent.walk(LOCAL_PORT_DESC),
    )


async def _by_if_index(agent: Agent, root: str, numbers_: Mapping[str, int], management: str) -> LldpTables:
    columns = {name: await agent.walk(f"{root}.{column}") for name, column in numbers_.items()}
    addresses = await agent.walk(management) if columns["chassis"] else {}
    return LldpTables(columns=columns, management=addresses, by_if_index=True)


def neighbors_of(tables: LldpTables, ports: Ports) -> list[Neighbor]:
    columns = tables.columns
    locals_ = {} if tables.by_if_index else local_interfaces(tables, ports)
    addresses = _management(tables)
    found = []
    for index in {**columns["chassis"], **columns["port"], **columns["name"]}:
        parts = numbers(index)
        if len(parts) < 3:
            continue
        local = ports.names.get(parts[1]) if tables.by_if_index else locals_.get(parts[1])
        found.append(
            Neighbor(
                local_interface=local or f"port {parts[1]}",
                protocol="lldp",
                remote_system_name=text(columns["name"].get(index)),
                remote_chassis_id=_chassis(
                    columns["chassis_subtype"].get(index), columns["chassis"].get(index)
                ),
                remote_port=_port(columns["port_subtype"].get(index), columns["port"].get(index)),
                remote_port_description=text(columns["port_description"].get(index)),
                remote_platform=text(columns["description"].get(index)),
                remote_mgmt_address=addresses.get((parts[0], parts[1], parts[-1])),
                remote_capabilities=_capabilities(columns["capabilities"].get(index)),
            )
        )
    return once(found)


def once(found: Iterable[Neighbor]) -> list[Neighbor]:
    """Return each neighbor once, also one that is heard on several destination addresses (LLDP-V2-MIB), or
    that has an older row with another time mark.

    A row that does not say which port of which chassis it is stays apart.
    """
    rows: list[Neighbor] = []
    places: dict[tuple[str, str, str], int] = {}
    for one in found:
        if one.remote_chassis_id is None or one.remote_port is None:
            rows.append(one)
            continue
        place = places.setdefault((one.local_interface, one.remote_chassis_id, one.remote_port), len(rows))
        if place == len(rows):
            rows.append(one)
        else:
            rows[place] = _filled(rows[place], one)
    return rows


def local_interfaces(tables: LldpTables, ports: Ports) -> dict[int, str]:
    """Return the interface of each lldpLocPortNum.

    Its meaning depends on the vendor: an ifIndex, a bridge port, or known by lldpLocPortId and
    lldpLocPortDesc alone, which are names, aliases or addresses.
    """
    by_name = {name: index for index, name in ports.names.items()}
    for other in (ports.descriptions, ports.short_names):
        for index, name in other.items():
            by_name.setdefault(name, index)
    by_alias = _unique(ports.aliases)
    by_mac = _unique(ports.macs)
    found: dict[int, str] = {}
    remote = {numbers(index)[1] for index in tables.columns["port"] if len(numbers(index)) > 2}
    for port in {*(int(index) for index in tables.local_ids if index.isdecimal()), *remote}:
        own = _by_text(tables, port, by_name, by_alias, by_mac)
        if own is None:
            own = _by_number(port, ports)
        if own is not None and own in ports.names:
            found[port] = ports.names[own]
    return found


def _by_text(
    tables: LldpTables,
    port: int,
    by_name: Mapping[str, int],
    by_alias: Mapping[str, int],
    by_mac: Mapping[str, int],
) -> int | None:
    raw = tables.local_ids.get(str(port))
    subtype = number(tables.local_subtypes.get(str(port)))
    own, description = text(raw), text(tables.local_descriptions.get(str(port)))
    if subtype == PORT_MAC or (isinstance(raw, bytes) and len(raw) == 6 and own not in by_name):
        found = by_mac.get(mac(raw) or "")
        if found is not None:
            return found
    for one in (own, description):
        if one is not None and one in by_name:
            return by_name[one]
    if own is not None and own.isdecimal() and subtype == NUMBER_SUBTYPES["local"]:
        return None  # a number: an ifIndex or the port's own
    for one in (own, description):
        if one is not None and long_name(one) in by_name:
            return by_name[long_name(one)]
        if one is not None and one in by_alias:
            return by_alias[one]
    return None


def _by_number(port: int, ports: Ports) -> int | None:
    """Return the ifIndex of a port: a bridge's LldpPortNumber is its dot1dBasePort, that of others an ifIndex
    (LLDP-MIB).
    """
    found = ports.bridge.get(port)
    return found if found in ports.names else port


def _unique(values: Mapping[int, str]) -> dict[str, int]:
    """Return the indexes by value, without values that several interfaces share."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for index, value in values.items():
        if value in found:
            twice.add(value)
        found[value] = index
    return {value: index for value, index in found.items() if value not in twice}


def _chassis(subtype: Value, value: Value) -> str | None:
    kind = number(subtype)
    if kind == CHASSIS_MAC:
        return mac(value) or text(value)
    if kind == CHASSIS_NETWORK:
        return _network(value) or text(value)
    return name_or_mac(value)


def _port(subtype: Value, value: Value) -> str | None:
    kind = number(subtype)
    if kind == PORT_MAC:
        return mac(value) or text(value)
    if kind == PORT_NETWORK:
        return _network(value) or text(value)
    shown = text(value)
    return None if shown is None else long_name(shown)


def _network(value: Value) -> str | None:
    """Return the address of octets of which the first is the address family."""
    if not isinstance(value, bytes) or len(value) < 5:
        return None
    if value[0] == IPV4 and len(value) == 5:
        return str(IPv4Address(value[1:]))
    return str(IPv6Address(value[1:])) if value[0] == IPV6 and len(value) == 17 else None


def _management(tables: LldpTables) -> dict[tuple[int, int, int], str]:
    """Return management addresses by time mark, local port and number; the IPv4 address where there are
    several.
    """
    found: dict[tuple[int, int, int], str] = {}
    skipped = 4 if tables.by_if_index else 3
    for index in tables.management:
        parts = numbers(index)
        if len(parts) < skipped + 3:
            continue
        family, rest = parts[skipped], parts[skipped + 1 :]
        bare = octets(rest[1 : 1 + rest[0]]) if len(rest) == rest[0] + 1 else octets(rest)
        own = address(bare) if bare is not None and family in (IPV4, IPV6) else None
        key = (parts[0], parts[1], parts[skipped - 1])
        if own is not None and (key not in found or (":" in found[key] and ":" not in own)):
            found[key] = own
    return found


def _capabilities(value: Value) -> tuple[str, ...]:
    return tuple(CAPABILITIES[bit - 1] for bit in bits(value) if bit <= len(CAPABILITIES))


def merged(lldp: Iterable[Neighbor], cdp: Iterable[Neighbor]) -> list[Neighbor]:
    """Return each neighbor once: LLDP says more, CDP fills what it leaves out."""
    both = list(lldp)
    by_interface: dict[str, list[int]] = {}
    for place, other in enumerate(both):
        by_interface.setdefault(other.local_interface, []).append(place)
    for one in cdp:
        places = by_interface.get(one.local_interface, [])
        same = next((place for place in places if _is_same(one, both[place])), None)
        if same is None:
            both.append(one)
        else:
            both[same] = _filled(both[same], one)
    return both


def _filled(neighbor: Neighbor, other: Neighbor) -> Neighbor:
    empty = [field.name for field in fields(neighbor) if getattr(neighbor, field.name) in (None, ())]
    return replace(neighbor, **{name: getattr(other, name) for name in empty})


def _is_same(one: Neighbor, other: Neighbor) -> bool:
    if one.local_interface != other.local_interface:
        return False
    names = [_bare(name) for name in (one.remote_system_name, other.remote_system_name)]
    if all(names):
        return names[0] == names[1]
    if one.remote_mgmt_address and other.remote_mgmt_address:
        return one.remote_mgmt_address == other.remote_mgmt_address
    # Two that both say nothing are not alike by that.
    if one.remote_chassis_id is not None and one.remote_chassis_id == other.remote_chassis_id:
        return True
    return one.remote_port is not None and one.remote_port == other.remote_port


def _bare(name: str | None) -> str | None:
    """Return the name without domain, and without the serial number that CDP puts in brackets behind
    a name.
    """
    shown = device_text(name)
    return None if shown is None else shown.partition("(")[0].partition(".")[0].strip().lower()
