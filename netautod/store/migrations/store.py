"""The state of the migrations: the collection `migrations`, a document for each number.

`{_id: number, name, version, since, host, began_at, done_at, seconds, error}`; without `done_at` it is not
finished. `error` is why the last try failed. The times are the server's.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod import __version__
from netautod.store.client import Database, Document
from netautod.store.expressions import literal
from netautod.store.migrations.model import Migration

COLLECTION = "migrations"


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A migration that was applied: by which version of the program, on which host; `seconds` of the node
    that finished it. `since`: the first version that knows it.
    """

    number: int
    name: str
    version: str
    since: str
    host: str
    began_at: datetime
    done_at: datetime | None
    seconds: float | None
    error: str | None

    @classmethod
    def from_document(cls, found: Document) -> "Applied":
        return cls(
            number=found["_id"],
            name=found["name"],
            version=found["version"],
            since=found.get("since") or found["version"],  # records of 0.1.0 lack it
            host=found["host"],
            began_at=found["began_at"],
            done_at=found.get("done_at"),
            seconds=found.get("seconds"),
            error=found.get("error"),
        )


class MigrationStore:
    def __init__(self, database: Database) -> None:
        self._applied = database.collection(COLLECTION)

    async def all(self) -> list[Applied]:
        """Return the migrations by number, also those under way."""
        return [Applied.from_document(found) for found in await self._applied.find({}, sort=[("_id", 1)])]

    async def begin(self, migration: Migration) -> None:
        """Record the start before its first change, so that an older program that starts now is refused."""
        own = {
            "name": migration.name,
            "version": __version__,
            "since": migration.since,
            "host": socket.gethostname(),
        }
        change = {**literal(own), "began_at": {"$ifNull": ["$began_at", "$$NOW"]}}
        await self._applied.update({"_id": migration.number}, [{"$set": change}], upsert=True)

    async def note_failure(self, migration: Migration, error: str) -> None:
        await self._applied.update({"_id": migration.number, "done_at": None}, {"$set": {"error": error}})

    async def finish(self, migration: Migration, *, seconds: float) -> None:
        change = {"done_at": "$$NOW", **literal({"seconds": round(seconds, 3)})}
        stages: list[Mapping[str, Any]] = [{"$set": change}, {"$unset": "error"}]
        await self._applied.update({"_id": migration.number, "done_at": None}, stages)
