"""Records of ntc-templates as rows of tables: fields by the names that its templates use for them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from netautod.plugin_api import (
    ArpEntry,
    DeviceFacts,
    Interface,
    InterfaceAddress,
    MacEntry,
    Neighbor,
    Vlan,
    device_text,
    ip_address,
    long_name,
    mac_address,
)
from netautod_cli.records import Record, Records, Unreadable
from netautod_cli.units import count, duplex_of, speed_of, state_of, uptime_of

_RANGE = re.compile(r"(?P<head>.*?)(?P<first>\d+)-(?:(?P<again>.*?))(?P<last>\d+)")
_BEHIND = re.compile(r"\s+(MTU \d+ bytes|Internet Address is \d).*$")
NO_PORT = frozenset({"", "-", "--", "none", "n/a", "cpu", "router", "switch", "unknown"})
CAPABILITIES = {
    "b": "bridge",
    "bridge": "bridge",
    "switch": "bridge",
    "s": "stationOnly",
    "r": "router",
    "router": "router",
    "w": "wlanAccessPoint",
    "wlan": "wlanAccessPoint",
    "t": "telephone",
    "telephone": "telephone",
    "phone": "telephone",
    "c": "docsisCableDevice",
    "p": "repeater",
    "repeater": "repeater",
}


def _pick(record: Record, *names: str) -> Any:
    """The first of the fields that has a value."""
    for name in names:
        value = record.get(name)
        if value not in (None, "", []):
            return value
    return None


def _one(record: Record, *names: str) -> str | None:
    value = _pick(record, *names)
    if isinstance(value, list):
        value = " ".join(map(str, value))
    text = device_text(value) if value is not None else None
    return None if text is None or text in ("-", "--") else text


def _mac(text: str | None) -> str | None:
    if text is None:
        return None
    # HP's form: 0015b2-a45078
    return mac_address(text) or mac_address(text.replace("-", ""))


def _name(text: str | None) -> str | None:
    if text is None or text.lower() in NO_PORT:
        return None
    return long_name(text.replace(" ", "")) if re.fullmatch(r"[A-Za-z]+ [\d/.]+", text) else long_name(text)


def status(records: Records) -> list[DeviceFacts]:
    if not records:
        return []
    record = records[0]
    hardware, serial = (
        _pick(record, "model", "hardware", "platform", "board_name"),
        _pick(record, "serial_number", "serial"),
    )
    return [
        DeviceFacts(
            sys_name=_one(record, "hostname"),
            model=_first(hardware),
            os_version=_one(record, "junos_version", "vrp_version", "os", "image", "version"),
            serial_number=_first(serial),
            uptime_seconds=uptime_of(record),
        )
    ]


def _first(value: Any) -> str | None:
    return device_text(str(value[0] if isinstance(value, list) else value)) if value else None


def interfaces(records: Records, switchports: Records | None = None) -> list[Interface]:
    vlans = {_name(_one(one, "interface")): _port_vlan(one) for one in switchports or ()}
    found = []
    members: dict[str, str] = {}
    for record in records:
        name = _name(_one(record, "interface", "port", "name"))
        if name is None:
            continue
        admin, oper = state_of(record)
        for member in _listed(_pick(record, "aggregated_interfaces")):
            members[member] = name
        found.append(
            Interface(
                name=name,
                description=_description(record),
                admin_status=admin,
                oper_status=oper,
                speed_mbps=speed_of(record),
                duplex=duplex_of(_one(record, "duplex", "speed")),
                mtu=count(_one(record, "mtu", "actual_mtu", "l2mtu")),
                mac_address=_mac(_first(_pick(record, "mac_address", "hw_address", "bia"))),
                ip_addresses=tuple(_addresses(record)),
                vlan_id=vlans.get(name) or _access_vlan(record),
            )
        )
    return [replace(one, lag=members[one.name]) if one.name in members else one for one in found]


def _description(record: Record) -> str | None:
    """Without the line behind it, which the template of NX-OS takes along."""
    found = _one(record, "description", "interface_desc", "interface_description", "comment")
    return None if found is None else _BEHIND.sub("", found) or None


def _addresses(record: Record) -> Iterator[InterfaceAddress]:
    length = count(_one(record, "prefix_length"))
    for value in (_pick(record, "ip_address"), _pick(record, "secondary_ip_address"), _pick(record, "local")):
        for text in value if isinstance(value, list) else [value] if value else []:
            own, _, bits = str(text).partition("/")
            parsed, prefix = ip_address(own), count(bits) if bits else length
            if parsed is not None and prefix is not None:
                yield InterfaceAddress(address=parsed, prefix_length=prefix)


def _access_vlan(record: Record) -> int | None:
    return count(_one(record, "vlan_access", "vlan_native", "untagged_vlan_id", "vlan_untagged", "vlan_id"))


def _port_vlan(record: Record) -> int | None:
    mode = str(record.get("mode", "")).lower()
    return count(_one(record, "native_vlan" if "trunk" in mode else "access_vlan"))


def neighbors_of_ios(
    records: Records, listed: Records | None = None, cdp: Records | None = None
) -> list[Neighbor]:
    """Older releases do not say in the details on which interface; the list has the same order."""
    if any(not record.get("local_interface") for record in records):
        names = [_one(one, "local_interface") for one in listed or ()]
        if len(names) != len(records):
            raise Unreadable("the device does not say on which interfaces its neighbors are heard")
        records = [{**record, "local_interface": name} for record, name in zip(records, names, strict=True)]
    return neighbors(records, cdp)


def neighbors(records: Records, cdp: Records | None = None) -> list[Neighbor]:
    found = [one for record in records if (one := _neighbor(record, "lldp")) is not None]
    others: list[Neighbor] = []
    for record in cdp or ():
        one = _neighbor(record, "cdp")
        if one is None:
            continue
        same = next((place for place, other in enumerate(found) if _is_same(one, other)), None)
        if same is None:
            others.append(one)
        else:
            found[same] = _filled(found[same], one)
    return found + others


def _neighbor(record: Record, protocol: Any) -> Neighbor | None:
    local = _name(_one(record, "local_interface", "interface"))
    if local is None:
        return None
    chassis = _one(record, "chassis_id", "mac_address")
    port = _one(record, "neighbor_port_id", "neighbor_interface", "interface_name")
    return Neighbor(
        local_interface=local,
        protocol=protocol,
        remote_system_name=_one(record, "neighbor_name", "neighbor", "identity")
        or (_one(record, "chassis_id") if protocol == "cdp" else None),
        remote_chassis_id=_mac(chassis) or chassis,
        remote_port=None if port is None else _mac(port) or _name(port) or port,
        remote_port_description=_one(record, "neighbor_interface_description", "neighbor_port_description"),
        remote_platform=_one(record, "platform", "neighbor_description", "system_description"),
        remote_mgmt_address=_address(
            _pick(record, "mgmt_address", "management_ip", "ipv4_address", "ip_address")
        ),
        remote_capabilities=_capabilities(_one(record, "capabilities", "system_caps_enabled")),
    )


def _address(value: Any) -> str | None:
    for text in value if isinstance(value, list) else [value]:
        found = ip_address(str(text)) if text else None
        if found is not None:
            return found
    return None


def _capabilities(text: str | None) -> tuple[str, ...]:
    words = re.split(r"[,\s]+", text or "")
    return tuple(dict.fromkeys(name for word in words if (name := CAPABILITIES.get(word.lower()))))


def _is_same(one: Neighbor, other: Neighbor) -> bool:
    if one.local_interface != other.local_interface:
        return False
    names = [
        (name or "").partition("(")[0].partition(".")[0].lower()
        for name in (one.remote_system_name, other.remote_system_name)
    ]
    return names[0] == names[1] if all(names) else one.remote_mgmt_address == other.remote_mgmt_address


def _filled(neighbor: Neighbor, other: Neighbor) -> Neighbor:
    empty = [field.name for field in fields(neighbor) if getattr(neighbor, field.name) in (None, ())]
    return replace(neighbor, **{name: getattr(other, name) for name in empty})


def forwarding(records: Records) -> list[MacEntry]:
    """One row for each port of an address: those of a multicast group have several."""
    found = []
    for record in records:
        mac = _mac(_one(record, "mac_address", "destination_address"))
        if mac is None:
            continue
        ports = _pick(record, "destination_port", "ports", "port", "interface", "logical_interface")
        kind = (_one(record, "type", "state", "mac_flag") or "").lower()
        for port in ports if isinstance(ports, list) else [ports]:
            names = str(port or "").split(",") if "," in str(port or "") else [port]
            found += [
                MacEntry(
                    mac_address=mac,
                    vlan_id=count(_one(record, "vlan_id")),
                    interface=_name(device_text(str(name)) if name else None),
                    type=KINDS.get(kind, kind or None),
                )
                for name in names
            ]
    return found


KINDS = {
    "learned": "dynamic",
    "d": "dynamic",
    "s": "static",
    "arpa": "dynamic",
    "dc": "dynamic",
    "reachable": "dynamic",
}


def arp(records: Records) -> list[ArpEntry]:
    found = []
    for record in records:
        own = ip_address(_one(record, "ip_address", "address") or "")
        if own is None:
            continue
        kind = (_one(record, "type", "state", "flags") or "").lower()
        vrf = _one(record, "vrf")
        found.append(
            ArpEntry(
                ip_address=own,
                mac_address=_mac(_one(record, "mac_address", "hardware_address")),
                interface=_name((_one(record, "interface", "port_id", "port") or "").partition(",")[0]),
                vrf=None if vrf == "default" else vrf,
                type=KINDS.get(kind, kind or None),
            )
        )
    return found


def vlans(records: Records, switchports: Records | None = None) -> list[Vlan]:
    found: dict[int, Vlan] = {}
    for record in records:
        number = count(_one(record, "vlan_id", "tag"))
        if number is None:
            continue
        before = found.get(number, Vlan(vlan_id=number))
        state = (_one(record, "status", "vlan_status") or "").lower()
        members = tuple(_listed(_pick(record, "interfaces", "interface")))
        is_tagged = str(record.get("mode", "")).upper() == "TG"
        found[number] = replace(
            before,
            name=_one(record, "vlan_name", "name") or before.name,
            status=STATES.get(state, state or before.status),
            tagged_interfaces=before.tagged_interfaces + (members if is_tagged else ()),
            untagged_interfaces=before.untagged_interfaces + (() if is_tagged else members),
        )
    for vlan, interface in _trunks(switchports or (), found):
        one = found[vlan]
        if interface not in one.untagged_interfaces:
            found[vlan] = replace(one, tagged_interfaces=(*one.tagged_interfaces, interface))
    return list(found.values())


STATES = {
    "up": "active",
    "enable": "active",
    "port-based": "active",
    "act/unsup": "active",
    "act/lshut": "suspended",
}


def _trunks(switchports: Iterable[Record], known: Mapping[int, Vlan]) -> Iterator[tuple[int, str]]:
    for record in switchports:
        name = _name(_one(record, "interface"))
        if name is None or "trunk" not in str(record.get("mode", "")).lower():
            continue
        for vlan in _numbers(_pick(record, "trunking_vlans"), known):
            yield vlan, name


def _numbers(value: Any, known: Mapping[int, Vlan]) -> Iterator[int]:
    for text in ",".join(value if isinstance(value, list) else [str(value or "")]).split(","):
        first, _, last = text.strip().partition("-")
        if first.upper() == "ALL":
            yield from known
        elif first.isdecimal():
            end = int(last) if last.isdecimal() else int(first)
            yield from (vlan for vlan in range(int(first), end + 1) if vlan in known)


def _listed(value: Any) -> Iterator[str]:
    """Interfaces of a list, ranges among them: `1/1/34-1/1/52`."""
    for text in value if isinstance(value, list) else [value] if value else []:
        for piece in re.split(r"[,\s]+", str(text)):
            yield from _ranged(piece.strip().rstrip("*"))


def _ranged(text: str) -> Iterator[str]:
    match = _RANGE.fullmatch(text)
    if match is not None and match["again"] in ("", match["head"]):
        first, last = int(match["first"]), int(match["last"])
        if first <= last <= first + 4096:
            for number in range(first, last + 1):
                yield long_name(f"{match['head']}{number}")
            return
    name = _name(text)
    if name is not None:
        yield name
