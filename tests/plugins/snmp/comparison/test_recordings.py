"""Recordings of devices, read by the collector, against what others read from them.

Our own (tests/data/snmp, made by record.py) against what the device itself says by other means; those of the
folder that NETAUTOD_SNMP_DATA names, with `recordings/*.snmprec` and `expected/*.json`, against what LibreNMS
reads. Each difference, of either side, is in explained.csv: device, table, how many rows it has and we do
not, how many we have and it does not, why. ARP, which LibreNMS does not
record, is compared with the recording.
"""

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import TABLES as ALL
from netautod.plugin_api import Collected, SnmpAccess
from netautod.testing import PolledDevice
from netautod_snmp.collector import SnmpCollector
from tests.plugins.snmp.comparison.tables import TABLES, arp_recorded, shown
from tests.support.servers.snmp_agent import Recording, serving_agent

OWN = Path(__file__).parents[3] / "data" / "snmp"
OTHERS = Path(os.environ.get("NETAUTOD_SNMP_DATA", "/nonexistent"))
EXPECTED = sorted((*OWN.glob("expected/*.json"), *OTHERS.glob("expected/*.json")))
MOST_EXPLAINED = 0.05  # of all rows
ENOUGH = 10  # rows of a table, of which 95 % have to agree


def explained() -> dict[tuple[str, str], tuple[int, int]]:
    """Return rows that are missing, and rows that are more, by device and table."""
    with (Path(__file__).parent / "explained.csv").open(newline="") as file:
        return {
            (device, table): (int(missing), int(more))
            for device, table, missing, more, _ in csv.reader(file, delimiter=";")
        }


async def collected(device: str, recordings: dict[str, Recording]) -> Collected:
    async with serving_agent(recordings) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community=device)
        return await SnmpCollector().collect(PolledDevice(agent=access), frozenset(ALL))


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
async def test_a_recording(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device, (expected, recordings) = path.stem, _read(path)
    found = await collected(device, recordings)
    for table, (wanted, read) in TABLES.items():
        if table not in expected or (table == "ports_stack" and "ports" not in expected):
            continue
        rows, ours = wanted(expected), read(found)
        missing, more = rows - ours, ours - rows
        with capsys.disabled():
            sys.stdout.write(
                f"\n{device} {table}: {len(rows) - len(missing)} of {len(rows)} rows agree, {len(more)} more"
            )
        most = explained().get((device, table), (0, 0))
        assert (len(missing), len(more)) == most, "\n".join(
            ("missing:", *shown(missing), "more:", *shown(more))
        )
        assert len(rows) < ENOUGH or len(missing) <= 0.05 * len(rows)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
async def test_arp_of_a_recording(path: Path) -> None:
    device, (_, recordings) = path.stem, _read(path)
    found = await collected(device, recordings)
    assert {(one.ip_address, one.mac_address) for one in found.arp or ()} == arp_recorded(_lines(path))


@pytest.mark.skipif(not OTHERS.exists(), reason="NETAUTOD_SNMP_DATA names no recordings")
def test_little_is_explained() -> None:
    total = sum(
        len(wanted(expected))
        for expected in (json.loads(path.read_text()) for path in EXPECTED)
        for table, (wanted, _) in TABLES.items()
        if table in expected and (table != "ports_stack" or "ports" in expected)
    )
    assert sum(map(sum, explained().values())) <= MOST_EXPLAINED * total


def _lines(path: Path) -> list[str]:
    return (path.parents[1] / "recordings" / f"{path.stem}.snmprec").read_text(encoding="latin-1").split("\n")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Recording]]:
    files = path.parents[1].glob(f"recordings/{path.stem}*.snmprec")
    recordings = {file.stem: Recording.read(file.read_text(encoding="latin-1")) for file in files}
    return json.loads(path.read_text()), recordings
