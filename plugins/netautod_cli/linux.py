"""Hosts with Linux: iproute2 and lldpd print JSON."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netautod.plugin_api import (
    ArpEntry,
    DeviceFacts,
    Interface,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    Vlan,
    device_text,
    ip_address,
    mac_address,
)
from netautod_cli.records import Record, Records
from netautod_cli.unreadable import Unreadable

# operstate of the kernel (RFC 2863) to IF-MIB's names.
OPER = {
    "UP": "up",
    "DOWN": "down",
    "UNKNOWN": "unknown",
    "DORMANT": "dormant",
    "LOWERLAYERDOWN": "lowerLayerDown",
    "NOTPRESENT": "notPresent",
    "TESTING": "testing",
}
TYPES = {"ether": "ethernetCsmacd", "loopback": "softwareLoopback"}
KINDS = {
    "bridge": "bridge",
    "bond": "ieee8023adLag",
    "team": "ieee8023adLag",
    "vlan": "l2vlan",
    "tun": "tunnel",
}
# IEEE 802.1Q: the identifiers 0 and 4095 are reserved.
LAST_VLAN = 4094
# lldpctl's names of the bits of LldpSystemCapabilitiesMap.
CAPABILITIES = {
    "other": "other",
    "repeater": "repeater",
    "bridge": "bridge",
    "wlan": "wlanAccessPoint",
    "router": "router",
    "tel": "telephone",
    "docsis": "docsisCableDevice",
    "station": "stationOnly",
}
TEXTS = ("cat ", "uname", "hostname")


def records_of(platform: str, command: str, output: str) -> Records:
    """Return the list of a command that prints JSON; a text as one record `{"text": ...}`."""
    if command.startswith(TEXTS):
        return [{"text": output}]
    try:
        found = json.loads(output or "[]")
    except ValueError as exc:
        raise Unreadable(f"`{command}` prints no JSON") from exc
    if isinstance(found, dict):
        return [found]
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Unreadable(f"`{command}` prints another form of JSON")
    return found


def status(
    release: Records,
    kernel: Records | None = None,
    uptime: Records | None = None,
    host: Records | None = None,
) -> list[DeviceFacts]:
    text = str(release[0]["text"]) if release else ""
    values = dict(re.findall(r'^(\w+)="?(.*?)"?$', text, re.MULTILINE))
    return [
        DeviceFacts(
            sys_name=device_text(_text(host)),
            sys_descr=device_text(_text(kernel)),
            os_version=device_text(values.get("PRETTY_NAME")),
            uptime_seconds=_seconds(_text(uptime)),
            device_type="linux",
        )
    ]


def _text(records: Records | None) -> str:
    return str(records[0]["text"]).strip() if records else ""


def _seconds(text: str) -> int | None:
    match = re.match(r"\d+", text)
    return None if match is None else int(match[0])


def interfaces(records: Records) -> list[Interface]:
    names = {str(record.get("ifname")): record for record in records}
    found = []
    for record in records:
        if not record.get("ifname"):
            continue
        flags, master = record.get("flags") or [], names.get(str(record.get("master")))
        kind = _kind(record)
        found.append(
            Interface(
                name=str(record["ifname"]),
                description=device_text(record.get("ifalias")),
                type=KINDS.get(kind) or TYPES.get(str(record.get("link_type"))),
                admin_status="up" if "UP" in flags else "down",
                oper_status=OPER.get(str(record.get("operstate"))),
                mtu=_whole(record.get("mtu")),
                mac_address=_mac(record),
                ip_addresses=tuple(_addresses(record)),
                vlan_id=_vlan(record),
                lag=str(record["master"]) if master and _kind(master) in ("bond", "team") else None,
                if_index=_whole(record.get("ifindex")),
                counters=_counters(record),
            )
        )
    return found


def _whole(value: Any) -> int | None:
    """Return a whole number of JSON, where a number is no text; TypeError for what iproute2 never prints
    there.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _kind(record: Record) -> str:
    info = record.get("linkinfo")
    return str(info.get("info_kind", "")) if isinstance(info, Mapping) else ""


def _vlan(record: Record) -> int | None:
    info = record.get("linkinfo")
    data = info.get("info_data") if isinstance(info, Mapping) and _kind(record) == "vlan" else None
    return _whole(data.get("id")) if isinstance(data, Mapping) else None


def _mac(record: Record) -> str | None:
    found = mac_address(str(record.get("address") or ""))
    return None if found == "00:00:00:00:00:00" else found


def _addresses(record: Record) -> Iterator[InterfaceAddress]:
    for one in record.get("addr_info") or ():
        own = ip_address(str(one.get("local") or ""))
        if own is not None and isinstance(one.get("prefixlen"), int):
            yield InterfaceAddress(address=own, prefix_length=one["prefixlen"])


def _counters(record: Record) -> InterfaceCounters:
    stats = record.get("stats64") or record.get("stats")
    if not isinstance(stats, Mapping):
        return InterfaceCounters()
    received, sent = stats.get("rx") or {}, stats.get("tx") or {}
    return InterfaceCounters(
        in_octets=_whole(received.get("bytes")),
        out_octets=_whole(sent.get("bytes")),
        in_errors=_whole(received.get("errors")),
        out_errors=_whole(sent.get("errors")),
        in_discards=_whole(received.get("dropped")),
        out_discards=_whole(sent.get("dropped")),
    )


def arp(records: Records) -> list[ArpEntry]:
    found = []
    for record in records:
        own = ip_address(str(record.get("dst") or ""))
        states = [str(state) for state in record.get("state") or ()]
        if own is not None and not {"FAILED", "NOARP"} & set(states):
            found.append(
                ArpEntry(
                    ip_address=own,
                    mac_address=mac_address(str(record.get("lladdr") or "")),
                    interface=device_text(record.get("dev")),
                    type="static" if "PERMANENT" in states else "dynamic",
                )
            )
    return found


def forwarding(records: Records) -> list[MacEntry]:
    """Build the forwarding table without multicast groups, which are no stations."""
    found = []
    for record in records:
        mac = mac_address(str(record.get("mac") or ""))
        if mac is None or int(mac[:2], 16) & 1:
            continue
        state = str(record.get("state") or "")
        found.append(
            MacEntry(
                mac_address=mac,
                vlan_id=_whole(record.get("vlan")),
                interface=device_text(record.get("ifname")),
                type="self" if state == "permanent" else "static" if state == "static" else "dynamic",
            )
        )
    return found


def vlans(records: Records) -> list[Vlan]:
    tagged: dict[int, dict[str, None]] = {}
    untagged: dict[int, dict[str, None]] = {}
    for record in records:
        for one in record.get("vlans") or ():
            first = _whole(one.get("vlan"))
            if first is None:
                continue
            members = untagged if "Egress Untagged" in (one.get("flags") or ()) else tagged
            for vlan in range(max(first, 1), min(_whole(one.get("vlanEnd")) or first, LAST_VLAN) + 1):
                members.setdefault(vlan, {})[str(record.get("ifname"))] = None
    return [
        Vlan(
            vlan_id=vlan,
            status="active",
            tagged_interfaces=tuple(tagged.get(vlan, ())),
            untagged_interfaces=tuple(untagged.get(vlan, ())),
        )
        for vlan in sorted({*tagged, *untagged})
    ]


def neighbors(records: Records) -> list[Neighbor]:
    """Parse `lldpctl -f json0`: everything is a list."""
    found = []
    for top in _each(records[0].get("lldp")) if records else ():
        for one in _each(top.get("interface")):
            chassis, port = next(_each(one.get("chassis")), {}), next(_each(one.get("port")), {})
            via = str(one.get("via") or "LLDP").lower()
            own_id = _value(chassis.get("id"))
            found.append(
                Neighbor(
                    local_interface=str(one.get("name")),
                    protocol="cdp" if via.startswith("cdp") else "lldp",
                    remote_system_name=device_text(_value(chassis.get("name"))),
                    remote_chassis_id=mac_address(own_id or "") or device_text(own_id),
                    remote_port=device_text(_value(port.get("id"))),
                    remote_port_description=device_text(_value(port.get("descr"))),
                    remote_platform=device_text(_value(chassis.get("descr"))),
                    remote_mgmt_address=_management(chassis.get("mgmt-ip")),
                    remote_capabilities=tuple(
                        name
                        for one in _each(chassis.get("capability"))
                        if one.get("enabled") is True
                        and (name := CAPABILITIES.get(str(one.get("type")).lower()))
                    ),
                )
            )
    return found


def _each(value: Any) -> Iterator[Mapping[str, Any]]:
    for one in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
        if isinstance(one, Mapping):
            yield one


def _value(value: Any) -> str | None:
    one = next(_each(value), None)
    return None if one is None or one.get("value") is None else str(one["value"])


def _management(value: Any) -> str | None:
    found = [ip_address(str(one.get("value") or "")) for one in _each(value)]
    known = [one for one in found if one is not None]
    return next((one for one in known if ":" not in one), known[0] if known else None)
