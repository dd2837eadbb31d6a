"""Lists and counts by the state of backups look at keys of an index, and at documents of the page only."""

from datetime import timedelta
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.network.configs.backups.models import BackupFilter, Sorting
from netautod.network.configs.backups.queries import found_by
from netautod.network.configs.backups.store import BackupStates
from netautod.network.devices.creation.single import new_device
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.documents import document_of
from netautod.store.client import Database
from tests.support.profiler import Profile, profiled

ORG, NOW = OrgId("o"), SystemClock().now()
DEVICES, FAILED, STALE, NEVER = 2_000, 40, 10, 20
PAGE = 10
STALE_HOURS = 48.0


@pytest.fixture(scope="module")
async def filled(module_database: Database) -> Database:
    """By number: 40 failed, 10 stale ones, 20 that were never captured, the others are good and fresh."""
    rows = []
    for number in range(DEVICES):
        fields = {"name": f"sw{number:04}", "host": "192.0.2.1", "device_type": f"type{number % 2}"}
        device = new_device(
            ORG, f"d{number}", fields, site=f"s{number % 50}", source="manual", vouched=True, at=NOW
        )
        rows.append({**document_of(device), "org_id": ORG, "backup": state(number)})
    await module_database.collection("devices").insert_many(rows)
    return module_database


def state(number: int) -> dict[str, Any]:
    at = NOW - timedelta(minutes=number % 600)
    good = {"at": at, "state": "success", "error": None, "kind": None, "success_at": at, "fresh_at": at}
    turn = number % 50  # one of each site
    if turn == 7:
        kind = "auth" if number % 200 == 7 else "timeout"
        return {**good, "state": "failed", "error": "no", "kind": kind, "success_at": None, "fresh_at": NOW}
    if number % 200 == 8:
        old = NOW - timedelta(hours=100)
        return {**good, "at": old, "success_at": old, "fresh_at": old}
    if number % 100 == 9:
        nothing = dict.fromkeys(("at", "error", "kind", "success_at"))
        return {**nothing, "state": "never", "fresh_at": NOW}
    return good


PLANS = (
    # (filters of devices, of backups, sort, offset) -> found, keys at most
    pytest.param({}, {"status": "failed"}, "name", 0, PAGE, PAGE + 1, id="failed"),
    pytest.param({}, {"status": "failed"}, "name", 35, 5, FAILED + 1, id="the last page of failed ones"),
    pytest.param({}, {"error_kind": "auth"}, "name", 0, 10, FAILED + 1, id="a kind: the keys of failed ones"),
    pytest.param({}, {"status": "never"}, "name", 0, PAGE, PAGE + 1, id="never"),
    pytest.param({}, {"status": "stale"}, "name", 0, 10, DEVICES + 10, id="stale: keys of all, no document"),
    pytest.param({}, {"older_than_hours": 1}, "name", 0, PAGE, 150, id="most are older: no more than needed"),
    pytest.param({}, {"status": "failed"}, "status", 0, PAGE, PAGE + 1, id="failed by status"),
    pytest.param({}, {}, "status", 0, PAGE, PAGE + 1, id="all by status"),
    pytest.param({}, {}, "last_backup_at", 0, PAGE, PAGE + 1, id="all by time"),
    pytest.param({}, {"status": "failed"}, "last_backup_at", 0, PAGE, DEVICES + 10, id="failed by time"),
    pytest.param({"q": "SW19"}, {"status": "failed"}, "name", 0, 2, FAILED + 1, id="a search of failed ones"),
    pytest.param({"q": "nothing"}, {"status": "success"}, "name", 0, 0, DEVICES + 10, id="a vain search"),
    pytest.param({}, {}, "last_backup_at", 1900, PAGE, DEVICES + 10, id="late by time"),
)


@pytest.mark.parametrize(("narrowed", "backups", "sorting", "offset", "found", "keys"), PLANS)
async def test_a_page_reads_no_documents_but_its_own(
    filled: Database,
    mongo_uri: str,
    narrowed: dict[str, Any],
    backups: dict[str, Any],
    sorting: Sorting,
    offset: int,
    found: int,
    keys: int,
) -> None:
    states = BackupStates(filled, totals=DeviceCounts(filled))
    wanted = found_by(
        DeviceFilter(**narrowed), BackupFilter(**backups), sorting, now=NOW, stale_hours=STALE_HOURS
    )
    with profiled(filled, mongo_uri) as profile:
        rows = await states.page(ORG, wanted, Page(limit=PAGE, offset=offset))
        examined, documents = profile.cost()
    assert (len(rows), documents) == (found, found)
    assert examined <= keys


async def test_a_site_costs_what_the_site_has(filled: Database, mongo_uri: str) -> None:
    states = BackupStates(filled, totals=DeviceCounts(filled))
    wanted = found_by(
        DeviceFilter(site="s7"), BackupFilter(status="failed"), "name", now=NOW, stale_hours=STALE_HOURS
    )
    with profiled(filled, mongo_uri) as profile:
        assert len(await states.page(ORG, wanted, Page(limit=PAGE))) == PAGE
        assert max(profile.cost()) <= 50


async def test_counts_look_at_the_few_and_are_kept(filled: Database, mongo_uri: str) -> None:
    totals = DeviceCounts(filled)
    states = BackupStates(filled, totals=totals)
    narrowed = DeviceFilter()
    await totals.total(ORG, narrowed)
    with profiled(filled, mongo_uri) as profile:
        counts = await states.counts.of(ORG, narrowed, now=NOW, stale_hours=STALE_HOURS)
        # Failed, never and stale ones by their keys, and the one that becomes stale next.
        assert examined(profile) <= (FAILED + STALE + NEVER + 10, 1)
        assert await states.counts.of(ORG, narrowed, now=NOW, stale_hours=STALE_HOURS) == counts
        assert examined(profile) == (0, 0)
        of_a_type = DeviceFilter(device_type="type0")
        half = await states.counts.of(ORG, of_a_type, now=NOW, stale_hours=STALE_HOURS)
        assert examined(profile) <= (DEVICES + 10, 0)
    assert (counts.failed, counts.never, counts.stale, counts.total) == (FAILED, NEVER, STALE, DEVICES)
    assert counts.by_kind == {"timeout": 30, "auth": 10}
    assert half.total == DEVICES // 2


def examined(profile: Profile) -> tuple[int, int]:
    """Keys and documents of devices."""
    entries = profile.take("devices")
    assert not any("COLLSCAN" in entry.get("planSummary", "") for entry in entries)
    return (
        sum(entry.get("keysExamined", 0) for entry in entries),
        sum(entry.get("docsExamined", 0) for entry in entries),
    )
