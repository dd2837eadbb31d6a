"""Interfaces: IF-MIB (RFC 2863) with its 64-bit counters, EtherLike-MIB, addresses, aggregates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from netautod.plugin_api import Interface, InterfaceAddress, InterfaceCounters, long_name
from netautod_snmp.agent import Agent, Value, WalkFailed
from netautod_snmp.bridge_ports import read_bridge_ports
from netautod_snmp.iana_types import IANA_TYPES
from netautod_snmp.ports import Ports
from netautod_snmp.values import ZERO_MAC, by_number, mac, number, text

IF_ENTRY = "1.3.6.1.2.1.2.2.1"  # ifEntry
IF_X_ENTRY = "1.3.6.1.2.1.31.1.1.1"  # ifXEntry
DUPLEX = "1.3.6.1.2.1.10.7.2.1.19"  # dot3StatsDuplexStatus (RFC 3635)
IF_NUMBER = "1.3.6.1.2.1.2.1.0"  # ifNumber
MOST_MISSING = 0.9  # agents count it a little otherwise
COLUMNS = {
    "descr": f"{IF_ENTRY}.2",
    "type": f"{IF_ENTRY}.3",
    "mtu": f"{IF_ENTRY}.4",
    "speed": f"{IF_ENTRY}.5",
    "mac": f"{IF_ENTRY}.6",
    "admin": f"{IF_ENTRY}.7",
    "oper": f"{IF_ENTRY}.8",
    "change": f"{IF_ENTRY}.9",
    "in_octets": f"{IF_ENTRY}.10",
    "in_discards": f"{IF_ENTRY}.13",
    "in_errors": f"{IF_ENTRY}.14",
    "out_octets": f"{IF_ENTRY}.16",
    "out_discards": f"{IF_ENTRY}.19",
    "out_errors": f"{IF_ENTRY}.20",
    "name": f"{IF_X_ENTRY}.1",
    "in_octets_64": f"{IF_X_ENTRY}.6",
    "out_octets_64": f"{IF_X_ENTRY}.10",
    "high_speed": f"{IF_X_ENTRY}.15",
    "alias": f"{IF_X_ENTRY}.18",
    "duplex": DUPLEX,
}
# These have a value in every row of ifTable.
WHOLE = ("descr", "type", "admin", "oper")
ADMIN = {1: "up", 2: "down", 3: "testing"}
OPER = {**ADMIN, 4: "unknown", 5: "dormant", 6: "notPresent", 7: "lowerLayerDown"}
DUPLEXES = {2: "half", 3: "full"}
FASTER_THAN_ANY = 10_000_000  # 10 Tbit/s, or 10 Mbit/s in the wrong unit
MOST_SPEED = 4_294_967_295  # ifSpeed of what is faster than a Gauge32 can say
Column = Mapping[int, Value]


@dataclass(frozen=True, kw_only=True)
class InterfaceTable:
    """The columns of the interfaces, and what they are called."""

    columns: Mapping[str, Column]
    ports: Ports


async def read_table(agent: Agent, *, enterprise: int | None = None) -> InterfaceTable:
    """Read the table. Raises WalkFailed also if one column ends before the others."""
    columns = {name: by_number(await agent.walk(root)) for name, root in COLUMNS.items()}
    if not _agree(columns):
        # An interface may have come or gone meanwhile; an agent that stops in the middle stops there again.
        columns |= {name: by_number(await agent.walk(COLUMNS[name])) for name in WHOLE}
        if not _agree(columns):
            raise WalkFailed("ifTable is not whole: its columns have different interfaces")
    announced = number((await agent.get([IF_NUMBER])).get(IF_NUMBER)) or 0
    if len(columns["descr"]) < announced * MOST_MISSING:
        raise WalkFailed(f"ifTable is not whole: {len(columns['descr'])} of {announced} interfaces")
    bridge = await read_bridge_ports(agent, enterprise)
    return InterfaceTable(columns=columns, ports=_ports(columns, bridge))


def _agree(columns: Mapping[str, Column]) -> bool:
    """Return whether all have the same interfaces, or end with the same one: a column that was cut ends
    early.

    Gaps are the agent's own: some have no state, or no type, for what is no port. A column that the agent
    does not have at all says nothing.
    """
    known = [column for name in WHOLE if (column := columns[name])]
    same = all(column.keys() == known[0].keys() for column in known)
    return same or len({list(column)[-1] for column in known}) == 1


def _ports(columns: Mapping[str, Column], bridge: Mapping[int, int]) -> Ports:
    indexes = sorted({*columns["descr"], *columns["name"], *columns["oper"]})
    descriptions, short_names = _texts(columns["descr"]), _texts(columns["name"])
    names: dict[int, str] = {}
    taken: set[str] = set()
    for index in indexes:
        name = _name(short_names.get(index), descriptions.get(index)) or f"ifIndex {index}"
        if name in taken:
            # Vendors repeat ifName: a row of its own for each, under names that tell them apart.
            description = descriptions.get(index)
            name = description if description and description not in taken else f"{name} ({index})"
        taken.add(name)
        names[index] = name
    return Ports(
        names=names,
        short_names=short_names,
        descriptions=descriptions,
        aliases=_texts(columns["alias"]),
        macs={index: own for index, value in columns["mac"].items() if (own := _own_mac(value))},
        bridge=bridge,
    )


def _name(short: str | None, description: str | None) -> str | None:
    """Return the long form: ifDescr where it is that of ifName (`GigabitEthernet0/1` of `Gi0/1`)."""
    if short is None or description is None:
        return short or description
    if description != short and _is_long_form(description, short):
        return description
    return long_name(short)


def _is_long_form(long: str, short: str) -> bool:
    kind, number_ = _split(short)
    long_kind, long_number = _split(long)
    return bool(kind) and number_ == long_number and long_kind.lower().startswith(kind.lower().rstrip("-"))


def _split(name: str) -> tuple[str, str]:
    letters = name.rstrip("0123456789/.:-")
    return letters, name[len(letters) :]


def _texts(column: Column) -> dict[int, str]:
    return {index: found for index, value in column.items() if (found := text(value)) is not None}


def _own_mac(value: Value) -> str | None:
    found = mac(value)
    return None if found == ZERO_MAC else found


def interfaces_of(
    table: InterfaceTable,
    *,
    now: datetime,
    uptime_ticks: int | None,
    addresses: Mapping[int, tuple[InterfaceAddress, ...]],
    vlans: Mapping[int, int],
    aggregates: Mapping[int, int],
) -> list[Interface]:
    """Build the interfaces. `uptime_ticks` is sysUpTime; `vlans` and `aggregates` (by their own ifIndex) go
    by ifIndex.
    """
    columns, ports = table.columns, table.ports

    def value(column: str, index: int) -> int | None:
        return number(columns[column].get(index))

    rows = []
    for index, name in ports.names.items():
        aggregate = aggregates.get(index)
        rows.append(
            Interface(
                name=name,
                description=ports.aliases.get(index),
                type=IANA_TYPES.get(value("type", index) or 0),
                admin_status=ADMIN.get(value("admin", index) or 0),
                oper_status=OPER.get(value("oper", index) or 0),
                speed_mbps=_speed(value("high_speed", index), value("speed", index)),
                duplex=DUPLEXES.get(value("duplex", index) or 0),
                mtu=value("mtu", index),
                mac_address=ports.macs.get(index),
                ip_addresses=addresses.get(index, ()),
                vlan_id=vlans.get(index),
                lag=None if aggregate is None else ports.names.get(aggregate),
                if_index=index,
                last_change_at=_moment(value("change", index), uptime_ticks, now),
                counters=_counters(value, index),
            )
        )
    return rows


def _speed(high: int | None, low: int | None) -> int | None:
    """Return the speed in Mbit/s, the unit of ifHighSpeed; where it is 0, a slow interface says it in bit/s.

    Some agents have ifHighSpeed in bit/s as well: faster than any port, and the number of ifSpeed where that
    has room.
    """
    if high and high >= FASTER_THAN_ANY:
        return high // 1_000_000
    if high:
        return high
    if low is None or low >= MOST_SPEED:
        return high
    return low // 1_000_000


def _moment(ticks: int | None, uptime_ticks: int | None, now: datetime) -> datetime | None:
    """Convert ifLastChange, which is sysUpTime of that moment; 0 was before the agent started."""
    if not ticks or uptime_ticks is None or ticks > uptime_ticks:
        return None
    return (now - timedelta(milliseconds=10 * (uptime_ticks - ticks))).astimezone(UTC)


def _counters(value: Callable[[str, int], int | None], index: int) -> InterfaceCounters:
    wide = {name: value(f"{name}_64", index) for name in ("in_octets", "out_octets")}
    return InterfaceCounters(
        in_octets=wide["in_octets"] if wide["in_octets"] is not None else value("in_octets", index),
        out_octets=wide["out_octets"] if wide["out_octets"] is not None else value("out_octets", index),
        in_errors=value("in_errors", index),
        out_errors=value("out_errors", index),
        in_discards=value("in_discards", index),
        out_discards=value("out_discards", index),
    )
