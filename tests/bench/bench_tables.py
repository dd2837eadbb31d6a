"""Discovered tables: a large MAC table written and read, and where an address is among a million entries."""

import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables.models import PollNote
from netautod.network.discovery.tables.part_store import PARTS
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.tables.store import INDEXES, DiscoveredStore
from netautod.plugin_api import ArpEntry, Collected, MacEntry
from netautod.store.client import Database
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.holding import collecting_as_the_service, watched
from tests.bench.measuring.report import Report, percentile

LARGE = 50_000
SHOWN = 10_000
READS = 15
DEVICES, ENTRIES = 2_000, 500
ADDRESSES = 200_000  # so that each is seen on five devices
SEARCHES = 1_000
START = datetime(2026, 11, 20, tzinfo=UTC)


async def run(report: Report) -> None:
    report.parameter("large", f"{LARGE} entries on one device")
    report.parameter("many", f"{DEVICES} devices with {ENTRIES} MAC entries and 50 ARP entries each")
    async with private_mongod() as uri:
        async with fresh_database(uri, INDEXES) as database:
            await _large(report, database)
        async with fresh_database(uri, INDEXES) as database:
            await _many(report, database)


async def _large(report: Report, database: Database) -> None:
    store, reads = DiscoveredStore(database, gone_for=timedelta(days=30)), DiscoveredReads(database)
    org_id, device_id = OrgId(str(uuid4())), str(uuid4())
    entries = [
        MacEntry(mac_address=_mac(number), vlan_id=1, interface="Ethernet1") for number in range(LARGE)
    ]
    late: list[float] = []
    seconds: dict[str, float] = {}
    async with collecting_as_the_service(), watched(late):
        for round_, name in enumerate(("first", "unchanged", "a tenth changed")):
            if name == "a tenth changed":
                entries[: LARGE // 10] = [
                    MacEntry(mac_address=_mac(LARGE + number), vlan_id=1, interface="Ethernet1")
                    for number in range(LARGE // 10)
                ]
            began = time.perf_counter()
            await store.replace(org_id, device_id, Collected(mac=entries), sources={}, note=_note(round_))
            seconds[name] = time.perf_counter() - began
        took = []
        for _ in range(READS):
            began = time.perf_counter()
            await reads.table(org_id, device_id, "mac", limit=SHOWN)
            took.append((time.perf_counter() - began) * 1000)
    report.wanted("poll_to_visible", seconds["first"], "s", "at most", 5)
    for name in ("unchanged", "a tenth changed"):
        report.value(f"again_{name.replace(' ', '_')}", seconds[name], "s")
    report.wanted("read", report.raw("read", took, "ms"), "ms", "at most", 150)
    report.wanted("longest_hold", max(late) * 1000, "ms", "at most", 20)


async def _many(report: Report, database: Database) -> None:
    store, reads = DiscoveredStore(database, gone_for=timedelta(days=30)), DiscoveredReads(database)
    org_id = OrgId(str(uuid4()))
    for device in range(DEVICES):
        numbers = [(device * 97 + step * 401) % ADDRESSES for step in range(ENTRIES)]
        mac = [MacEntry(mac_address=_mac(number), vlan_id=1, interface="Ethernet1") for number in numbers]
        arp = [ArpEntry(ip_address=_address(number), mac_address=_mac(number)) for number in numbers[:50]]
        await store.replace(org_id, str(uuid4()), Collected(mac=mac, arp=arp), sources={}, note=_note(0))
    for name in ("mac", "ip"):
        took: list[float] = []
        found = 0
        for step in range(SEARCHES):
            number = step * 7919 % ADDRESSES
            wanted = {"mac": _mac(number)} if name == "mac" else {"ip": _address(number)}
            began = time.perf_counter()
            found += len(await reads.find(org_id, **wanted))
            took.append((time.perf_counter() - began) * 1000)
        report.value(f"found_by_{name}", found / SEARCHES, "entries")
        report.wanted(f"find_{name}_p99", percentile(took, 0.99), "ms", "at most", 20)
    await _examined(report, database, org_id)


async def _examined(report: Report, database: Database, org_id: OrgId) -> None:
    """What the server looks at for one search, by its own account."""
    where = {"org_id": org_id, "macs": _mac(7919)}
    raw = database.collection(PARTS)._raw
    plan = await raw.find(where).explain()
    stats = plan["executionStats"]
    report.value("documents_examined", stats["totalDocsExamined"], "documents")
    report.value("documents_returned", stats["nReturned"], "documents")


def _mac(number: int) -> str:
    digits = f"{number * 2654435761 % (1 << 48):012x}"
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def _address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _note(minutes: int) -> PollNote:
    at = START + timedelta(minutes=minutes)
    return PollNote(state="completed", error=None, reachable=True, latency_ms=1.0, at=at, last_success_at=at)
