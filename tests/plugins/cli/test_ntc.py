"""Outputs of real devices as the tests of ntc-templates have them: every row that is there is read.

They are looked for in the folder that NETAUTOD_CLI_DATA names: `<platform>/<command>/*.raw` and `*.yml`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from netautod.plugin_api import ip_address, mac_address
from netautod_cli.reads import READS, Read, Rows
from netautod_cli.records import COMMANDS, Unreadable

FOLDER = Path(os.environ.get("NETAUTOD_CLI_DATA", "/nonexistent"))
Record = Mapping[str, Any]
ADDS = frozenset({"show lldp neighbors"})
# Of a release that says in another command on which interface a neighbor is heard.
WITHOUT_INTERFACES = frozenset({"cisco_ios_show_lldp_neighbors_detail5.raw"})


def _files(platform: str, command: str) -> list[Path]:
    names = {COMMANDS.get(command, command).lstrip("/").replace(" ", "_")}
    names |= {name.replace("mac_address", "mac-address") for name in names}
    return sorted(file for name in names for file in (FOLDER / platform / name).glob("*.raw"))


CASES = [
    pytest.param(platform, table, read, place, file, id=f"{platform}/{table}/{file.name}")
    for platform, reads in READS.items()
    for table, read in reads.items()
    for place, command in enumerate(read.commands)
    for file in _files(platform, command)
]
pytestmark = pytest.mark.skipif(not CASES, reason="NETAUTOD_CLI_DATA names no recordings")


def _first(record: Record, *names: str) -> str:
    for name in names:
        value = record.get(name)
        if value:
            return str(value[0] if isinstance(value, list) else value)
    return ""


def _mac(record: Record) -> str | None:
    shown = _first(record, "mac_address", "destination_address")
    return mac_address(shown) or mac_address(shown.replace("-", ""))


# What there has to be for each record, and what we have: rows without it are none.
KEYS: Mapping[str, tuple[Callable[[Record], Any], Callable[[Any], Any]]] = {
    "interfaces": (lambda record: bool(_first(record, "interface", "port", "name")), lambda row: True),
    "neighbors": (lambda record: bool(_first(record, "local_interface", "interface")), lambda row: True),
    "mac": (_mac, lambda row: row.mac_address),
    "arp": (
        lambda record: ip_address(_first(record, "ip_address", "address")),
        lambda row: row.ip_address,
    ),
    "vlans": (lambda record: int(_first(record, "vlan_id", "tag") or 0) or None, lambda row: row.vlan_id),
    "status": (lambda record: True, lambda row: True),
}


@pytest.mark.parametrize(("platform", "table", "read", "place", "file"), CASES)
def test_every_row_is_read(platform: str, table: str, read: Read, place: int, file: Path) -> None:
    records: Rows = read.parse(platform, read.commands[place], file.read_text(errors="replace"))
    expected = yaml.safe_load(file.with_suffix(".yml").read_text())["parsed_sample"]
    assert len(records) == len(expected)
    if read.commands[place] in ADDS or (place > 0 and table in ("interfaces", "vlans")):
        return  # it only adds to the rows of another command
    if file.name in WITHOUT_INTERFACES:
        with pytest.raises(Unreadable):
            read.rows(records)
        return
    given: list[Any] = [() for _ in read.commands]
    given[place] = records
    wanted, ours = KEYS[table]
    found = [ours(row) for row in read.rows(*given)]
    assert {key for record in expected if (key := wanted(record))} == set(found)
    if table in ("interfaces", "neighbors", "status"):
        assert len(found) == sum(bool(wanted(record)) for record in expected)
