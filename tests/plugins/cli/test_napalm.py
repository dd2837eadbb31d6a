"""Recorded outputs of IOS and NX-OS, and what NAPALM's own tests read from them.

They are looked for in the folder that NETAUTOD_NAPALM_DATA names: `ios/<getter>/<case>/` and
`nxos_ssh/<getter>/<case>/` with the outputs and `expected_result.json`.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import Table, ip_address, long_name, mac_address
from netautod_cli.reads import READS, Read, Rows

FOLDER = Path(os.environ.get("NETAUTOD_NAPALM_DATA", "/nonexistent"))
PLATFORMS = {"ios": "cisco_ios", "nxos_ssh": "cisco_nxos"}
# Getters that NAPALM answers by the commands that we send, too, or by the same with a filter; with the
# beginnings of the names of their files.
SOURCES: dict[str, tuple[Table, dict[str, str]]] = {
    "get_interfaces": ("interfaces", {}),
    "get_interfaces_counters": ("interfaces", {}),
    "get_interfaces_ip": ("interfaces", {}),
    "get_lldp_neighbors_detail": ("neighbors", {}),
    "get_mac_address_table": ("mac", {}),
    "get_arp_table": (
        "arp",
        {"show ip arp": "show_arp_exclude", "show ip arp vrf all": "show_ip_arp_vrf_all"},
    ),
    "get_arp_table_with_vrf": (
        "arp",
        {"show ip arp": "show_arp_vrf", "show ip arp vrf all": "show_ip_arp_vrf"},
    ),
    "get_vlans": ("vlans", {"show vlan": "show_vlan_brief"}),
    "get_facts": ("status", {}),
}
CASES = sorted(
    case for driver in PLATFORMS for getter in SOURCES for case in FOLDER.glob(f"{driver}/{getter}/*")
)
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_NAPALM_DATA names no recordings")
# How many rows differ, and why.
EXPLAINED = {
    "ios/get_interfaces_counters/short_if_names": (3, "its summary counts other drops than the details"),
    "ios/get_interfaces_ip/normal": (2, "NAPALM gives link-local addresses the prefix of their block"),
    "ios/get_mac_address_table/4500_format2": (20, "its table of multicast groups is none of stations"),
    "ios/get_mac_address_table/6500_format3": (1, "NAPALM leaves out the standby supervisor as a port"),
    "nxos_ssh/get_interfaces/N93180_7_0_3_I7_2": (
        5,
        "NAPALM has no MAC addresses of SVIs; the name of mgmt0",
    ),
    "nxos_ssh/get_interfaces/alternate1": (2, "NAPALM has no MAC addresses of SVIs; the name of mgmt0"),
}
# The first line of one is a prompt with the command; those of VLANs are JSON. A session gives neither.
NOT_OURS = frozenset({"nxos_ssh/get_interfaces/6004_7_3_3_N1_1"})


def _name(text: str | None) -> str | None:
    return long_name(text).lower() if text else None


def _far(text: str | None) -> str | None:
    return mac_address(text or "") or _name(text)


def ports(expected: Any) -> set[Any]:
    return {
        (
            *(_name(name), one["is_enabled"], one["is_up"], one["description"] or None),
            *(mac_address(one["mac_address"] or ""), max(0, int(one["speed"]))),
        )
        for name, one in expected.items()
    }


def our_ports(rows: Rows) -> set[Any]:
    return {
        (
            *(_name(one.name), one.admin_status == "up", one.oper_status == "up", one.description),
            *(one.mac_address, one.speed_mbps or 0),
        )
        for one in rows
    }


def neighbors(expected: Any) -> set[Any]:
    return {
        (
            _name(local),
            one["remote_system_name"] or None,
            mac_address(one["remote_chassis_id"]) or one["remote_chassis_id"] or None,
            _far(one["remote_port"]),
        )
        for local, several in expected.items()
        for one in several
    }


def our_neighbors(rows: Rows) -> set[Any]:
    return {
        (_name(one.local_interface), one.remote_system_name, one.remote_chassis_id, _far(one.remote_port))
        for one in rows
    }


def macs(expected: Any) -> set[Any]:
    return {(mac_address(one["mac"]), one["vlan"] or None, _name(one["interface"])) for one in expected}


def our_macs(rows: Rows) -> set[Any]:
    return {(one.mac_address, one.vlan_id, _name(one.interface)) for one in rows}


def arp(expected: Any) -> set[Any]:
    return {(ip_address(one["ip"]), mac_address(one["mac"]), _name(one["interface"])) for one in expected}


def our_arp(rows: Rows) -> set[Any]:
    """Return the entries that answered: NAPALM leaves out the others."""
    return {(one.ip_address, one.mac_address, _name(one.interface)) for one in rows if one.mac_address}


def vlans(expected: Any) -> set[Any]:
    return {(int(number), one["name"]) for number, one in expected.items()}


def our_vlans(rows: Rows) -> set[Any]:
    """Return numbers and names. The trunks are in outputs of NAPALM's own, so members are not compared."""
    return {(one.vlan_id, one.name) for one in rows}


def addresses(expected: Any) -> set[Any]:
    return {
        (_name(name), ip_address(text), one["prefix_length"])
        for name, families in expected.items()
        for several in families.values()
        for text, one in several.items()
    }


def our_addresses(rows: Rows) -> set[Any]:
    return {(_name(row.name), one.address, one.prefix_length) for row in rows for one in row.ip_addresses}


COUNTED = ("in_octets", "out_octets", "in_errors", "out_errors", "in_discards", "out_discards")


def counters(expected: Any) -> set[Any]:
    names = [
        f"{way}_{what.rpartition('_')[2]}"
        for what in COUNTED
        for way in [{"in": "rx", "out": "tx"}[what.partition("_")[0]]]
    ]
    return {(_name(port), *(max(0, one[name]) for name in names)) for port, one in expected.items()}


def our_counters(rows: Rows) -> set[Any]:
    return {(_name(row.name), *(getattr(row.counters, what) or 0 for what in COUNTED)) for row in rows}


def facts(expected: Any) -> set[Any]:
    return {(expected["hostname"], expected["serial_number"], expected["uptime"] // 60)}


def our_facts(rows: Rows) -> set[Any]:
    return {(row.sys_name, row.serial_number, (row.uptime_seconds or 0) // 60) for row in rows}


COMPARED: dict[str, tuple[Callable[[Any], set[Any]], Callable[[Rows], set[Any]]]] = {
    "get_interfaces": (ports, our_ports),
    "get_interfaces_counters": (counters, our_counters),
    "get_interfaces_ip": (addresses, our_addresses),
    "get_lldp_neighbors_detail": (neighbors, our_neighbors),
    "get_mac_address_table": (macs, our_macs),
    "get_arp_table": (arp, our_arp),
    "get_arp_table_with_vrf": (arp, our_arp),
    "get_vlans": (vlans, our_vlans),
    "get_facts": (facts, our_facts),
}


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower())


def _case(case: Path) -> tuple[dict[str, str], Any]:
    outputs = {_bare(file.stem): file.read_text(errors="replace") for file in case.glob("*.txt")}
    return outputs, json.loads((case / "expected_result.json").read_text())


def _printed(case: Path, read: Read, outputs: dict[str, str]) -> list[str | None]:
    """Return what each command of the read printed, as far as it is recorded."""
    names = SOURCES[case.parts[-2]][1]
    return [
        next(
            (
                text
                for name, text in outputs.items()
                if name == _bare(command)
                or (command in names and name.startswith(names[command]) and "json" not in name)
            ),
            None,
        )
        for command in read.commands
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "/".join(case.parts[-3:]))
def test_a_recorded_output(case: Path) -> None:
    driver, getter, _ = case.parts[-3:]
    platform, (outputs, expected) = PLATFORMS[driver], _case(case)
    read = READS[platform][SOURCES[getter][0]]
    name = "/".join(case.parts[-3:])
    printed = _printed(case, read, outputs)
    if not any(printed) or name in NOT_OURS:
        pytest.skip("it is recorded in another form than the command's")
    records = [
        None if text is None else read.parse(platform, command, text)
        for command, text in zip(read.commands, printed, strict=True)
    ]
    if records[0] is None:  # its addresses are recorded without the interfaces that have them
        records[0] = [{"interface": one["interface"]} for more in records[1:] for one in more or ()]
    theirs, ours = COMPARED[getter]
    wanted, found = theirs(expected), ours(read.rows(*records))
    differing = max(len(wanted - found), len(found - wanted))
    assert differing == EXPLAINED.get(name, (0, ""))[0], (
        sorted(map(str, wanted - found)),
        sorted(map(str, found - wanted)),
    )
