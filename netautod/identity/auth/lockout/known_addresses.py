"""The addresses from which an account has logged in lately, in MongoDB: the collection `known_addresses`.

One document per account name (keyed, as the counters are) with a bounded list of address groups. An unknown
name has none, and costs the same read.
"""

from datetime import datetime, timedelta

from netautod.core.errors import Duplicate
from netautod.store.client import Database
from netautod.store.indexes import Index

COLLECTION = "known_addresses"
INDEXES = (Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),)
LIFETIME = timedelta(days=30)
MOST = 100
"""Addresses kept of one account, the newest: a user who travels every day fills a third of it."""


class KnownAddresses:
    def __init__(self, database: Database) -> None:
        self._accounts = database.collection(COLLECTION)

    async def knows(self, account: str, group: str, now: datetime) -> bool:
        """Return whether the account has logged in from there within 30 days."""
        lately = {"$elemMatch": {"group": group, "at": {"$gt": now - LIFETIME}}}
        return (
            await self._accounts.find_one({"_id": account, "groups": lately}, fields={"_id": 1}) is not None
        )

    async def remember(self, account: str, group: str, now: datetime) -> None:
        """Store the address of a login; drops what is older than 30 days or beyond the newest hundred."""
        before = {"$ifNull": ["$groups", []]}
        lately = {"$gt": ["$$one.at", now - LIFETIME]}
        others = {"$and": [{"$ne": ["$$one.group", group]}, lately]}
        kept = {"$filter": {"input": before, "as": "one", "cond": others}}
        newest_last = {"$concatArrays": [kept, [{"group": group, "at": now}]]}
        stage = {"$set": {"groups": {"$slice": [newest_last, -MOST]}, "expires_at": now + LIFETIME}}
        try:
            await self._accounts.update({"_id": account}, [stage], upsert=True)
        except Duplicate:  # two first logins at once: the other one has created the document
            await self._accounts.update({"_id": account}, [stage])

    async def forget(self, account: str) -> None:
        await self._accounts.delete({"_id": account})
