"""The lines of execution logs in MongoDB: the append-only collection `execution_log`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from netautod.automation.executions.models import LEVELS, Closing, LogEntry
from netautod.core.errors import Duplicate, Unavailable
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

NUMBER_TRIES = 20
COLLECTION = "execution_log"
INDEXES = (Index(collection=COLLECTION, keys=(("execution_id", 1), ("seq", 1)), unique=True),)


class ExecutionLogStore:
    def __init__(self, database: Database) -> None:
        self._entries = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)

    async def append(self, org_id: OrgId, execution_id: str, entries: Sequence[LogEntry]) -> None:
        """Insert log lines.

        A line whose number exists already came from a node that lost its lease; the first one stays.
        """
        await self._entries.insert_many(org_id, [_to_document(execution_id, entry) for entry in entries])

    async def append_last(self, org_id: OrgId, execution_id: str, last: Closing, at: datetime) -> None:
        """Append the last line behind all others, once, whatever the limits of the log."""
        for _ in range(NUMBER_TRIES):
            seq = (await self.size(org_id, execution_id))[0] + 1
            entry = LogEntry(seq=seq, at=at, level=last.level, device_id=None, message=last.text)
            document = {**_to_document(execution_id, entry), "_id": f"{execution_id}:last"}
            with suppress(Duplicate):
                return await self._entries.insert(org_id, document)
            if await self._entries.find_one(org_id, {"_id": f"{execution_id}:last"}, fields={"_id": 1}):
                return None
        raise Unavailable(f"the log of execution {execution_id} is being written to all the time")

    async def size(self, org_id: OrgId, execution_id: str) -> tuple[int, int, int]:
        """Return (last seq, lines, bytes) so far."""
        found = await self._entries.aggregate(
            org_id,
            [
                {"$match": {"execution_id": execution_id}},
                {
                    "$group": {
                        "_id": None,
                        "last": {"$max": "$seq"},
                        "lines": {"$sum": 1},
                        "bytes": {"$sum": {"$strLenBytes": "$message"}},
                    }
                },
            ],
        )
        return (found[0]["last"], found[0]["lines"], found[0]["bytes"]) if found else (0, 0, 0)

    async def read(
        self,
        org_id: OrgId,
        execution_id: str,
        after_seq: int,
        limit: int,
        *,
        level: str | None = None,
        device_id: str | None = None,
    ) -> list[LogEntry]:
        """Read lines after a number, oldest first.

        `level`: lines of this level and of worse ones. `device_id`: lines about that device.
        """
        narrowed = {"execution_id": execution_id, "seq": {"$gt": after_seq}, **_narrowed(level, device_id)}
        found = await self._entries.find(org_id, narrowed, sort=[("seq", 1)], limit=limit)
        return [_to_entry(document) for document in found]

    async def newest(
        self,
        org_id: OrgId,
        execution_id: str,
        limit: int,
        *,
        level: str | None = None,
        device_id: str | None = None,
    ) -> list[LogEntry]:
        """Return the newest of the lines that `read` finds, oldest first."""
        narrowed = {"execution_id": execution_id, **_narrowed(level, device_id)}
        found = await self._entries.find(org_id, narrowed, sort=[("seq", -1)], limit=limit)
        return [_to_entry(document) for document in reversed(found)]

    async def last_seq(self, org_id: OrgId, execution_id: str) -> int:
        """Return the number of the newest line, 0 without one."""
        found = await self._entries.find_one(
            org_id, {"execution_id": execution_id}, fields={"seq": 1}, sort=[("seq", -1)]
        )
        return 0 if found is None else int(found["seq"])

    async def after(self, wanted: Mapping[str, tuple[OrgId, int]], limit: int) -> dict[str, list[LogEntry]]:
        """Read the lines of several executions, each after its own number.

        `wanted` gives organization and number by execution id. `limit` counts the lines of all, ordered by
        execution.
        """
        behind = [
            {"org_id": org_id, "execution_id": one, "seq": {"$gt": seq}}
            for one, (org_id, seq) in wanted.items()
        ]
        order = [("execution_id", 1), ("seq", 1)]
        found: dict[str, list[LogEntry]] = {}
        # Each condition names its organization, so that only the shards of these organizations are queried.
        for document in await self._all.find({"$or": behind}, sort=order, limit=limit):
            found.setdefault(document["execution_id"], []).append(_to_entry(document))
        return found

    async def delete_of(self, org_id: OrgId, execution_ids: Sequence[str]) -> None:
        await self._entries.delete_many(org_id, {"execution_id": {"$in": list(execution_ids)}})


def _narrowed(level: str | None, device_id: str | None) -> Document:
    narrowed: Document = {}
    if level is not None:
        narrowed["level"] = {"$in": LEVELS[LEVELS.index(level) :]}
    if device_id is not None:
        narrowed["device_id"] = device_id
    return narrowed


def _to_document(execution_id: str, entry: LogEntry) -> Document:
    return {
        "_id": f"{execution_id}:{entry.seq}",
        "execution_id": execution_id,
        "seq": entry.seq,
        "at": entry.at,
        "level": entry.level,
        "device_id": entry.device_id,
        "message": entry.message,
    }


def _to_entry(document: Document) -> LogEntry:
    return LogEntry(
        seq=document["seq"],
        at=document["at"],
        level=document["level"],
        device_id=document["device_id"],
        message=document["message"],
    )
