"""The database's own account of the queries behind a piece of work (MongoDB's profiler)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient

from netautod.store.client import Database

Entry = dict[str, Any]


class Profile:
    """Made by `profiled`."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def take(self, collection: str | None = None) -> list[Entry]:
        """The operations on the collection (else on all of ours) since the last call, in their order."""
        self._raw.command("profile", 0)
        ours = {"$not": {"$regex": "system"}} if collection is None else f"{self._raw.name}.{collection}"
        entries = list(self._raw["system.profile"].find({"ns": ours}).sort("ts", 1))
        self._raw.drop_collection("system.profile")
        self._raw.command("profile", 2)
        return entries

    def cost(self) -> tuple[int, int]:
        """Index keys and documents looked at since the last call, by no scan of a whole collection."""
        entries = self.take()
        assert not any("COLLSCAN" in entry.get("planSummary", "") for entry in entries)
        return sum(entry["keysExamined"] for entry in entries), sum(
            entry["docsExamined"] for entry in entries
        )


@contextmanager
def profiled(database: Database, mongo_uri: str) -> Iterator[Profile]:
    with MongoClient[Entry](mongo_uri) as client:
        raw = client[database.name]
        # The plans of earlier tests, which asked the same of other documents in this database.
        for collection in raw.list_collection_names():
            raw.command("planCacheClear", collection)
        raw.command("profile", 2)
        yield Profile(raw)
        raw.command("profile", 0)
