"""Records of plugins in MongoDB: the collection `plugin_records`.

The `_id` is `ORGANIZATION/PLUGIN/KEY`, so that the records of a plugin lie together and in order, and no
other index is needed. Values are sealed at their place.
"""

from datetime import datetime

from netautod.automation.system.plugin_storage.models import Amount, KeptRecord, Owner, RecordMark
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

COLLECTION, FIELD = "plugin_records", "value"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
_END = "\x7f"  # sorts after every character that a key may have
_PAGE = 1000


def record_id(owner: Owner, key: str) -> str:
    """Return the id of a record, which is also the vault's place of the value."""
    return f"{owner}/{key}"


class PluginRecordStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = scoped(database, COLLECTION)

    def require_room(self) -> None:
        """Raise DiskFull if nothing can be stored."""
        self._records.require_room()

    async def get(self, owner: Owner, key: str) -> KeptRecord | None:
        found = await self._records.find_one(owner.org_id, {"_id": record_id(owner, key)})
        return None if found is None else _record(owner, found)

    async def mark(self, owner: Owner, key: str) -> RecordMark | None:
        fields = {"revision": 1, "size": 1}
        found = await self._records.find_one(owner.org_id, {"_id": record_id(owner, key)}, fields=fields)
        return None if found is None else _mark(owner, found)

    async def write(self, owner: Owner, record: KeptRecord, *, over: str | None) -> bool:
        """Write over this revision, or where there is none; return False if something else is there."""
        values = {
            FIELD: record.sealed,
            "revision": record.revision,
            "size": record.size,
            "updated_at": record.updated_at,
        }
        row_id = record_id(owner, record.key)
        if over is not None:
            return await self._records.update(
                owner.org_id, {"_id": row_id, "revision": over}, {"$set": values}
            )
        try:
            await self._records.insert(owner.org_id, {"_id": row_id, "plugin": owner.plugin, **values})
        except Duplicate:
            return False
        return True

    async def delete(self, owner: Owner, key: str, *, revision: str) -> bool:
        return await self._records.delete(owner.org_id, {"_id": record_id(owner, key), "revision": revision})

    async def marks(self, owner: Owner, *, prefix: str, after: str, limit: int) -> list[RecordMark]:
        """List keys and sizes, in the order of the keys."""
        where = _between(owner, prefix, after)
        found = await self._records.find(
            owner.org_id, where, fields={"revision": 1, "size": 1}, sort=[("_id", 1)], limit=limit
        )
        return [_mark(owner, document) for document in found]

    async def many(self, owner: Owner, keys: list[str]) -> list[KeptRecord]:
        """Read the records that still exist, in the order of their keys."""
        ids = [record_id(owner, key) for key in keys]
        found = await self._records.find(owner.org_id, {"_id": {"$in": ids}}, sort=[("_id", 1)])
        return [_record(owner, document) for document in found]

    async def stored(self, owner: Owner) -> Amount:
        """Count all that is stored, one by one."""
        pipeline = [
            {"$match": _between(owner, "", "")},
            {"$group": {"_id": None, "records": {"$sum": 1}, "bytes": {"$sum": "$size"}}},
        ]
        found = await self._records.aggregate(owner.org_id, pipeline)
        return Amount(records=found[0]["records"], bytes=found[0]["bytes"]) if found else Amount()

    async def delete_all(self, owner: Owner) -> int:
        """Delete all records of the owner, a page at a time, so that no call takes long."""
        deleted = 0
        while True:
            marks = await self.marks(owner, prefix="", after="", limit=_PAGE)
            ids = [record_id(owner, mark.key) for mark in marks]
            if not ids:
                return deleted
            deleted += await self._records.delete_many(owner.org_id, {"_id": {"$in": ids}})

    async def plugins_of(self, org_id: OrgId) -> list[str]:
        """List the plugins that have records of the organization, sorted; reads only the first of each."""
        found, after = list[str](), f"{org_id}/"
        while True:
            row = await self._records.find_one(
                org_id,
                {"_id": {"$gt": after, "$lt": f"{org_id}/{_END}"}},
                fields={"plugin": 1},
                sort=[("_id", 1)],
            )
            if row is None:
                return sorted(found)
            found.append(row["plugin"])
            after = f"{org_id}/{row['plugin']}/{_END}"


def _between(owner: Owner, prefix: str, after: str) -> Document:
    bounds: Document = {"$gte": f"{owner}/{prefix}", "$lt": f"{owner}/{prefix}{_END}"}
    if after:
        bounds["$gt"] = record_id(owner, after)
    return {"_id": bounds}


def _key(owner: Owner, document: Document) -> str:
    return str(document["_id"]).removeprefix(f"{owner}/")


def _mark(owner: Owner, document: Document) -> RecordMark:
    return RecordMark(key=_key(owner, document), revision=document["revision"], size=document["size"])


def _record(owner: Owner, document: Document) -> KeptRecord:
    moment: datetime = document["updated_at"]
    return KeptRecord(
        key=_key(owner, document),
        sealed=document[FIELD],
        revision=document["revision"],
        size=document["size"],
        updated_at=moment,
    )
