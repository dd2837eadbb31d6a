"""The VLANs of records as rows: the members that lists name, tagged or not as the ports say.

IEEE 802.1Q, 12.10.2: untagged frames of a port belong to one VLAN, so a port that a list names in several is
a trunk in all of them, unless the device says more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from netautod.plugin_api import Vlan
from netautod_cli.fields import one, pick, port, ports
from netautod_cli.records import Record, Records
from netautod_cli.units import count
from netautod_cli.unreadable import Unreadable

STATES = {
    "up": "active",
    "enable": "active",
    "port-based": "active",
    "act/unsup": "active",
    "act/lshut": "suspended",
    "suspend": "suspended",
}
LAST_VLAN = 4094  # IEEE 802.1Q: 4095 is reserved


@dataclass
class _Ports:
    """The VLANs of ports: that of untagged frames, and those they carry besides."""

    untagged: dict[str, int | None] = field(default_factory=dict)
    carried: dict[str, list[int]] = field(default_factory=dict)


def vlans_of_ios(records: Records, switchports: Records | None = None) -> list[Vlan]:
    """Build the VLANs. The list leaves out trunks: they are in the VLANs that they carry."""
    rows, members = _listed(records)
    port_vlans = _port_vlans(switchports or (), rows)
    for name, numbers in port_vlans.carried.items():
        for number in numbers:
            members[number].setdefault(name, None)
    return _marked(rows, members, port_vlans)


def vlans(records: Records, switchports: Records | None = None) -> list[Vlan]:
    """Build the VLANs. The list has the trunks; `switchports` say how each port is in its VLANs."""
    rows, members = _listed(records)
    return _marked(rows, members, _port_vlans(switchports or (), rows))


def _marked(
    rows: Mapping[int, Vlan], members: dict[int, dict[str, str | None]], port_vlans: _Ports
) -> list[Vlan]:
    often = Counter(name for several in members.values() for name in several)
    for number, several in members.items():
        for name, mode in several.items():
            if mode is None:
                untagged = (
                    port_vlans.untagged[name] == number if name in port_vlans.untagged else often[name] == 1
                )
                several[name] = "UT" if untagged else "TG"
    return _with_members(rows, members)


def vlans_of_junos(records: Records, details: Records | None = None) -> list[Vlan]:
    """Build the VLANs. `show vlans extensive` says of each member how it is in the VLAN."""
    return _completed(vlans(records), details)


def vlans_of_comware(records: Records, details: Records | None = None) -> list[Vlan]:
    """Build the VLANs. The brief list has ports of either kind; a listed VLAN is active: it has no other
    state.
    """
    rows = [replace(row, status=row.status or "active") for row in vlans(records)]
    return _completed(rows, details)


def vlans_of_procurve(records: Records, by_port: Records | None = None) -> list[Vlan]:
    """Build the VLANs. `show vlans ports all detail` has the VLANs of each port."""
    rows, members = _listed(records)
    for record in by_port or ():
        name = port(one(record, "port"))
        for mode, key in (("TG", "tagged"), ("UT", "untagged")):
            for text in record.get(key) or ():
                number = count(str(text))
                if name is not None and number in members:
                    members[number][name] = mode
    return _with_members(rows, members)


def _listed(records: Records) -> tuple[dict[int, Vlan], dict[int, dict[str, str | None]]]:
    """Return the VLANs and, of each, its members with their mode where the list has it."""
    rows: dict[int, Vlan] = {}
    members: dict[int, dict[str, str | None]] = {}
    for record in records:
        number = count(one(record, "vlan_id", "tag"))
        if number is None:
            continue
        before = rows.get(number, Vlan(vlan_id=number))
        state = (one(record, "status", "vlan_status") or "").lower()
        rows[number] = replace(
            before,
            name=one(record, "vlan_name", "name", "vlan_description") or before.name,
            status=STATES.get(state, state or before.status),
        )
        mode = str(record.get("mode") or "").upper() or None
        several = members.setdefault(number, {})
        for name in ports(pick(record, "interfaces", "interface", "ports")):
            if not any(character.isdigit() for character in name):
                raise Unreadable(f"VLAN {number} has a member that is no port")
            several[name] = mode
    return rows, members


def _port_vlans(switchports: Iterable[Record], known: Mapping[int, Vlan]) -> _Ports:
    port_vlans = _Ports()
    for record in switchports:
        name = port(one(record, "interface"))
        mode = (one(record, "mode", "vlan_mode") or "").lower()
        if name is None or not mode or str(record.get("switchport", "")).lower() == "disabled":
            continue
        if "trunk" in mode or "native" in mode:
            native = count(one(record, "native_vlan", "vlan_native"))
            port_vlans.untagged[name] = None if mode == "native-tagged" else native
            port_vlans.carried[name] = list(_numbers(str(record.get("trunking_vlans") or ""), known))
        else:
            access = count(one(record, "access_vlan", "vlan_access"))
            port_vlans.untagged[name] = access
    return port_vlans


def _numbers(text: str, known: Mapping[int, Vlan]) -> Iterator[int]:
    """Yield the numbers of `1,10-20`, `ALL`, `1-4094` that the device has."""
    for piece in text.replace("\n", "").split(","):
        start, _, end = piece.strip().partition("-")
        if start.upper() == "ALL":
            yield from known
        elif start.isdecimal():
            last = min(int(end if end.isdecimal() else start), LAST_VLAN)
            yield from (number for number in range(int(start), last + 1) if number in known)


def _with_members(rows: Mapping[int, Vlan], members: Mapping[int, Mapping[str, str | None]]) -> list[Vlan]:
    return [
        replace(
            row,
            tagged_interfaces=tuple(name for name, mode in members[number].items() if mode == "TG"),
            untagged_interfaces=tuple(name for name, mode in members[number].items() if mode == "UT"),
        )
        for number, row in rows.items()
    ]


def _completed(rows: list[Vlan], details: Records | None) -> list[Vlan]:
    """Add the members of VLANs that the details have; two VLANs may bear one number, in two instances."""
    found: dict[int, tuple[dict[str, None], dict[str, None]]] = {}
    states: dict[int, str] = {}
    for record in details or ():
        number = count(one(record, "vlan_id"))
        if number is not None:
            tagged, untagged = found.setdefault(number, ({}, {}))
            state = (one(record, "status") or "").lower()
            if state:
                states[number] = STATES.get(state, state)
            tagged.update(dict.fromkeys(ports(record.get("tagged"))))
            untagged.update(dict.fromkeys(ports(record.get("untagged"))))
    return [
        replace(
            row,
            status=row.status or states.get(row.vlan_id),
            tagged_interfaces=tuple(found[row.vlan_id][0]),
            untagged_interfaces=tuple(found[row.vlan_id][1]),
        )
        if row.vlan_id in found
        else row
        for row in rows
    ]
