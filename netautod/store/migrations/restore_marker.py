"""The mark of a restore that is not finished: a document that is there before anything else is written.

It says how far the restore is, so that it can go on; nothing of the product starts on a database that has it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from netautod.core.errors import Duplicate
from netautod.core.json.values import to_text
from netautod.store.client import Database, Document
from netautod.store.leases.lease import NEVER
from netautod.store.migrations.archive_errors import ArchiveError

COLLECTION = "unfinished_restores"
MARK_ID: Final = "restore"
Phase = Literal["claimed", "loading", "loaded"]


@dataclass(frozen=True, kw_only=True)
class UnfinishedRestore:
    """The unfinished restore of the backup `backup_id`.

    `claimed`: nothing was written, since the database may turn out not to be empty; `loading`: `frames` of
    documents are in; `loaded`: all are, and were compared.
    """

    backup_id: str
    taken_at: datetime
    phase: Phase = "claimed"
    frames: int = 0

    @classmethod
    def of(cls, found: Document) -> "UnfinishedRestore":
        return cls(
            backup_id=found["backup_id"],
            taken_at=found["taken_at"],
            phase=found["phase"],
            frames=found["frames"],
        )


class RestoreMarker:
    def __init__(self, database: Database) -> None:
        self._marks = database.collection(COLLECTION)

    async def find(self) -> UnfinishedRestore | None:
        found = await self._marks.find_one({"_id": MARK_ID})
        return None if found is None else UnfinishedRestore.of(found)

    async def begin(self, backup_id: str, taken_at: datetime) -> UnfinishedRestore:
        """Insert the mark, and return the one that exists then: this one, or one of an earlier start, of
        whichever backup.

        A new mark has no claim yet (claim.py).
        """
        new = UnfinishedRestore(backup_id=backup_id, taken_at=taken_at)
        try:
            await self._marks.insert({"_id": MARK_ID, **vars(new), "epoch": 0, "lease_until": NEVER})
        except Duplicate:
            # A mark that was made before there were claims.
            unclaimed = {"$set": {"epoch": 0, "lease_until": NEVER}}
            await self._marks.update({"_id": MARK_ID, "epoch": None}, unclaimed)
            return await self.find() or new
        return new


async def require_no_restore(database: Database) -> None:
    """Raise ArchiveError on a database whose restore is not finished."""
    found = await RestoreMarker(database).find()
    if found is not None:
        raise ArchiveError(
            f"The restore of the backup of {to_text(found.taken_at)} into this database is not finished: "
            "run `netautod restore` with the same file again"
        )
