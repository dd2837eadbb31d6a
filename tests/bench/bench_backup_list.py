"""The list of devices by how their backups stand, and the summary, with 100,000 devices."""

from collections.abc import Mapping
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any

from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.counts import BackupCounting
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.queries import COLLECTION
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.bench.bench_device_scale import DEVICES, FIRST, SITES, Console, fill, token_of
from tests.bench.measured.probed_service import DATABASE
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import Report, percentile

LIST, SUMMARY = "/api/devices/with-backup-info", "/api/summary"
REQUESTS, SLOW_REQUESTS = 40, 15
LAST = f"limit=50&offset={DEVICES * 9 // 10}"
FILTERS = {
    "success": "status=success",
    "failed": "status=failed",
    "never": "status=never",
    "kind": "error_kind=auth",
    "stale": "status=stale",
    "older_than_an_hour": "older_than_hours=1",
    "failed_and_older": "status=failed&older_than_hours=90",
    "failed_of_a_site": "status=failed&site=site-007",
    "failed_of_a_type": "status=failed&device_type=linux",
    "failed_search": "status=failed&q=ACCESS-0099",
    "success_search_nothing": "status=success&q=no-such-device",
    "sort_time": "sort=last_backup_at",
    "sort_time_stale": "sort=last_backup_at&status=stale",
    "sort_time_failed": "sort=last_backup_at&status=failed",
    "sort_status": "sort=status",
    "sort_status_of_a_type": "sort=status&device_type=linux",
    "last_page": f"offset={DEVICES * 9 // 10}",
    "last_page_success": f"status=success&offset={DEVICES * 9 // 10}",
    "last_page_sort_time": f"sort=last_backup_at&offset={DEVICES * 9 // 10}",
}
COUNTED = {"all": "", "of_a_site": "&site=site-007", "of_a_type": "&device_type=linux"}
WANTED_MS = 150


async def run(report: Report) -> None:
    """2 in 100 devices have failed, 2 were never captured, 1 is stale; one request after the other."""
    report.parameter("devices", DEVICES)
    report.parameter("requests", f"{REQUESTS} of each in turn, {SLOW_REQUESTS} where all is counted anew")
    async with private_mongod() as uri:
        with TemporaryDirectory(prefix="netautod-bench-") as folder:
            async with child("measured.probed_service", uri, folder) as server:
                console = Console(server=server, token=await token_of(server))
                database = connect(uri, DATABASE, timeout_seconds=60)
                try:
                    org_id = await fill(database, console)
                    await _captured(database, org_id)
                    await _filters(report, console)
                    await _counts(report, console, database, org_id)
                finally:
                    database.close()


async def _captured(database: Database, org_id: OrgId) -> None:
    now = SystemClock().now()
    number = {"$toInt": {"$substrCP": ["$name", len("Access-"), 6]}}
    rest = {"$mod": [number, 100]}
    recent = {"$subtract": [now, {"$multiply": [number, 600]}]}  # up to 17 hours ago
    long_ago = {"$subtract": [now, {"$add": [timedelta(hours=100) // timedelta(milliseconds=1), number]}]}

    def by_rest(failed: Any, never: Any, stale: Any, good: Any) -> Mapping[str, Any]:
        branches = [
            {"case": {"$in": [rest, [0, 1]]}, "then": failed},
            {"case": {"$in": [rest, [2, 3]]}, "then": never},
            {"case": {"$eq": [rest, 4]}, "then": stale},
        ]
        return {"$switch": {"branches": branches, "default": good}}

    kind = {"$cond": [{"$eq": [rest, 0]}, "auth", "timeout"]}
    state = {
        "at": by_rest(recent, None, long_ago, recent),
        "state": by_rest("failed", "never", "success", "success"),
        "error": by_rest("The device did not let us in", None, None, None),
        "kind": by_rest(kind, None, None, None),
        "success_at": by_rest(None, None, long_ago, recent),
        "fresh_at": by_rest("$created_at", "$created_at", long_ago, recent),
        "stale_at": None,
    }
    for number_of_site in range(SITES):
        of_site = {"org_id": org_id, "live": True, "site": f"site-{number_of_site:03}"}
        await database.collection(COLLECTION).update_many(of_site, [{"$set": {"backup": state}}])
    await _counting(database).changed(org_id)


def _counting(database: Database) -> BackupCounting:
    return BackupCounting(database, totals=DeviceCounts(database))


async def _filters(report: Report, console: Console) -> None:
    """The pages in turn, so that all have the same weather."""
    queries = {"first_page": FIRST, **{name: f"limit=50&{query}" for name, query in FILTERS.items()}}
    for name, query in queries.items():
        report.parameter(name, f"{query} matches {(await console.get(query, LIST))['total']}")
    took: dict[str, list[float]] = {name: [] for name in (*queries, "summary")}
    for _ in range(REQUESTS):
        for name, query in queries.items():
            took[name].append(await console.timed(query, LIST))
        took["summary"].append(await console.timed("", SUMMARY))
    for name, values in took.items():
        report.wanted(f"{name}_p50", percentile(values, 0.5), "ms", "at most", WANTED_MS)
        report.value(f"{name}_p99", percentile(values, 0.99), "ms")


async def _counts(report: Report, console: Console, database: Database, org_id: OrgId) -> None:
    """After a capture each: what is kept does not hold any more."""
    counting = _counting(database)
    for name, query in COUNTED.items():
        took = []
        for _ in range(SLOW_REQUESTS):
            await counting.changed(org_id)
            took.append(await console.timed(f"{FIRST}{query}", LIST))
        report.wanted(f"counted_anew_{name}_p50", percentile(took, 0.5), "ms", "at most", WANTED_MS)
        report.value(f"counted_anew_{name}_max", max(took), "ms")
