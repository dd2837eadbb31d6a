"""The records of interfaces as rows: what the main command says, and what other commands add to it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from netautod.plugin_api import Interface, InterfaceAddress, InterfaceCounters, ip_address
from netautod_cli.fields import first, mac, one, pick, port, ports
from netautod_cli.records import Record, Records
from netautod_cli.units import count, duplex_of, speed_of, state_of

# RFC 4291, 2.5.6: the prefix of link-local addresses, which devices do not print with them.
_LINK_LOCAL_BITS = 64
# What some releases of NX-OS print behind a description, in the same line.
_BEHIND = re.compile(r"\s+(?:MTU \d+ bytes|Internet Address is \d).*$")


def interfaces(records: Records, *more: Records | None) -> list[Interface]:
    """Build the interfaces. `more` are the switch ports, and the addresses of interfaces by commands of their
    own.
    """
    added = [record for several in more for record in several or ()]
    vlans = {_name(record): _port_vlan(record) for record in added if "access_vlan" in record}
    known: dict[str, list[InterfaceAddress]] = {}
    for record in added:
        name = _name(record)
        if name is not None:
            known.setdefault(name, []).extend(_addresses(record))
    found = [
        _interface(name, record, vlans.get(name), known.get(name, ()))
        for record in records
        if (name := _name(record)) is not None
    ]
    members = dict(_members(records))
    return [replace(row, lag=members[row.name]) if row.name in members else row for row in found]


def _name(record: Record) -> str | None:
    return port(one(record, "interface", "unit", "port", "name"))


def _interface(name: str, record: Record, vlan: int | None, known: Iterable[InterfaceAddress]) -> Interface:
    admin, oper = state_of(record)
    return Interface(
        name=name,
        description=_BEHIND.sub("", one(record, "description", "interface_desc", "comment") or "") or None,
        admin_status=admin,
        oper_status=oper,
        speed_mbps=speed_of(record),
        duplex=duplex_of(one(record, "duplex", "speed")),
        mtu=count(one(record, "actual_mtu", "mtu", "l2mtu")),
        mac_address=mac(first(pick(record, "mac_address"))),
        ip_addresses=tuple(dict.fromkeys([*_addresses(record), *known])),
        vlan_id=vlan or _own_vlan(record),
        if_index=count(one(record, "if_index")),
        counters=InterfaceCounters(
            **{
                f"{way}_{what}": count(one(record, f"{way}_{what}"))
                for way in ("in", "out")
                for what in ("octets", "errors", "discards")
            }
        ),
    )


def _addresses(record: Record) -> Iterator[InterfaceAddress]:
    for text in record.get("ip_address") or ():
        own, _, bits = str(text).partition("/")
        yield from _address(own, bits)
    for own, bits in record.get("subnets") or ():
        yield from _address(own, bits)
    for own in record.get("link_local") or ():
        yield from _address(own, str(_LINK_LOCAL_BITS))
    for destination, own in record.get("destinations") or ():
        # Junos: "10/8" is the network; a host, or none, is the other end of the link or a loopback.
        bits = (destination or "").partition("/")[2]
        yield from _address(own, bits or ("128" if ":" in own else "32"))


def _address(text: str, bits: str) -> Iterator[InterfaceAddress]:
    parsed, prefix = ip_address(text), count(bits)
    if parsed is not None and prefix is not None:
        yield InterfaceAddress(address=parsed, prefix_length=prefix)


def _own_vlan(record: Record) -> int | None:
    return count(one(record, "vlan_access", "vlan_native", "vlan_untagged", "vlan_id"))


def _port_vlan(record: Record) -> int | None:
    if str(record.get("switchport", "")).lower() == "disabled":
        return None
    mode = str(record.get("mode", "")).lower()
    return count(one(record, "native_vlan" if "trunk" in mode else "access_vlan"))


def _members(records: Records) -> Iterator[tuple[str, str]]:
    """Yield each member with its aggregate, by the aggregate's name in the list; Junos has it at units."""
    names = {name.lower(): name for record in records if (name := _name(record)) is not None}
    for record in records:
        name, bundle = _name(record), record.get("bundle")
        if name is None:
            continue
        if bundle:
            whole = port(str(bundle)) or str(bundle)
            yield name.partition(".")[0], names.get(whole.lower(), whole)
        for text in record.get("aggregated_interfaces") or ():
            for member in ports(re.sub(r"[()]", " ", str(text))):
                yield member, name
