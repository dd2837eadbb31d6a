"""Records of a device, of its forwarding table and of its neighbor cache as rows."""

from collections.abc import Iterator
from dataclasses import fields, replace

from netautod.plugin_api import ArpEntry, DeviceFacts, MacEntry, device_text, ip_address
from netautod_cli.fields import first, mac, one, pick, port
from netautod_cli.records import Record, Records
from netautod_cli.units import count, percent_of, uptime_of
from netautod_cli.unreadable import Unreadable

KINDS = {
    "learned": "dynamic",
    "learn": "dynamic",
    "arpa": "dynamic",
    "dc": "dynamic",
    "reachable": "dynamic",
    "stale": "dynamic",
    "none": "dynamic",
    "config static": "static",
    "permanent": "static",
    "permanent published": "static",
    "interface": "self",
}
SHORT = 2  # letters: `Et` and `Po` are the beginnings of ports, no port is called so
_PEER_LINK = "vPC Peer-Link"
# The legends of NX-OS, Comware, VRP, RouterOS and Junos: the first letter of a group of flags says it.
_LETTERS = {"D": "dynamic", "S": "static", "I": "self"}


def status(records: Records, *more: Records | None) -> list[DeviceFacts]:
    """Return the facts of the first member of a stack; `more` commands fill in what the first does
    not say.
    """
    found = [_facts(several[0]) for several in (records, *more) if several]
    if not found:
        return []
    row = found[0]
    for other in found[1:]:
        empty = [field.name for field in fields(row) if getattr(row, field.name) in (None, ())]
        row = replace(row, **{name: getattr(other, name) for name in empty})
    return [row]


def _facts(record: Record) -> DeviceFacts:
    chassis = mac(first(pick(record, "chassis_mac", "sys_mac", "mac_address")))
    return DeviceFacts(
        sys_name=one(record, "hostname"),
        model=first(pick(record, "model", "hardware", "board_name", "platform")),
        os_version=one(record, "junos_version", "vrp_version", "os", "version", "image"),
        serial_number=first(pick(record, "serial_number", "serial")),
        uptime_seconds=uptime_of(record),
        cpu_percent=percent_of(one(record, "cpu_percent", "cpu_load")),
        memory_percent=percent_of(one(record, "memory_percent")),
        chassis_ids=() if chassis is None else (chassis,),
    )


def forwarding(records: Records) -> list[MacEntry]:
    """Build one row for each port of an address: those of a multicast group have several."""
    found = []
    for record in records:
        own = mac(one(record, "mac_address", "destination_address"))
        if own is None:
            continue
        ports = pick(record, "destination_port", "ports", "port", "interface", "logical_interface")
        vlan = _vlan_of(record)
        kind = _kind_of_flags(record) if "number" in record else kind_of(one(record, "type", "state"))
        for several in ports if isinstance(ports, list) else [ports]:
            names = str(several or "").split(",")
            if any(name.isalpha() and len(name) <= SHORT for name in names):
                raise Unreadable("an address is behind a port that is none")
            found += [
                MacEntry(
                    mac_address=own,
                    vlan_id=vlan,
                    interface=port(device_text(name) if name else None),
                    type=kind,
                )
                for name in names
            ]
    return found


def forwarding_of_nxos(records: Records) -> list[MacEntry]:
    """Build the forwarding table. The ports of a group stand behind each other, with blanks between; the peer
    link is two words.
    """
    return forwarding([{**record, "ports": list(_ports_of_nxos(record))} for record in records])


def _ports_of_nxos(record: Record) -> Iterator[str]:
    for text in record.get("ports") or ():
        yield from [text] if text.startswith(_PEER_LINK) else text.split()


def forwarding_of_junos(records: Records, listed: Records | None = None) -> list[MacEntry]:
    """Build the forwarding table, which names the VLAN; its number is in the list of VLANs."""
    numbers = {one(record, "vlan_name"): one(record, "tag", "vlan_id") for record in listed or ()}
    return forwarding(
        [{**record, "vlan_id": numbers.get(one(record, "vlan_name")) or ""} for record in records]
    )


def _vlan_of(record: Record) -> int | None:
    """Return the number of the VLAN. Junos has the name alone; `Vlan100` is the usual one for 100."""
    number = count(one(record, "vlan_id"))
    name = one(record, "vlan_name") or ""
    return number if number is not None else count(name[4:]) if name.lower().startswith("vlan") else None


def kind_of(text: str | None) -> str | None:
    """Return `dynamic`, `static`, `self`, else the device's word; `DR` and `D-0` are flags behind
    their kind.
    """
    if text is None:
        return None
    lower = text.lower()
    if lower in KINDS:
        return KINDS[lower]
    letters = text.partition(",")[0].partition("-")[0].strip()
    if letters.isupper() and len(letters) <= 3 and letters[0] in _LETTERS:
        return _LETTERS[letters[0]]
    return lower


def _kind_of_neighbor(record: Record) -> str | None:
    """Return the kind of a neighbor. XR has the type of the link besides; RouterOS marks dynamic
    ones only.
    """
    if "number" in record:
        return _kind_of_flags(record)
    return kind_of(one(record, "state", "type", "flags"))


def _kind_of_flags(record: Record) -> str:
    """Return the kind by RouterOS' flags: L is its own address."""
    flags = str(record.get("flags") or "")
    return "self" if "L" in flags else "dynamic" if "D" in flags else "static"


def arp(records: Records) -> list[ArpEntry]:
    found = []
    for record in records:
        own = ip_address(one(record, "ip_address", "address") or "")
        if own is None:
            continue
        vrf = one(record, "vrf", "vpn_instance")
        found.append(
            ArpEntry(
                ip_address=own,
                mac_address=mac(one(record, "mac_address", "hardware_address")),
                interface=port((one(record, "interface", "port_id", "port") or "").partition(",")[0]),
                vrf=None if vrf == "default" else vrf,
                type=_kind_of_neighbor(record),
            )
        )
    return found
