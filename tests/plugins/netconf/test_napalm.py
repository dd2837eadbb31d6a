"""Recorded replies of devices over NETCONF, and what NAPALM's own tests read from them.

They are looked for in the folder that NETAUTOD_NAPALM_DATA names: `junos/<getter>/<case>/` and
`iosxr_netconf/<getter>/<case>/` with the replies and `expected_result.json`. NAPALM takes each address of
Junos as that of a host, calls a unit that is turned off up, and leaves out interfaces without counters.
"""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import ip_address, mac_address
from netautod_netconf import iosxr, junos, junos_vlans
from netautod_netconf.elements import parsed

FOLDER = Path(os.environ.get("NETAUTOD_NAPALM_DATA", "/nonexistent"))
CASES = sorted((*FOLDER.glob("junos/*/*"), *FOLDER.glob("iosxr_netconf/*/*")))
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_NAPALM_DATA names no recordings")
Rows = Any


def _mac(text: str) -> str | None:
    return mac_address(text)


def ports(expected: Any) -> Rows:
    return {
        name: (one["is_enabled"], one["is_enabled"] and one["is_up"], one["description"] or None)
        for name, one in expected.items()
    }


def our_ports(found: Iterable[Any]) -> Rows:
    return {one.name: (one.admin_status == "up", one.oper_status == "up", one.description) for one in found}


def counters(expected: Any) -> Rows:
    return {
        name: (one["rx_octets"], one["tx_octets"]) for name, one in expected.items() if one["rx_octets"] != -1
    }


def our_counters(found: Iterable[Any]) -> Rows:
    return {
        one.name: (one.counters.in_octets, one.counters.out_octets)
        for one in found
        if one.counters.in_octets is not None
    }


def addresses(expected: Any) -> Rows:
    return {
        (name, ip_address(address), one["prefix_length"])
        for name, families in expected.items()
        for family in families.values()
        for address, one in family.items()
    }


def hosts(expected: Any) -> Rows:
    return {(name, address) for name, address, _ in addresses(expected)}


def our_hosts(found: Iterable[Any]) -> Rows:
    return {(name, address) for name, address, _ in our_addresses(found)}


def our_addresses(found: Iterable[Any]) -> Rows:
    return {(one.name, own.address, own.prefix_length) for one in found for own in one.ip_addresses}


def neighbors(expected: Any) -> Rows:
    return {
        (
            one["remote_system_name"] or None,
            _mac(one["remote_chassis_id"]) or one["remote_chassis_id"],
            _mac(one["remote_port"]) or one["remote_port"] or None,
            one["remote_system_description"].strip() or None,
        )
        for several in expected.values()
        for one in several
    }


def our_neighbors(found: Iterable[Any]) -> Rows:
    return {
        (one.remote_system_name, one.remote_chassis_id, one.remote_port, one.remote_platform) for one in found
    }


def macs(expected: Any) -> Rows:
    return {(_mac(one["mac"]), one["vlan"] or None, one["interface"] or None) for one in expected}


def our_macs(found: Iterable[Any]) -> Rows:
    return {(one.mac_address, one.vlan_id, one.interface) for one in found}


def arp(expected: Any) -> Rows:
    return {(one["ip"], _mac(one["mac"]), one["interface"]) for one in expected}


def our_arp(found: Iterable[Any]) -> Rows:
    return {(one.ip_address, one.mac_address, one.interface) for one in found}


def vlans(expected: Any) -> Rows:
    return {int(number): (one["name"], sorted(one["interfaces"])) for number, one in expected.items()}


def our_vlans(found: Iterable[Any]) -> Rows:
    return {
        one.vlan_id: (one.name, sorted((*one.tagged_interfaces, *one.untagged_interfaces))) for one in found
    }


def facts(expected: Any) -> Rows:
    return (expected["hostname"], expected["model"], expected["os_version"], expected["serial_number"])


def our_facts(found: Iterable[Any]) -> Rows:
    [one] = found
    return (one.sys_name, one.model, one.os_version, one.serial_number)


def _xr_addresses(reply: Any) -> Iterable[Any]:
    names = dict.fromkeys(iosxr.addresses_of(reply))
    found = iosxr.addresses_of(reply)
    return [type("Port", (), {"name": name, "ip_addresses": found[name]}) for name in names]


Getter = tuple[Callable[[Any], Iterable[Any]], Callable[[Iterable[Any]], Rows], Callable[[Any], Rows]]
GETTERS: dict[str, Getter] = {
    "junos/get_interfaces": (junos.interfaces_of, our_ports, ports),
    "junos/get_interfaces_counters": (junos.interfaces_of, our_counters, counters),
    "junos/get_interfaces_ip": (junos.interfaces_of, our_hosts, hosts),
    "junos/get_lldp_neighbors_detail": (
        lambda reply: junos.neighbors_of(reply, "?"),
        our_neighbors,
        neighbors,
    ),
    "junos/get_mac_address_table": (junos.forwarding_of, our_macs, macs),
    "junos/get_arp_table": (junos.arp_of, our_arp, arp),
    "junos/get_vlans": (junos_vlans.vlans_of, our_vlans, vlans),
    "iosxr_netconf/get_facts": (lambda reply: [iosxr.facts_of(reply)], our_facts, facts),
    "iosxr_netconf/get_interfaces": (lambda reply: iosxr.interfaces_of(reply, {}), our_ports, ports),
    "iosxr_netconf/get_interfaces_counters": (
        lambda reply: iosxr.interfaces_of(reply, {}),
        our_counters,
        counters,
    ),
    "iosxr_netconf/get_interfaces_ip": (_xr_addresses, our_addresses, addresses),
    "iosxr_netconf/get_lldp_neighbors_detail": (iosxr.neighbors_of, our_neighbors, neighbors),
    "iosxr_netconf/get_mac_address_table": (iosxr.forwarding_of, our_macs, macs),
    "iosxr_netconf/get_arp_table": (iosxr.arp_of, our_arp, arp),
}


def _reply(case: Path) -> tuple[bytes, Any]:
    """Return the reply; of several files that with the details."""
    files = sorted(case.glob("*.xml"), key=lambda file: "lldp-interface" not in file.name)
    return files[0].read_bytes(), json.loads((case / "expected_result.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: "/".join(case.parts[-3:]))
async def test_a_recorded_reply(case: Path) -> None:
    name = "/".join(case.parts[-3:-1])
    if name not in GETTERS:
        pytest.skip("it is recorded in another form than the device's")
    read, ours, theirs = GETTERS[name]
    data, expected = _reply(case)
    found, wanted = ours(read(await parsed(data))), theirs(expected)
    assert found == wanted
