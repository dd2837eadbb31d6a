"""Recordings of devices, read by the collector, against what others read from them.

Our own (tests/data/snmp, made by record.py) against what the device itself says by other means; those of the
folder that NETAUTOD_SNMP_DATA names, with `recordings/*.snmprec` and `expected/*.json`, against what LibreNMS
reads. Each difference is in explained.csv: device, table, how many rows, why.
"""

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from netautod.plugin_api import TABLES as ALL
from netautod.plugin_api import SnmpAccess
from netautod.testing import PolledDevice
from netautod_snmp.collector import SnmpCollector
from tests.plugins.snmp.comparison.tables import TABLES, shown
from tests.support.servers.snmp_agent import Recording, serving_agent

OWN = Path(__file__).parents[3] / "data" / "snmp"
OTHERS = Path(os.environ.get("NETAUTOD_SNMP_DATA", "/nonexistent"))
EXPECTED = sorted((*OWN.glob("expected/*.json"), *OTHERS.glob("expected/*.json")))
MOST_EXPLAINED = 0.05  # of all rows
ENOUGH = 10  # rows of a table, of which 95 % have to agree


def explained() -> dict[tuple[str, str], int]:
    with (Path(__file__).parent / "explained.csv").open(newline="") as file:
        return {(device, table): int(count) for device, table, count, _ in csv.reader(file, delimiter=";")}


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
async def test_a_recording(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device, (expected, recordings) = path.stem, _read(path)
    async with serving_agent(recordings) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community=device)
        found = await SnmpCollector().collect(PolledDevice(agent=access), frozenset(ALL))
    for table, (wanted, read) in TABLES.items():
        if table not in expected or (table == "ports_stack" and "ports" not in expected):
            continue
        rows, ours = wanted(expected), read(found)
        missing = rows - ours
        with capsys.disabled():
            sys.stdout.write(f"\n{device} {table}: {len(rows) - len(missing)} of {len(rows)} rows agree")
        assert len(missing) <= explained().get((device, table), 0), "\n".join(shown(missing))
        assert len(rows) < ENOUGH or len(missing) <= 0.05 * len(rows)


@pytest.mark.skipif(not OTHERS.exists(), reason="NETAUTOD_SNMP_DATA names no recordings")
def test_little_is_explained() -> None:
    total = sum(
        len(wanted(expected))
        for expected in (json.loads(path.read_text()) for path in EXPECTED)
        for table, (wanted, _) in TABLES.items()
        if table in expected and (table != "ports_stack" or "ports" in expected)
    )
    assert sum(explained().values()) <= MOST_EXPLAINED * total


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Recording]]:
    files = path.parents[1].glob(f"recordings/{path.stem}*.snmprec")
    recordings = {file.stem: Recording.read(file.read_text(encoding="latin-1")) for file in files}
    return json.loads(path.read_text()), recordings
