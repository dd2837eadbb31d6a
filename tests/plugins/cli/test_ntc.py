"""Outputs of real devices as the tests of ntc-templates have them: every fact of every row that is there.

They are looked for in the folder that NETAUTOD_CLI_DATA names: `<platform>/<command>/*.raw` and `*.yml`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from netautod.plugin_api import ip_address, long_name, mac_address
from netautod_cli.collector import rows_of
from netautod_cli.reads import READS, Read, Rows
from netautod_cli.records import COMMANDS
from netautod_cli.unreadable import Unreadable

FOLDER = Path(os.environ.get("NETAUTOD_CLI_DATA", "/nonexistent"))
Record = Mapping[str, Any]
Fact = tuple[Any, ...]
# Of a release that says in another command on which interface a neighbor is heard.
WITHOUT_INTERFACES = frozenset({"cisco_ios_show_lldp_neighbors_detail5.raw"})
NO_PORT = frozenset({"", "-", "--", "CPU", "Router", "Switch"})
# How many rows differ from what ntc-templates read, and why.
EXPLAINED = {
    "hp_comware_display_interface_release_0615P16.raw": (1, "it reads `Output:` as an interface"),
    "hp_comware_display_vlan_brief.raw": (6, "it reads the first word of a name"),
    "huawei_vrp_display_vlan.raw": (2, "it reads untagged ports or tagged ones"),
}


def files(platform: str, command: str) -> list[Path]:
    names = {COMMANDS.get(command, command).lstrip("/").replace(" ", "_")}
    names |= {name.replace("mac_address", "mac-address") for name in names}
    return sorted(file for name in names for file in (FOLDER / platform / name).glob("*.raw"))


CASES = [
    pytest.param(platform, table, read, file, id=f"{platform}/{table}/{file.name}")
    for platform, reads in READS.items()
    for table, read in reads.items()
    for file in files(platform, read.command)
]
ADDED = [
    pytest.param(platform, read, command, file, id=f"{platform}/{table}/{file.name}")
    for platform, reads in READS.items()
    for table, read in reads.items()
    for command in read.more
    for file in files(platform, command)
]
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_CLI_DATA names no recordings")


def _first(record: Record, *names: str) -> str:
    for name in names:
        value = record.get(name)
        if value:
            return str(value[0] if isinstance(value, list) else value).strip()
    return ""


def _mac(text: str) -> str | None:
    return mac_address(text) or mac_address(text.replace("-", "")) or mac_address(text.replace(" ", ":"))


def _port(text: str | None) -> str | None:
    bare = (text or "").partition(",")[0]
    return None if bare in NO_PORT else long_name(bare.replace("FastEthernet ", "FastEthernet")).lower()


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _listed(record: Record, *names: str) -> list[str]:
    value: Any = next((record[name] for name in names if record.get(name)), [])
    return value if isinstance(value, list) else [value]


def ports(record: Record) -> Iterator[Fact]:
    name = _first(record, "interface", "port", "name")
    bits = _first(record, "prefix_length")
    own = [text if "/" in text else f"{text}/{bits}" for text in _listed(record, "ip_address")]
    own += _listed(record, "secondary_ip_address")
    addresses = {text for text in own if ip_address(text.partition("/")[0])}
    mac = _mac(_first(record, "mac_address", "hw_address"))
    text = _first(record, "description", "interface_desc", "comment")
    yield _port(name), mac, text or None, _number(_first(record, "mtu", "actual_mtu")), frozenset(addresses)


def our_ports(row: Any) -> Fact:
    addresses = {f"{one.address}/{one.prefix_length}" for one in row.ip_addresses}
    return _port(row.name), row.mac_address, row.description, row.mtu, frozenset(addresses)


def neighbors(record: Record) -> Iterator[Fact]:
    far = _first(record, "neighbor_port_id", "neighbor_interface", "interface_name")
    chassis = _first(record, "chassis_id", "mac_address")
    yield (
        _port(_first(record, "local_interface", "interface")),
        _first(record, "neighbor_name", "neighbor", "identity") or None,
        _mac(chassis) or chassis or None,
        _mac(far) or _port(far),
    )


def our_neighbors(row: Any) -> Fact:
    name = row.remote_system_name if row.protocol == "lldp" else None
    far = row.remote_port
    return _port(row.local_interface), name, row.remote_chassis_id, _mac(far or "") or _port(far)


def macs(record: Record) -> Iterator[Fact]:
    names = ("destination_port", "ports", "port", "interface", "logical_interface")
    for several in _listed(record, *names) or [""]:
        for port in several.split(","):
            mac = _mac(_first(record, "mac_address", "destination_address"))
            if mac is not None:
                yield mac, _number(_first(record, "vlan_id")), _port(port)


def our_macs(row: Any) -> Fact:
    return row.mac_address, row.vlan_id, _port(row.interface)


def arp(record: Record) -> Iterator[Fact]:
    port = _first(record, "interface", "port_id", "port")
    own = ip_address(_first(record, "ip_address", "address"))
    yield own, _mac(_first(record, "mac_address", "hardware_address")), _port(port)


def our_arp(row: Any) -> Fact:
    return row.ip_address, row.mac_address, _port(row.interface)


def vlans(record: Record) -> Iterator[Fact]:
    number = _number(_first(record, "vlan_id", "tag"))
    if number is not None:
        members = [text.rstrip("*") for text in _listed(record, "interfaces", "interface")]
        is_range = any("-" in text.rpartition("/")[2] for text in members)
        name = _first(record, "vlan_name", "name", "vlan_description")
        known = {_port(text) for text in members} - {None}
        yield (
            number,
            name or None,
            None if is_range or any("-" in text for text in members) else frozenset(known),
        )


def our_vlans(row: Any) -> Fact:
    members = {_port(name) for name in (*row.tagged_interfaces, *row.untagged_interfaces)}
    return row.vlan_id, row.name, frozenset(members)


def facts(record: Record) -> Iterator[Fact]:
    model = _first(record, "model", "hardware", "board_name", "platform")
    version = _first(record, "junos_version", "vrp_version", "os", "version", "image")
    serial = _first(record, "serial_number", "serial")
    yield _first(record, "hostname") or None, model or None, version or None, serial or None


def our_facts(row: Any) -> Fact:
    return row.sys_name, row.model, row.os_version, row.serial_number


# What each record says, and what our row says.
FACTS: Mapping[str, tuple[Callable[[Record], Iterator[Fact]], Callable[[Any], Fact]]] = {
    "interfaces": (ports, our_ports),
    "neighbors": (neighbors, our_neighbors),
    "mac": (macs, our_macs),
    "arp": (arp, our_arp),
    "vlans": (vlans, our_vlans),
    "status": (facts, our_facts),
}


@pytest.mark.parametrize(("platform", "table", "read", "file"), CASES)
def test_every_fact_is_read(platform: str, table: str, read: Read, file: Path) -> None:
    text = file.read_text(errors="replace")
    if file.name in WITHOUT_INTERFACES:
        with pytest.raises(Unreadable):
            rows_of(platform, read.command, [text])
        return
    rows: Rows = rows_of(platform, read.command, [text])
    expected = yaml.safe_load(file.with_suffix(".yml").read_text())["parsed_sample"]
    theirs, ours = FACTS[table]
    wanted = [fact for record in expected for fact in theirs(record)]
    found = [ours(row) for row in rows]
    lost = [fact for fact in wanted if not any(_agree(fact, one) for one in found)]
    new = [one for one in found if not any(_agree(fact, one) for fact in wanted)]
    assert max(len(lost), len(new)) == EXPLAINED.get(file.name, (0, ""))[0], (lost, new)


def _agree(fact: Fact, ours: Fact) -> bool:
    """Return whether we have all that they have; we may have what they leave out."""
    return len(fact) == len(ours) and all(
        one is None or one == other or (isinstance(one, frozenset) and not one)
        for one, other in zip(fact, ours, strict=True)
    )


@pytest.mark.parametrize(("platform", "read", "command", "file"), ADDED)
def test_what_adds_to_rows_has_all_records(platform: str, read: Read, command: str, file: Path) -> None:
    expected = yaml.safe_load(file.with_suffix(".yml").read_text())["parsed_sample"]
    records = read.parse(platform, command, file.read_text(errors="replace"))
    for name in ("interface", "vlan_id", "tag", "local_interface"):
        assert [_first(one, name) for one in records] == [_first(one, name) for one in expected] or not any(
            one.get(name) for one in expected
        )
