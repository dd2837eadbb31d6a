"""Documents: writes against bare insert + update, warm renders, list and restore at 10,000 versions.

Both sides of the writes run in this process with one client on one mongod. Ours is the whole of a PUT below
HTTP: snapshot, compare-and-set and audit event; the bare one inserts a copy and updates the document.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from netautod.activity.audit.store import INDEXES as AUDIT_INDEXES
from netautod.assembly.documents import build_documents
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.json.values import encode
from netautod.documents import store
from netautod.documents.content_types import ContentTypes
from netautod.documents.rendering.pool import RenderPool
from netautod.documents.service import DocumentService
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from netautod.store.scoped import scoped
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import BenchmarkError, Report, percentile
from tests.support.installation import bare_base

CONTENT = "interface GigabitEthernet1/0/1\n description uplink\n" * 40
DOCUMENTS = 100
WRITERS = 8
WRITES = 1000
ROUNDS = 5
VERSIONS = 10_000
READS = 30
RENDERS = 1000
TEMPLATE = "{% for vlan in vlans %}vlan {{ vlan.id }}\n name {{ vlan.name }}\n{% endfor %}"
VLANS = {"vlans": [{"id": number, "name": f"floor-{number}"} for number in range(1, 21)]}
UNIT = "PUT/s"


@dataclass(frozen=True, kw_only=True)
class Side:
    """`write` writes the document of this id once."""

    write: Callable[[str], Awaitable[object]]
    ids: list[str]


async def run(report: Report) -> None:
    report.parameter("content", f"{len(CONTENT)} bytes")
    report.parameter("writes", f"{WRITES} a round, {ROUNDS} rounds of each side in turn")
    report.parameter("writers", f"1 on one document, {WRITERS} on {DOCUMENTS} documents")
    report.parameter("durability", "majority and journaled on both sides")
    async with private_mongod() as uri, RenderPool(processes=2) as renderer:
        await _documents_side(report, uri, renderer)
        await _renders(report, renderer)


async def _documents_side(report: Report, uri: str, renderer: RenderPool) -> None:
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with fresh_database(uri, (*AUDIT_INDEXES, *store.INDEXES)) as database:
            documents, caller = await _documents(database, Path(folder), renderer)
            await _writes(report, database, documents, caller)
            await _versions(report, database, documents, caller)


async def _documents(
    database: Database, folder: Path, renderer: RenderPool
) -> tuple[DocumentService, Caller]:
    org_id = OrgId(str(uuid4()))
    caller = Caller(
        user_id=str(uuid4()), org_id=org_id, username="bench", permissions=frozenset({"docs.manage"})
    )
    base = bare_base(database, vault=await Vault.open(database, data_dir=folder, environ={}))
    parts = build_documents(base, renderer=renderer, types=ContentTypes())
    return parts.documents, caller


async def _create(documents: DocumentService, caller: Caller) -> str:
    fields = {"name": "plan", "category": "outputs", "content_type": "config", "content": CONTENT}
    return (await documents.create(caller, fields)).document.id


async def _writes(report: Report, database: Database, documents: DocumentService, caller: Caller) -> None:
    async def put(document_id: str) -> None:
        await documents.update(caller, document_id, {"content": CONTENT})

    live, copies = scoped(database, "bare_documents"), scoped(database, "bare_versions")

    async def bare(document_id: str) -> None:
        await copies.insert(caller.org_id, {"_id": str(uuid4()), "document_id": document_id, "text": CONTENT})
        change = {"$set": {"text": CONTENT, "updated_at": SystemClock().now()}}
        await live.update(caller.org_id, {"_id": document_id}, change)

    ids = [await _create(documents, caller) for _ in range(DOCUMENTS)]
    for document_id in ids:
        await live.insert(caller.org_id, {"_id": document_id, "text": CONTENT})
    for name, count, writers in (("one_document", 1, 1), ("100_documents", DOCUMENTS, WRITERS)):
        rates: dict[str, list[float]] = {"netautod": [], "bare": []}
        for _ in range(ROUNDS):
            rates["netautod"].append(await _rate(Side(write=put, ids=ids[:count]), writers))
            rates["bare"].append(await _rate(Side(write=bare, ids=ids[:count]), writers))
        ours, other = (report.raw(f"{name}_{side}", found, UNIT) for side, found in rates.items())
        report.wanted(f"{name}_over_bare", ours / other, "times", "at least", 0.5)


async def _rate(side: Side, writers: int) -> float:
    turns = iter(range(WRITES))

    async def work() -> None:
        for number in turns:
            await side.write(side.ids[number % len(side.ids)])

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(writers)))
    return WRITES / (time.perf_counter() - began)


async def _versions(report: Report, database: Database, documents: DocumentService, caller: Caller) -> None:
    document_id = await _create(documents, caller)
    await documents.update(caller, document_id, {"content": CONTENT})
    versions = database.collection("document_versions")
    (row,) = await versions.find({"document_id": document_id})
    for start in range(1, VERSIONS, 1000):
        numbers = range(start, min(start + 1000, VERSIONS))
        await versions.insert_many([{**row, "_id": str(uuid4()), "revision": -number} for number in numbers])
    lists, restores = [], []
    for _ in range(READS):
        began = time.perf_counter()
        listed = await documents.versions(caller, document_id)
        encode(listed)
        lists.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        await documents.restore(caller, document_id, listed[-1]["id"])
        restores.append((time.perf_counter() - began) * 1000)
    if len(listed) < VERSIONS:
        raise BenchmarkError(f"{len(listed)} versions were listed instead of {VERSIONS}")
    report.parameter("versions", len(listed))
    report.wanted("list_p50", percentile(lists, 0.5), "ms", "at most", 50)
    report.value("list_p99", percentile(lists, 0.99), "ms")
    report.value("restore_p50", percentile(restores, 0.5), "ms")
    report.value("restore_p99", percentile(restores, 0.99), "ms")


async def _renders(report: Report, renderer: RenderPool) -> None:
    for _ in range(20):
        await renderer.render(TEMPLATE, VLANS)
    took = []
    for _ in range(RENDERS):
        began = time.perf_counter()
        rendered = await renderer.render(TEMPLATE, VLANS)
        took.append((time.perf_counter() - began) * 1000)
        if not rendered.success:
            raise BenchmarkError(f"a template was not rendered: {rendered.error}")
    report.parameter("template", f"a loop over {len(VLANS['vlans'])} values, {len(rendered.output)} bytes")
    report.wanted("render_p50", percentile(took, 0.5), "ms", "at most", 10)
    report.value("render_p99", percentile(took, 0.99), "ms")
    report.value("renders_one_by_one", RENDERS / sum(took) * 1000, "renders/s")
    began = time.perf_counter()
    await asyncio.gather(*(_many(renderer, RENDERS // 4) for _ in range(4)))
    report.value("renders_four_at_once", RENDERS / (time.perf_counter() - began), "renders/s")


async def _many(renderer: RenderPool, count: int) -> None:
    for _ in range(count):
        await renderer.render(TEMPLATE, VLANS)
