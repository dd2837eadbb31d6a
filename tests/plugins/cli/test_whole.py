"""The check for whole outputs: texts of another kind, and outputs that end in a row, give no whole table."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import Interface, Table
from netautod_cli.collector import rows_of
from netautod_cli.linux import records_of as linux_records
from netautod_cli.reads import READS, Rows
from netautod_cli.unreadable import Unreadable
from tests.plugins.cli.devices import DEVICES
from tests.plugins.cli.outputs import IOS
from tests.plugins.cli.test_ntc import files

PROSE = """\
Welcome to the core of the campus.
Changes are announced a week before; call the night desk at 4711 about anything urgent.
"""
TEXTS = [
    pytest.param(platform, read.command, id=f"{platform}/{table}")
    for platform, reads in READS.items()
    for table, read in reads.items()
    if read.parse is not linux_records
]
# Whose rows are lines, so that a cut within one shows.
LISTS: frozenset[Table] = frozenset({"mac", "arp"})
OWN = [
    pytest.param(platform, table, READS[platform][table].command, text, id=f"{platform}/{table}")
    for platform, outputs in DEVICES.items()
    for table in sorted(LISTS & READS[platform].keys())
    if (text := outputs.get(READS[platform][table].command)) is not None
]
RECORDED = [
    pytest.param(platform, table, read.command, file, id=f"{platform}/{table}/{file.name}")
    for platform, reads in READS.items()
    for table, read in reads.items()
    if read.parse is not linux_records and table != "status"
    for file in files(platform, read.command)
]


@pytest.mark.parametrize(("platform", "command"), TEXTS)
@pytest.mark.parametrize("text", [PROSE, PROSE + "\n" + PROSE, "0\n", "Error: busy, try 10.0.0.1 later\n"])
def test_a_text_of_another_kind_is_no_table(platform: str, command: str, text: str) -> None:
    with pytest.raises(Unreadable):
        rows_of(platform, command, [text])


def cuts(text: str) -> list[str]:
    """Return the text up to the middle of each of its lines."""
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        indent = len(bare) - len(bare.lstrip())
        if len(bare) - indent > 3:
            found.append(text[: at + indent + (len(bare) - indent) // 2])
        at += len(line)
    return found


def given(platform: str, command: str, text: str) -> Rows | None:
    try:
        return rows_of(platform, command, [text])
    except Unreadable:
        return None


@pytest.mark.parametrize(("platform", "table", "command", "text"), OWN)
def test_a_row_that_is_cut_costs_its_table(platform: str, table: Table, command: str, text: str) -> None:
    whole = rows_of(platform, command, [text])
    for cut in cuts(text):
        found = given(platform, command, cut)
        assert found is None or list(found) in ([], list(whole)), cut.splitlines()[-1]


@pytest.mark.parametrize(("platform", "table", "command", "file"), RECORDED)
def test_a_recorded_output_that_is_cut(platform: str, table: Table, command: str, file: Path) -> None:
    """Take nothing from a cut row of a list. Of blocks, what stands above the cut is right."""
    text = file.read_text(errors="replace")
    whole = given(platform, command, text)
    if whole is None:
        pytest.skip("it cannot be read by itself")
    for cut in cuts(text):
        found = given(platform, command, cut)
        if found is None:
            continue
        last = cut.splitlines()[-1]
        assert len(found) <= len(whole), last
        above = found if table in LISTS else found[:-1]
        if table != "vlans":  # a list of members goes on in the next line
            assert _alone(above) == _alone(whole[: len(above)]), last


def _alone(rows: Rows) -> list[Any]:
    """Return the rows without the aggregate of an interface, which names its members further down."""
    return [replace(row, lag=None) if isinstance(row, Interface) else row for row in rows]


@pytest.mark.parametrize("command", ["show interfaces", "show version"])
@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_device_is_without_interfaces(command: str, text: str) -> None:
    with pytest.raises(Unreadable, match="prints nothing"):
        rows_of("cisco_ios", command, [text])


@pytest.mark.parametrize("command", ["show ip arp", "show mac address-table", "show vlan"])
def test_a_device_may_have_no_neighbors(command: str) -> None:
    assert list(rows_of("cisco_ios", command, [""])) == []


def test_a_count_below_the_rows_is_no_row() -> None:
    assert len(rows_of("cisco_ios", "show mac address-table", [IOS["show mac address-table"]])) == 2
