"""Recorded answers of switches, and what NAPALM's own tests read from them.

They are looked for in the folder that NETAUTOD_NAPALM_DATA names: `eos/<getter>/<case>/` with the answers and
`expected_result.json`.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import TABLES, Collected, mac_address
from netautod_eapi.collector import EapiCollector
from tests.plugins.eapi.switch import ANSWERS, Switch

FOLDER = Path(os.environ.get("NETAUTOD_NAPALM_DATA", "/nonexistent")) / "eos"
CASES = sorted(FOLDER.glob("*/*"))
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_NAPALM_DATA names no recordings")


def _mac(text: str) -> str | None:
    return mac_address(text)


def facts(expected: Any) -> Any:
    return {name: expected[name] or None for name in ("model", "os_version", "serial_number", "vendor")}


def our_facts(found: Collected) -> Any:
    assert found.status is not None
    return {name: getattr(found.status, name) for name in ("model", "os_version", "serial_number", "vendor")}


def ports(expected: Any) -> Any:
    return {
        name: (
            one["is_enabled"],
            one["is_up"],
            one["description"] or None,
            _mac(one["mac_address"]),
            int(one["speed"]),
        )
        for name, one in expected.items()
    }


def our_ports(found: Collected) -> Any:
    return {
        one.name: (
            one.admin_status == "up",
            one.oper_status == "up",
            one.description,
            one.mac_address,
            one.speed_mbps or 0,
        )
        for one in found.interfaces or ()
    }


COUNTERS = {
    "rx_octets": "in_octets",
    "tx_octets": "out_octets",
    "rx_errors": "in_errors",
    "tx_errors": "out_errors",
    "rx_discards": "in_discards",
    "tx_discards": "out_discards",
}


def counters(expected: Any) -> Any:
    return {
        name: {ours: one[theirs] if one[theirs] != -1 else None for theirs, ours in COUNTERS.items()}
        for name, one in expected.items()
    }


def our_counters(found: Collected) -> Any:
    return {
        one.name: {ours: getattr(one.counters, ours) for ours in COUNTERS.values()}
        for one in found.interfaces or ()
    }


def addresses(expected: Any) -> Any:
    return {
        (name, address, one["prefix_length"])
        for name, families in expected.items()
        for family in families.values()
        for address, one in family.items()
    }


def our_addresses(found: Collected) -> Any:
    return {
        (one.name, address.address, address.prefix_length)
        for one in found.interfaces or ()
        for address in one.ip_addresses
    }


def neighbors(expected: Any) -> Any:
    return {
        (
            local,
            one["remote_system_name"] or None,
            _mac(one["remote_chassis_id"]) or one["remote_chassis_id"],
            _mac(one["remote_port"]) or one["remote_port"],
            one["remote_system_description"].strip() or None,
        )
        for local, several in expected.items()
        for one in several
    }


def our_neighbors(found: Collected) -> Any:
    return {
        (
            one.local_interface,
            one.remote_system_name,
            one.remote_chassis_id,
            one.remote_port,
            one.remote_platform,
        )
        for one in found.neighbors or ()
    }


def macs(expected: Any) -> Any:
    return {(_mac(one["mac"]), one["vlan"], one["interface"], one["static"]) for one in expected}


def our_macs(found: Collected) -> Any:
    return {(one.mac_address, one.vlan_id, one.interface, one.type == "static") for one in found.mac or ()}


def arp(expected: Any) -> Any:
    return {(one["ip"], _mac(one["mac"]), one["interface"]) for one in expected}


def our_arp(found: Collected) -> Any:
    return {(one.ip_address, one.mac_address, one.interface) for one in found.arp or ()}


def vlans(expected: Any) -> Any:
    return {int(number): (one["name"], sorted(one["interfaces"])) for number, one in expected.items()}


def our_vlans(found: Collected) -> Any:
    return {
        one.vlan_id: (one.name, sorted((*one.tagged_interfaces, *one.untagged_interfaces)))
        for one in found.vlans or ()
    }


GETTERS: dict[str, tuple[Callable[[Any], Any], Callable[[Collected], Any]]] = {
    "get_facts": (facts, our_facts),
    "get_interfaces": (ports, our_ports),
    "get_interfaces_counters": (counters, our_counters),
    "get_interfaces_ip": (addresses, our_addresses),
    "get_lldp_neighbors_detail": (neighbors, our_neighbors),
    "get_mac_address_table": (macs, our_macs),
    "get_arp_table": (arp, our_arp),
    "get_arp_table_with_vrf": (arp, our_arp),
    "get_vlans": (vlans, our_vlans),
}


# What we read and NAPALM leaves out: ARP of other VRFs than the one that it was asked for; interfaces without
# counters.
MORE = frozenset({"get_arp_table_with_vrf", "get_interfaces_counters"})


def _only(ours: Any, theirs: Any) -> Any:
    """Return those of the rows or entries that the other one has, too."""
    if isinstance(ours, dict):
        return {name: one for name, one in ours.items() if name in theirs}
    return ours & theirs


def _answers(case: Path) -> tuple[dict[str, Any], Any]:
    """Return answers by the command, whose blanks are `_` in the names of the files; `show interfaces` where
    none is.
    """
    found: dict[str, Any] = {}
    for command in ANSWERS:
        name = command.replace(" neighbors detail", " neighbors  detail").replace("-", "_").replace(" ", "_")
        path = case / f"{name}.json"
        if path.exists():
            found[command] = json.loads(path.read_text())
    if "show ip interface" in found:
        shown = {name: {"name": name} for name in found["show ip interface"]["interfaces"]}
        found.setdefault("show interfaces", {"interfaces": shown})
    return found, json.loads((case / "expected_result.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
async def test_a_recorded_answer(case: Path) -> None:
    answers, expected = _answers(case)
    found = await EapiCollector().collect(Switch(answers), frozenset(TABLES))
    read, read_ours = GETTERS[case.parent.name]
    theirs, ours = read(expected), read_ours(found)
    assert (_only(ours, theirs) if case.parent.name in MORE else ours) == theirs
