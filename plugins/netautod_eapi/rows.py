"""Answers of EOS as rows of tables."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
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
    long_name,
    mac_address,
)
from netautod_eapi.forms import listed, objects, part, real, text, whole

Answer = Mapping[str, Any]
OPER = {"connected": "up", "up": "up", "notconnect": "down", "disabled": "down", "errdisabled": "down"}
DUPLEX = {"duplexFull": "full", "duplexHalf": "half"}
TYPES = {
    "ethernet": "ethernetCsmacd",
    "portChannel": "ieee8023adLag",
    "loopback": "softwareLoopback",
    "vlan": "l3ipvlan",
    "tunnel": "tunnel",
}
CAPABILITIES = ("other", "repeater", "bridge", "wlanAccessPoint", "router", "telephone", "docsisCableDevice")


def status(version: Answer, host: Answer | None = None) -> DeviceFacts:
    booted, total, free = (
        real(version, "bootupTimestamp"),
        real(version, "memTotal"),
        real(version, "memFree"),
    )
    own = mac_address(text(version, "systemMacAddress") or "")
    return DeviceFacts(
        sys_name=None if host is None else device_text(text(host, "fqdn") or text(host, "hostname")),
        vendor="Arista",
        model=device_text(text(version, "modelName")),
        os_version=device_text(text(version, "internalVersion") or text(version, "version")),
        serial_number=device_text(text(version, "serialNumber")),
        uptime_seconds=None if booted is None else max(0, int(time.time() - booted)),
        memory_percent=None if not total or free is None else round(100 * (total - free) / total, 2),
        device_type="arista_eos",
        chassis_ids=() if own is None else (own,),
    )


def interfaces(
    shown: Answer, ipv4: Answer | None = None, ipv6: Answer | None = None, switchports: Answer | None = None
) -> list[Interface]:
    addresses = _addresses(ipv4, ipv6)
    ports = {name: part(one, "switchportInfo") for name, one in _if(switchports, "switchports")}
    aggregates = {
        member: name
        for name, one in objects(shown, "interfaces")
        for member, _ in _if(one, "memberInterfaces")
    }
    found = []
    for name, one in objects(shown, "interfaces"):
        state = text(one, "interfaceStatus") or ""
        own = [*addresses.get(name, ()), *_of_interface(one)]
        found.append(
            Interface(
                name=name,
                description=device_text(text(one, "description")),
                type=TYPES.get(text(one, "hardware") or ""),
                admin_status="down" if state == "disabled" else "up",
                oper_status=OPER.get(text(one, "lineProtocolStatus") or state, "down"),
                speed_mbps=(whole(one, "bandwidth") or 0) // 1_000_000 or None,
                duplex=DUPLEX.get(text(one, "duplex") or ""),
                mtu=whole(one, "mtu"),
                mac_address=mac_address(text(one, "physicalAddress") or text(one, "burnedInAddress") or ""),
                ip_addresses=tuple(dict.fromkeys(own)),
                vlan_id=_untagged(ports.get(name, {})),
                lag=aggregates.get(name),
                last_change_at=_moment(real(one, "lastStatusChangeTimestamp")),
                counters=_counters(part(one, "interfaceCounters")),
            )
        )
    return found


def _if(answer: Answer | None, name: str) -> Iterator[tuple[str, Answer]]:
    """Yield the `objects` of an answer that may be missing."""
    return objects(answer, name) if answer is not None and name in answer else iter(())


def _of_interface(one: Answer) -> Iterator[InterfaceAddress]:
    found = one.get("interfaceAddress")
    for address in found if isinstance(found, list) else [found]:
        if isinstance(address, Mapping):
            yield from _ipv4(address)


def _addresses(ipv4: Answer | None, ipv6: Answer | None) -> dict[str, list[InterfaceAddress]]:
    found: dict[str, list[InterfaceAddress]] = {}
    for name, one in _if(ipv4, "interfaces"):
        found.setdefault(name, []).extend(_ipv4(part(one, "interfaceAddress")))
    for name, one in _if(ipv6, "interfaces"):
        own = [*(listed(one, "addresses") if "addresses" in one else ()), part(one, "linkLocal")]
        for address in own:
            length = (text(address, "subnet") or "").rpartition("/")[2]
            shown = ip_address(text(address, "address") or "")
            if shown is not None and length.isdecimal():
                found.setdefault(name, []).append(InterfaceAddress(address=shown, prefix_length=int(length)))
    return found


def _ipv4(one: Answer) -> Iterator[InterfaceAddress]:
    others = one.get("secondaryIpsOrderedList")
    for address in (part(one, "primaryIp"), *(others if isinstance(others, list) else ())):
        shown, length = ip_address(text(address, "address") or ""), whole(address, "maskLen")
        if shown is not None and length:
            yield InterfaceAddress(address=shown, prefix_length=length)


def _untagged(port: Answer) -> int | None:
    mode = text(port, "mode")
    if mode == "access":
        return whole(port, "accessVlanId")
    return whole(port, "trunkingNativeVlanId") if mode == "trunk" else None


def _moment(stamp: float | None) -> datetime | None:
    try:
        return None if not stamp else datetime.fromtimestamp(stamp, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _counters(one: Answer) -> InterfaceCounters:
    return InterfaceCounters(
        in_octets=whole(one, "inOctets"),
        out_octets=whole(one, "outOctets"),
        in_errors=whole(one, "totalInErrors"),
        out_errors=whole(one, "totalOutErrors"),
        in_discards=whole(one, "inDiscards"),
        out_discards=whole(one, "outDiscards"),
    )


def neighbors(answer: Answer) -> list[Neighbor]:
    found = []
    for name, port in objects(answer, "lldpNeighbors"):
        for one in listed(port, "lldpNeighborInfo"):
            remote = part(one, "neighborInterfaceInfo")
            chassis, far = text(one, "chassisId"), (text(remote, "interfaceId") or "").strip('"')
            found.append(
                Neighbor(
                    local_interface=name,
                    protocol="lldp",
                    remote_system_name=device_text(text(one, "systemName")),
                    remote_chassis_id=mac_address(chassis or "") or device_text(chassis),
                    remote_port=_port(far, text(remote, "interfaceIdType")),
                    remote_port_description=device_text(text(remote, "interfaceDescription")),
                    remote_platform=device_text(text(one, "systemDescription")),
                    remote_mgmt_address=_management(one),
                    remote_capabilities=tuple(
                        name for name in CAPABILITIES if part(one, "systemCapabilities").get(name) is True
                    ),
                )
            )
    return found


def _port(shown: str, kind: str | None) -> str | None:
    if kind == "macAddress":
        return mac_address(shown) or device_text(shown)
    found = device_text(shown)
    return None if found is None else long_name(found)


def _management(one: Answer) -> str | None:
    found = [
        ip_address(text(address, "address") or "")
        for address in (listed(one, "managementAddresses") if "managementAddresses" in one else ())
    ]
    known = [address for address in found if address is not None]
    return next((address for address in known if ":" not in address), known[0] if known else None)


def forwarding(answer: Answer) -> list[MacEntry]:
    return [
        MacEntry(
            mac_address=own,
            vlan_id=whole(one, "vlanId"),
            interface=text(one, "interface"),
            type=(text(one, "entryType") or "").lower() or None,
        )
        for one in listed(part(answer, "unicastTable"), "tableEntries")
        if (own := mac_address(text(one, "macAddress") or "")) is not None
    ]


def arp(answer: Answer, ipv6: Answer | None = None) -> list[ArpEntry]:
    found = []
    for neighbors_, name in ((answer, "ipV4Neighbors"), (ipv6, "ipV6Neighbors")):
        for vrf, one in _if(neighbors_, "vrfs"):
            for entry in listed(one, name):
                own = ip_address(text(entry, "address") or "")
                if own is not None:
                    found.append(
                        ArpEntry(
                            ip_address=own,
                            mac_address=mac_address(text(entry, "hwAddress") or ""),
                            interface=(text(entry, "interface") or "").partition(",")[0] or None,
                            vrf=None if vrf == "default" else vrf,
                            type="static" if entry.get("age") is None else "dynamic",
                        )
                    )
    return found


def vlans(answer: Answer, switchports: Answer | None = None) -> list[Vlan]:
    trunks = {
        name: whole(info, "trunkingNativeVlanId")
        for name, one in _if(switchports, "switchports")
        if text(info := part(one, "switchportInfo"), "mode") == "trunk"
    }
    found = []
    for number, one in objects(answer, "vlans"):
        if not number.isdecimal():
            continue
        members = [name for name, _ in _if(one, "interfaces")]
        tagged = [name for name in members if name in trunks and trunks[name] != int(number)]
        found.append(
            Vlan(
                vlan_id=int(number),
                name=device_text(text(one, "name")),
                status=(text(one, "status") or "").lower() or None,
                tagged_interfaces=tuple(tagged),
                untagged_interfaces=tuple(name for name in members if name not in tagged),
            )
        )
    return found
