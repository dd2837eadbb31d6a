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

from netautod.plugin_api import long_name, mac_address
from netautod_cli.reads import READS, Rows

FOLDER = Path(os.environ.get("NETAUTOD_NAPALM_DATA", "/nonexistent"))
PLATFORMS = {"ios": "cisco_ios", "nxos_ssh": "cisco_nxos"}
# Getters that NAPALM answers by the commands that we send, too.
TABLES = {
    "get_interfaces": "interfaces",
    "get_lldp_neighbors_detail": "neighbors",
    "get_mac_address_table": "mac",
}
CASES = sorted(
    case for driver in PLATFORMS for getter in TABLES for case in FOLDER.glob(f"{driver}/{getter}/*")
)
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_NAPALM_DATA names no recordings")
# How many rows differ, and why.
EXPLAINED = {
    "ios/get_interfaces/control-plane-interface": (1, "ntc-templates has no such interface"),
    "ios/get_interfaces/pseudowire": (1, "ntc-templates has no such interface"),
    "ios/get_mac_address_table/4500_format2": (20, "its table of multicast groups is none of stations"),
    "ios/get_mac_address_table/6500_format3": (1, "NAPALM leaves out the standby supervisor as a port"),
    "nxos_ssh/get_interfaces/N93180_7_0_3_I7_2": (
        7,
        "NAPALM has no MAC addresses of SVIs; the name of mgmt0",
    ),
    "nxos_ssh/get_interfaces/alternate1": (3, "NAPALM has no MAC addresses of SVIs; the name of mgmt0"),
    "nxos_ssh/get_lldp_neighbors_detail/normal": (
        2,
        "ntc-templates reads MAC addresses as chassis ids alone",
    ),
}
# Its first line is a prompt with the command, which a session does not give.
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


COMPARED: dict[str, tuple[Callable[[Any], set[Any]], Callable[[Rows], set[Any]]]] = {
    "get_interfaces": (ports, our_ports),
    "get_lldp_neighbors_detail": (neighbors, our_neighbors),
    "get_mac_address_table": (macs, our_macs),
}


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower())


def _case(case: Path) -> tuple[dict[str, str], Any]:
    outputs = {_bare(file.stem): file.read_text(errors="replace") for file in case.glob("*.txt")}
    return outputs, json.loads((case / "expected_result.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: "/".join(case.parts[-3:]))
def test_a_recorded_output(case: Path) -> None:
    driver, getter, _ = case.parts[-3:]
    platform, (outputs, expected) = PLATFORMS[driver], _case(case)
    read = READS[platform][TABLES[getter]]  # type: ignore[index]
    name = "/".join(case.parts[-3:])
    said = [outputs.get(_bare(command)) for command in read.commands]
    if said[0] is None or name in NOT_OURS:
        pytest.skip("it is recorded in another form than the command's")
    records = [
        None if text is None else read.parse(platform, command, text)
        for command, text in zip(read.commands, said, strict=True)
    ]
    theirs, ours = COMPARED[getter]
    wanted, found = theirs(expected), ours(read.rows(*records))
    most = max(len(wanted - found), len(found - wanted))
    assert most <= EXPLAINED.get(name, (0, ""))[0], (
        sorted(map(str, wanted - found)),
        sorted(map(str, found - wanted)),
    )
