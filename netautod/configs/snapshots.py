"""Snapshots: which version each device had when one execution captured it, kept beyond that execution.

The row of a device is written when it is captured, the snapshot itself at the end of each attempt: rows of a
run that never came to its end belong to no snapshot and are never shown.
"""

from collections.abc import Sequence
from uuid import UUID, uuid5

from netautod.clock import Clock
from netautod.configs.models import Captured, Snapshot, SnapshotConfig
from netautod.errors import NotFound
from netautod.store.client import Change, Database, Document, Duplicate, OrgCollection, OrgId
from netautod.store.indexes import Index
from netautod.store.paging import Page, PageOf

COLLECTION = "snapshots"
ROWS = "snapshot_configs"
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("created_at", -1), ("_id", 1))),
    Index(
        collection=ROWS,
        keys=(("org_id", 1), ("snapshot_id", 1), ("device_name", 1), ("_id", 1)),
    ),
)
_ROW_FIELDS = tuple(SnapshotConfig.__dataclass_fields__)
_PLAIN = tuple(name for name in Snapshot.__dataclass_fields__ if name != "id")


def snapshot_id(execution_id: str) -> str:
    """The same for every attempt of an execution, on every node."""
    return str(uuid5(UUID(execution_id), "snapshot"))


class Snapshots:
    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._snapshots = database.scoped(COLLECTION)
        self._rows = database.scoped(ROWS)
        self._clock = clock

    async def add(self, org_id: OrgId, execution_id: str, device_name: str, captured: Captured) -> None:
        """Notes a captured device, replacing what an earlier attempt noted of it."""
        snapshot, config = snapshot_id(execution_id), captured.config
        row = SnapshotConfig(
            device_id=config.device_id,
            device_name=device_name,
            config_id=config.id,
            version=config.version,
            config_hash=config.config_hash,
        )
        change = {"$set": {"snapshot_id": snapshot, **row.to_json()}}
        await self._upsert(self._rows, org_id, f"{snapshot}:{config.device_id}", change)

    async def create(
        self,
        org_id: OrgId,
        *,
        name: str,
        task_id: str,
        execution_id: str,
        devices_total: int,
        succeeded: int,
        failed: int,
    ) -> str:
        """Makes the execution's snapshot or brings it up to date; answers its id."""
        made = snapshot_id(execution_id)
        totals = {"devices_total": devices_total, "succeeded": succeeded, "failed": failed}
        first = {"task_id": task_id, "execution_id": execution_id, "created_at": self._clock.now()}
        change = {"$set": {"name": name, **totals}, "$setOnInsert": first}
        await self._upsert(self._snapshots, org_id, made, change)
        return made

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Snapshot]:
        """Newest first."""
        total = await self._snapshots.count(org_id, {})
        found = await self._snapshots.find(
            org_id, {}, sort=[("created_at", -1), ("_id", 1)], limit=page.limit, offset=page.offset
        )
        return PageOf(items=[_snapshot(document) for document in found], total=total, page=page)

    async def get(self, org_id: OrgId, wanted: str) -> tuple[Snapshot, Sequence[SnapshotConfig]]:
        """A snapshot and its devices by name; NotFound if there is none."""
        found = await self._snapshots.find_one(org_id, {"_id": wanted})
        if found is None:
            raise NotFound("Snapshot not found")
        rows = await self._rows.find(org_id, {"snapshot_id": wanted}, sort=[("device_name", 1), ("_id", 1)])
        configs = [SnapshotConfig(**{name: row[name] for name in _ROW_FIELDS}) for row in rows]
        return _snapshot(found), configs

    async def _upsert(self, rows: OrgCollection, org_id: OrgId, row_id: str, change: Change) -> None:
        try:
            await rows.update(org_id, {"_id": row_id}, change, upsert=True)
        except Duplicate:  # somebody else made the document at the same moment
            await rows.update(org_id, {"_id": row_id}, change)


def _snapshot(document: Document) -> Snapshot:
    return Snapshot(id=document["_id"], **{name: document[name] for name in _PLAIN})
