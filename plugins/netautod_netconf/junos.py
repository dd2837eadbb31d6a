"""Junos: operational RPCs of the Junos XML API, and their replies as rows."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element

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
from netautod_netconf.elements import each, text, whole
from netautod_netconf.junos_vlans import vlans_of
from netautod_netconf.session import RpcFailed, Session

_SPEED = re.compile(r"(\d+)\s*(g|m)(?:bps|b)", re.IGNORECASE)
CAPABILITIES = {
    "bridge": "bridge",
    "router": "router",
    "wlan": "wlanAccessPoint",
    "telephone": "telephone",
    "repeater": "repeater",
    "station": "stationOnly",
    "docsis": "docsisCableDevice",
}


async def status(session: Session) -> list[DeviceFacts]:
    reply = await session.rpc("<get-system-information/>")
    information = next(each(reply, "system-information"), None)
    try:
        up = await session.rpc("<get-system-uptime-information/>")
    except RpcFailed:
        up = None
    return [
        DeviceFacts(
            sys_name=device_text(text(information, "host-name")),
            vendor="Juniper",
            model=device_text(text(information, "hardware-model")),
            os_version=device_text(text(information, "os-version")),
            serial_number=device_text(text(information, "serial-number")),
            uptime_seconds=None if up is None else _uptime(up),
            device_type="juniper_junos",
        )
    ]


def _uptime(reply: Element) -> int | None:
    for one in each(reply, "up-time"):
        seconds = one.get("seconds", "")
        if seconds.isdecimal():
            return int(seconds)
    return None


async def interfaces(session: Session) -> Iterator[Interface]:
    return interfaces_of(await session.rpc("<get-interface-information/>"))


def interfaces_of(reply: Element) -> Iterator[Interface]:
    """Yield physical and logical interfaces; a member of an aggregate says so at its unit."""
    for physical in each(reply, "physical-interface"):
        name = text(physical, "name")
        if name is None:
            continue
        units = physical.findall("logical-interface")
        admin, oper = text(physical, "admin-status"), text(physical, "oper-status")
        own = _mac(text(physical, "current-physical-address"))
        yield Interface(
            name=name,
            description=device_text(text(physical, "description")),
            admin_status=admin,
            oper_status=oper,
            speed_mbps=_speed(text(physical, "speed")),
            duplex=_duplex(text(physical, "link-mode") or text(physical, "duplex")),
            mtu=whole(physical, "mtu"),
            mac_address=own,
            lag=_aggregate(units),
            if_index=whole(physical, "snmp-index"),
            last_change_at=_flapped(physical),
            counters=_counters(physical),
        )
        for unit in units:
            yield _unit(unit, oper, own)


def _unit(unit: Element, oper: str | None, mac: str | None) -> Interface:
    """Build the interface of a unit, which is down by itself (`iff-down`, disabled), or with its device."""
    found = unit.find("if-config-flags")
    flags = set() if found is None else {flag.tag for flag in found}
    is_down = not flags.isdisjoint(("iff-down", "iff-device-down"))
    return Interface(
        name=text(unit, "name") or "?",
        description=device_text(text(unit, "description")),
        admin_status="down" if "iff-down" in flags else "up",
        oper_status="down" if is_down else oper if found is None else "up",
        mac_address=mac,
        ip_addresses=tuple(_addresses(unit)),
        if_index=whole(unit, "snmp-index"),
        counters=_counters(unit),
    )


def _mac(shown: str | None) -> str | None:
    return None if shown is None else mac_address(shown)


def _addresses(unit: Element) -> Iterator[InterfaceAddress]:
    for family in unit.findall("address-family"):
        kind = text(family, "address-family-name")
        for one in family.findall("interface-address"):
            own = ip_address((text(one, "ifa-local") or "").partition("/")[0])
            length = (text(one, "ifa-destination") or "").partition("/")[2]
            if own is None or kind not in ("inet", "inet6"):
                continue
            most = 128 if ":" in own else 32
            yield InterfaceAddress(address=own, prefix_length=int(length) if length.isdecimal() else most)


def _aggregate(units: list[Element]) -> str | None:
    for unit in units:
        for family in unit.findall("address-family"):
            bundle = text(family, "ae-bundle-name")
            if bundle is not None:
                return bundle.partition(".")[0]
    return None


def _speed(shown: str | None) -> int | None:
    match = _SPEED.search(shown or "")
    return None if match is None else int(match[1]) * (1000 if match[2].lower() == "g" else 1)


def _duplex(shown: str | None) -> str | None:
    lower = (shown or "").lower()
    return next((name for name in ("full", "half", "auto") if name in lower), None)


def _flapped(physical: Element) -> datetime | None:
    flapped = physical.find("interface-flapped")
    seconds = "" if flapped is None else flapped.get("seconds", "")
    known = seconds.isdecimal() and 0 < int(seconds) < 3_000_000_000
    return datetime.now(UTC) - timedelta(seconds=int(seconds)) if known else None


def _counters(physical: Element) -> InterfaceCounters:
    traffic = physical.find("traffic-statistics")
    received, sent = physical.find("input-error-list"), physical.find("output-error-list")
    return InterfaceCounters(
        in_octets=whole(traffic, "input-bytes"),
        out_octets=whole(traffic, "output-bytes"),
        in_errors=whole(received, "input-errors"),
        out_errors=whole(sent, "output-errors"),
        in_discards=whole(received, "input-discards"),
        out_discards=whole(sent, "output-drops"),
    )


async def neighbors(session: Session) -> list[Neighbor]:
    """Read the neighbors: the list names the interfaces that hear one; the details are read for each
    interface.
    """
    listed = await session.rpc("<get-lldp-neighbors-information/>")
    found: list[Neighbor] = []
    local = [
        text(one, "lldp-local-interface") or text(one, "lldp-local-port-id")
        for one in each(listed, "lldp-neighbor-information")
    ]
    for name in dict.fromkeys(filter(None, local)):
        found += neighbors_of(await _neighbors_on(session, name), name)
    return found


async def _neighbors_on(session: Session, name: str) -> Element:
    """Read the neighbors of an interface, by the RPC of EX, QFX and SRX, else by that of MX."""
    try:
        request = "get-lldp-interface-neighbors-information"
        return await session.rpc(f"<{request}><interface-name>{_quoted(name)}</interface-name></{request}>")
    except RpcFailed:
        request = "get-lldp-interface-neighbors"
        return await session.rpc(
            f"<{request}><interface-device>{_quoted(name)}</interface-device></{request}>"
        )


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;")


def neighbors_of(reply: Element, local: str) -> Iterator[Neighbor]:
    for one in each(reply, "lldp-neighbor-information"):
        chassis = text(one, "lldp-remote-chassis-id")
        port, described = text(one, "lldp-remote-port-id"), text(one, "lldp-remote-port-description")
        capabilities = text(one, "lldp-system-capabilities", "lldp-remote-system-capabilities-enabled") or ""
        yield Neighbor(
            local_interface=local,
            protocol="lldp",
            remote_system_name=device_text(text(one, "lldp-remote-system-name")),
            remote_chassis_id=_mac(chassis) or device_text(chassis),
            remote_port=_mac(port) or device_text(port),
            remote_port_description=device_text(described),
            remote_platform=device_text(
                text(one, "lldp-system-description", "lldp-remote-system-description")
            ),
            remote_mgmt_address=ip_address(text(one, "lldp-remote-management-address") or ""),
            remote_capabilities=tuple(
                dict.fromkeys(
                    name for word in capabilities.split() if (name := CAPABILITIES.get(word.lower()))
                )
            ),
        )


async def forwarding(session: Session) -> Iterator[MacEntry]:
    try:
        reply = await session.rpc("<get-ethernet-switching-table-information/>")
    except RpcFailed:
        reply = await session.rpc("<get-bridge-mac-table/>")
    return forwarding_of(reply)


# Of EX before ELS; of ELS; of MX: address, VLAN, interface, type.
MAC_ENTRIES = {
    "mac-table-entry": ("mac-address", "mac-vlan-tag", "mac-interface", "mac-type"),
    "l2ng-mac-entry": (
        "l2ng-l2-mac-address",
        "l2ng-l2-mac-vlan-name",
        "l2ng-l2-mac-logical-interface",
        "l2ng-l2-mac-flags",
    ),
    "l2ald-mac-entry": ("l2-mac-address", "l2-bridge-vlan", "l2-mac-logical-interface", "l2-mac-flags"),
}


def forwarding_of(reply: Element) -> Iterator[MacEntry]:
    for kind, (address, vlan, interface, state) in MAC_ENTRIES.items():
        for one in each(reply, kind):
            own = _mac(text(one, address))
            if own is None:
                continue  # the flood list of a VLAN
            shown = (text(one, state) or "").lower()
            is_static = shown.startswith("static") or shown in ("s", "p")
            yield MacEntry(
                mac_address=own,
                vlan_id=whole(one, vlan),
                interface=text(one, interface),
                type="static" if is_static else "dynamic",
            )


async def arp(session: Session) -> Iterator[ArpEntry]:
    request = "get-arp-table-information"
    return arp_of(await session.rpc(f"<{request}><no-resolve/></{request}>"))


def arp_of(reply: Element) -> Iterator[ArpEntry]:
    for one in each(reply, "arp-table-entry"):
        own = ip_address(text(one, "ip-address") or "")
        if own is not None:
            flags = one.find("arp-table-entry-flags")
            is_static = flags is not None and flags.find("permanent") is not None
            yield ArpEntry(
                ip_address=own,
                mac_address=_mac(text(one, "mac-address")),
                interface=text(one, "interface-name"),
                type="static" if is_static else "dynamic",
            )


async def vlans(session: Session) -> Iterator[Vlan]:
    try:
        reply = await session.rpc("<get-vlan-information/>")
    except RpcFailed:
        reply = await session.rpc("<get-bridge-instance-information/>")
    return vlans_of(reply)
