"""Snapshots: which version each device had when one execution captured it, kept as long as that execution.

An execution begins its snapshot as a draft, that no read shows, before the first device is noted; the end of
each attempt completes it. So whatever is left of a run that never came to its end hangs on its draft, where
retention finds it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.context import Work
from netautod.network.configs.models import Captured, Snapshot, SnapshotConfig
from netautod.network.configs.store import ConfigStore
from netautod.store.batching import batched_changes
from netautod.store.client import Change, Database, Document
from netautod.store.expressions import literal
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "snapshots"
ROWS = "snapshot_configs"
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("created_at", -1), ("_id", 1))),
    Index(
        collection=ROWS,
        keys=(("org_id", 1), ("snapshot_id", 1), ("device_name", 1), ("_id", 1)),
    ),
    # Which versions of a device are named.
    Index(collection=ROWS, keys=(("org_id", 1), ("device_id", 1), ("version", 1))),
    Index(collection=COLLECTION, keys=(("draft_since", 1),), partial={"draft_since": {"$type": "date"}}),
)
COMPLETE = {"draft_since": None}
_ROW_FIELDS = tuple(SnapshotConfig.__dataclass_fields__)
_PLAIN = tuple(name for name in Snapshot.__dataclass_fields__ if name != "id")


def snapshot_id(execution_id: str) -> str:
    """Return the id, the same for every attempt of an execution, on every node."""
    return str(uuid5(UUID(execution_id), "snapshot"))


@dataclass(frozen=True, kw_only=True)
class Draft:
    org_id: OrgId
    id: str
    execution_id: str


class Snapshots:
    """A store of snapshots. What a snapshot tells of a text is looked up in `configs` with each read: what
    readers may know of it changes with the rules of redaction.
    """

    def __init__(self, database: Database, *, configs: ConfigStore, clock: Clock) -> None:
        self._configs = configs
        self._all = database.collection(COLLECTION)
        self._snapshots = scoped(database, COLLECTION)
        self._rows = scoped(database, ROWS)
        self._notes = batched_changes(self._rows, upsert=True)
        self._clock = clock

    async def begin(self, org_id: OrgId, execution_id: str) -> None:
        """Start a snapshot, once per attempt before `add`; one that is complete already stays so."""
        first = {"execution_id": execution_id, "draft_since": self._clock.now()}
        await self._upsert(org_id, snapshot_id(execution_id), {"$setOnInsert": first})

    async def add(
        self,
        work: Work,
        execution_id: str,
        device_name: str,
        captured: Captured,
    ) -> None:
        """Record a captured device in place of what an earlier attempt recorded."""
        snapshot, config = snapshot_id(execution_id), captured.config
        row = SnapshotConfig(
            device_id=config.device_id,
            device_name=device_name,
            config_id=config.id,
            version=config.version,
            config_hash=config.shown.config_hash,  # nodes of an earlier release show the one that is stored
        )
        change = {"$set": {"snapshot_id": snapshot, **_row_document(row)}}
        noting = ({"_id": f"{snapshot}:{config.device_id}"}, change)
        try:
            await self._notes.ask(work.org_id, noting, work)
        except Duplicate:  # another writer made the document at the same moment
            await self._rows.update(work.org_id, *noting)

    async def create(
        self,
        org_id: OrgId,
        *,
        name: str,
        task_id: str | None,
        execution_id: str,
        devices_total: int,
        succeeded: int,
        failed: int,
    ) -> str:
        """Create the execution's snapshot or bring it up to date; return its id."""
        made = snapshot_id(execution_id)
        totals = {"devices_total": devices_total, "succeeded": succeeded, "failed": failed}
        values = {"name": name, "task_id": task_id, "execution_id": execution_id, **totals}
        created = {"$ifNull": ["$created_at", {"$literal": self._clock.now()}]}
        completed = {"$set": {**literal(values), "created_at": created}}
        await self._upsert(org_id, made, [completed, {"$unset": "draft_since"}])
        return made

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Snapshot]:
        """Return one page of snapshots, newest first."""
        total = await self._snapshots.count(org_id, COMPLETE)
        found = await self._snapshots.find(
            org_id, COMPLETE, sort=[("created_at", -1), ("_id", 1)], limit=page.limit, offset=page.offset
        )
        return PageOf(items=[_snapshot(document) for document in found], total=total, page=page)

    async def get(self, org_id: OrgId, wanted: str) -> tuple[Snapshot, Sequence[SnapshotConfig]]:
        """Return a snapshot and its devices by name; NotFound if there is none."""
        found = await self._snapshots.find_one(org_id, {"_id": wanted, **COMPLETE})
        if found is None:
            raise NotFound("Snapshot not found")
        rows = await self._rows.find(org_id, {"snapshot_id": wanted}, sort=[("device_name", 1), ("_id", 1)])
        hashes = await self._configs.shown_hashes(org_id, [row["config_id"] for row in rows])
        return _snapshot(found), [_row(row, hashes.get(row["config_id"])) for row in rows]

    async def drop(self, org_id: OrgId, execution_id: str) -> None:
        """Delete the snapshot of an execution, complete or not; doing it again does no harm."""
        dropped = snapshot_id(execution_id)
        hide = {"$set": {"draft_since": self._clock.now()}}
        if await self._snapshots.update(org_id, {"_id": dropped}, hide):
            # The rows first: if we die before the end, the draft leads the next pass to the rest of them.
            await self._rows.delete_many(org_id, {"snapshot_id": dropped})
            await self._snapshots.delete(org_id, {"_id": dropped})

    async def forget_device(self, org_id: OrgId, device_id: str) -> None:
        """Take a device out of all snapshots; their counts stay what they were."""
        await self._rows.delete_many(org_id, {"device_id": device_id})

    async def named(self, org_id: OrgId, device_id: str, versions: Collection[int]) -> set[int]:
        """Return the versions among these that a snapshot, or a draft, names."""
        where = {"device_id": device_id, "version": {"$in": list(versions)}}
        return {row["version"] for row in await self._rows.find(org_id, where, fields={"version": 1})}

    async def drafts(self, *, before: datetime) -> list[Draft]:
        """Return the drafts of all organizations that were started before then."""
        # Without the type in the query the server does not use the partial index.
        old = {"draft_since": {"$type": "date", "$lt": before}}
        return [
            Draft(org_id=OrgId(row["org_id"]), id=row["_id"], execution_id=row["execution_id"])
            for row in await self._all.find(old, fields={"org_id": 1, "execution_id": 1})
        ]

    async def _upsert(self, org_id: OrgId, row_id: str, change: Change) -> None:
        try:
            await self._snapshots.update(org_id, {"_id": row_id}, change, upsert=True)
        except Duplicate:  # another writer made the document at the same moment
            await self._snapshots.update(org_id, {"_id": row_id}, change)


def _row_document(row: SnapshotConfig) -> Document:
    return {name: getattr(row, name) for name in _ROW_FIELDS}


def _row(document: Document, config_hash: str | None) -> SnapshotConfig:
    fields = {name: document[name] for name in _ROW_FIELDS}
    return SnapshotConfig(**{**fields, "config_hash": config_hash})


def _snapshot(document: Document) -> Snapshot:
    return Snapshot(id=document["_id"], **{name: document[name] for name in _PLAIN})
