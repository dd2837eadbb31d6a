"""The audit chain: events a second of one node and of three, against bare inserts, and its pages."""

import asyncio
import time
from uuid import uuid4

from netautod.activity.audit.chain.verifying import verify
from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.models import AuditFilter
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import INDEXES, AuditStore
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page
from netautod.store.client import Database
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import Report

EVENTS = 3000
ASKING = 16
STORED = 100_000


async def run(report: Report) -> None:
    report.parameter("events", f"{EVENTS} each, {ASKING} requests at a time on each node")
    async with private_mongod() as uri, fresh_database(uri, INDEXES) as database:
        bare = await _bare(database)
        report.value("bare_inserts", bare, "events/s")
        for nodes in (1, 3):
            chained = await _chained(database, nodes)
            report.value(f"chained_by_{nodes}", chained, "events/s")
            report.wanted(f"chained_by_{nodes}_over_bare", chained / bare, "times", "at least", 0.5)
        await _pages(report, database)


async def _bare(database: Database) -> float:
    rows = database.collection("bare")

    async def write() -> None:
        for _ in range(EVENTS // ASKING):
            await rows.insert({"_id": str(uuid4()), "details": {"name": "core"}})

    began = time.perf_counter()
    await asyncio.gather(*(write() for _ in range(ASKING)))
    return EVENTS / (time.perf_counter() - began)


async def _chained(database: Database, nodes: int) -> float:
    """The nodes share this process, so three have no more processors than one."""
    caller = _caller()
    logs = [AuditLog(store=AuditStore(database), clock=SystemClock()) for _ in range(nodes)]

    async def write(log: AuditLog) -> None:
        for _ in range(EVENTS // ASKING):
            await log.record(caller, "device.update", "device", "d", {"name": "core"})

    began = time.perf_counter()
    await asyncio.gather(*(write(log) for log in logs for _ in range(ASKING)))
    return nodes * EVENTS / (time.perf_counter() - began)


async def _pages(report: Report, database: Database) -> None:
    caller, store = _caller(), AuditStore(database)
    log = AuditLog(store=store, clock=SystemClock())
    records = [(f"d{number}", {"number": number}) for number in range(STORED)]
    began = time.perf_counter()
    await log.record_many(caller, "device.update", "device", records)
    report.value("many_at_once", STORED / (time.perf_counter() - began), "events/s")
    for name, narrowed in (
        ("all", AuditFilter()),
        ("resource", AuditFilter(resource_id="d77777")),
        ("action", AuditFilter(action="device.update")),
    ):
        began = time.perf_counter()
        await store.page(caller.org_id, narrowed, Page(limit=50, offset=0))
        report.wanted(f"page_by_{name}", 1000 * (time.perf_counter() - began), "ms", "at most", 100)
    began = time.perf_counter()
    verdict = await verify(store.chains, caller.org_id)
    # A year of 400,000 events is checked within a few minutes.
    report.wanted("verified", verdict.events / (time.perf_counter() - began), "events/s", "at least", 2_000)
    report.parameter("stored", await database.collection(COLLECTION).count({}))


def _caller() -> Caller:
    org_id = OrgId(str(uuid4()))
    return Caller(user_id=str(uuid4()), org_id=org_id, username="bench", permissions=frozenset())
