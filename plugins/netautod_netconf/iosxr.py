"""IOS XR: operational data of its own YANG modules (Cisco-IOS-XR-*-oper), and their replies as rows."""

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
    device_text,
    ip_address,
    mac_address,
)
from netautod_netconf.elements import each, text, whole
from netautod_netconf.session import Session

YANG = "http://cisco.com/ns/yang/Cisco-IOS-XR-"
CAPABILITIES = {
    "B": "bridge",
    "R": "router",
    "W": "wlanAccessPoint",
    "T": "telephone",
    "P": "repeater",
    "S": "stationOnly",
    "C": "docsisCableDevice",
}


def _get(*filters: tuple[str, str]) -> str:
    """Build the operation that reads containers, each with its module."""
    wanted = "".join(f'<{name} xmlns="{YANG}{module}"/>' for name, module in filters)
    return f'<get><filter type="subtree">{wanted}</filter></get>'


async def status(session: Session) -> list[DeviceFacts]:
    request = _get(("system-time", "shellutil-oper"), ("inventory", "invmgr-oper"))
    return [facts_of(await session.rpc(request))]


def facts_of(reply: Element) -> DeviceFacts:
    """Return the facts; the chassis is the entity `Rack 0`, or the first one with a model."""
    uptime = next((one for one in each(reply, "uptime") if one.find("host-name") is not None), None)
    entities = list(each(reply, "entity"))
    named = [one for one in entities if text(one, "name") == "Rack 0"]
    bags = [bag for one in (named or entities) for bag in each(one, "inv-basic-bag")]
    bag = next((one for one in bags if text(one, "model-name")), None)
    return DeviceFacts(
        sys_name=device_text(text(uptime, "host-name")),
        vendor="Cisco",
        model=device_text(text(bag, "model-name")),
        os_version=device_text(text(bag, "software-revision")),
        serial_number=device_text(text(bag, "serial-number")),
        uptime_seconds=whole(uptime, "uptime"),
        device_type="cisco_xr",
    )


async def interfaces(session: Session) -> Iterator[Interface]:
    shown = await session.rpc(_get(("interfaces", "pfi-im-cmd-oper")))
    addressed = await session.rpc(_get(("ipv4-network", "ipv4-io-oper"), ("ipv6-network", "ipv6-ma-oper")))
    return interfaces_of(shown, addresses_of(addressed))


def interfaces_of(reply: Element, addresses: dict[str, list[InterfaceAddress]]) -> Iterator[Interface]:
    # The list of names has the descriptions, that of the details has not.
    described = {
        text(one, "interface-name"): text(one, "description")
        for one in each(reply, "interface")
        if one.find("description") is not None
    }
    for one in _entries(reply):
        name = text(one, "interface-name")
        state = text(one, "state")
        if name is None:
            continue
        bandwidth = whole(one, "bandwidth")  # kbit/s
        last = whole(one, "last-state-transition-time")
        yield Interface(
            name=name,
            description=device_text(described.get(name)),
            admin_status="down" if state == "im-state-admin-down" else "up",
            oper_status="up" if text(one, "line-state") == "im-state-up" else "down",
            speed_mbps=None if bandwidth is None else bandwidth // 1000 or None,
            mtu=whole(one, "mtu"),
            mac_address=mac_address(text(one, "mac-address", "address") or ""),
            ip_addresses=tuple(addresses.get(name, ())),
            lag=_bundle(one),
            if_index=whole(one, "if-index"),
            last_change_at=None if not last else _ago(last),
            counters=_counters(one),
        )


def _entries(reply: Element) -> list[Element]:
    """Return the detailed list; `interface-briefs` have less."""
    for outer in each(reply, "interface-xr"):
        found = outer.findall("interface")
        if found:
            return found
    return [one for one in each(reply, "interface") if one.find("interface-name") is not None]


def _bundle(one: Element) -> str | None:
    return text(one, "encapsulation-information", "bundle-information", "bundle-interface-name")


def _ago(seconds: int) -> datetime | None:
    return datetime.now(UTC) - timedelta(seconds=seconds) if seconds < 3_000_000_000 else None


def _counters(one: Element) -> InterfaceCounters:
    outer = one.find("interface-statistics")
    stats = None if outer is None else outer.find("full-interface-stats")
    return InterfaceCounters(
        in_octets=whole(stats, "bytes-received"),
        out_octets=whole(stats, "bytes-sent"),
        in_errors=whole(stats, "input-errors"),
        out_errors=whole(stats, "output-errors"),
        in_discards=whole(stats, "input-drops"),
        out_discards=whole(stats, "output-drops"),
    )


def addresses_of(reply: Element) -> dict[str, list[InterfaceAddress]]:
    found: dict[str, list[InterfaceAddress]] = {}

    def add(name: str | None, address: str | None, length: int | None) -> None:
        own = ip_address(address or "")
        if name is not None and own is not None and length is not None and own != "0.0.0.0":
            found.setdefault(name, []).append(InterfaceAddress(address=own, prefix_length=length))

    for network in each(reply, "ipv4-network"):
        for one in each(network, "detail"):
            name = text(one, "interface-name")
            add(name, text(one, "primary-address"), whole(one, "prefix-length"))
            for other in one.findall("secondary-address"):
                add(name, text(other, "address"), whole(other, "prefix-length"))
    for network in each(reply, "ipv6-network"):
        for one in each(network, "global-detail"):
            for other in one.findall("address"):
                add(text(one, "interface-name"), text(other, "address"), whole(other, "prefix-length"))
    return found


async def neighbors(session: Session) -> Iterator[Neighbor]:
    return neighbors_of(await session.rpc(_get(("lldp", "ethernet-lldp-oper"))))


def neighbors_of(reply: Element) -> Iterator[Neighbor]:
    """Yield each neighbor once: `devices` and `summaries` say the same as `details`."""
    for details in each(reply, "details"):
        for one in each(details, "lldp-neighbor"):
            detail = one.find("detail")
            chassis, port = text(one, "chassis-id"), text(one, "port-id-detail")
            enabled = re.split(r"[,\s]+", text(detail, "enabled-capabilities") or "")
            addresses = [] if detail is None else list(each(detail, "address"))
            known = [found for address in addresses for found in _shown(address)]
            yield Neighbor(
                local_interface=text(one, "receiving-interface-name") or "?",
                protocol="lldp",
                remote_system_name=device_text(text(detail, "system-name")),
                remote_chassis_id=mac_address(chassis or "") or device_text(chassis),
                remote_port=mac_address(port or "") or device_text(port),
                remote_port_description=device_text(text(detail, "port-description")),
                remote_platform=device_text(text(detail, "system-description")),
                remote_mgmt_address=next((shown for shown in known if ":" not in shown), None)
                or next(iter(known), None),
                remote_capabilities=tuple(
                    CAPABILITIES[letter] for letter in enabled if letter in CAPABILITIES
                ),
            )


def _shown(address: Element) -> Iterator[str]:
    for name in ("ipv4-address", "ipv6-address"):
        found = ip_address(text(address, name) or "")
        if found is not None:
            yield found


async def forwarding(session: Session) -> Iterator[MacEntry]:
    return forwarding_of(await session.rpc(_get(("l2vpn-forwarding", "l2vpn-oper"))))


def forwarding_of(reply: Element) -> Iterator[MacEntry]:
    """Yield the entries; the VLAN is the number of the bridge domain's name, where that is one."""
    for one in each(reply, "l2fibmac-detail"):
        own = mac_address(text(one, "address") or "")
        if own is not None:
            name = text(one, "name") or ""
            is_vlan = name.isdecimal() and 1 <= int(name) <= 4094
            yield MacEntry(
                mac_address=own,
                vlan_id=int(name) if is_vlan else None,
                interface=text(one, "segment", "ac", "interface-handle"),
                type="dynamic",
            )


async def arp(session: Session) -> Iterator[ArpEntry]:
    return arp_of(await session.rpc(_get(("arp", "ipv4-arp-oper"))))


def arp_of(reply: Element) -> Iterator[ArpEntry]:
    """Yield the entries once: an interface's own address is there once for each node that has it."""
    seen: set[tuple[str, str | None]] = set()
    for one in each(reply, "entry"):
        own, interface = ip_address(text(one, "address") or ""), text(one, "interface-name")
        if own is None or (own, interface) in seen:
            continue
        seen.add((own, interface))
        state = text(one, "state") or ""
        yield ArpEntry(
            ip_address=own,
            mac_address=mac_address(text(one, "hardware-address") or ""),
            interface=interface,
            type={"state-interface": "self", "state-static": "static"}.get(state, "dynamic"),
        )
