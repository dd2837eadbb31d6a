"""One device of each platform, of our own making: every table, and every fact of its rows."""

from typing import Any

import pytest

from netautod.plugin_api import Table
from netautod_cli.collector import rows_of
from netautod_cli.reads import READS
from tests.plugins.cli.devices import DEVICES, EXPECTED

CASES = [
    pytest.param(platform, table, id=f"{platform}/{table}")
    for platform in DEVICES
    for table in READS[platform]
]


@pytest.mark.parametrize(("platform", "table"), CASES)
def test_a_table(platform: str, table: Table) -> None:
    read, outputs = READS[platform][table], DEVICES[platform]
    rows = rows_of(platform, read.command, [outputs.get(command) for command in read.commands])
    assert [known_fields(row) for row in rows] == EXPECTED[platform][table]


@pytest.mark.parametrize(("platform", "table"), CASES)
def test_what_a_device_adds_is_understood(platform: str, table: Table) -> None:
    """Fail for an addition that cannot be read: it is left out in silence, which would hide a fault of its
    form.
    """
    read, outputs = READS[platform][table], DEVICES[platform]
    for command in read.more:
        if command in outputs:
            assert read.parse(platform, command, outputs[command]) is not None


def known_fields(row: Any) -> dict[str, Any]:
    """Return the fields with a value; addresses as texts, counters in the order of their fields."""
    found = {name: getattr(row, name) for name in row.__slots__}
    if "counters" in found:
        values = tuple(getattr(found["counters"], name) for name in found["counters"].__slots__)
        found["counters"] = values if any(value is not None for value in values) else None
        found["ip_addresses"] = tuple(f"{one.address}/{one.prefix_length}" for one in found["ip_addresses"])
    return {name: value for name, value in found.items() if value not in (None, ())}
