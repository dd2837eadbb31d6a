"""Refused logins as documents: what both kinds of suspensions keep, gone by itself when it is old."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.expressions import milliseconds
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

FIRST, LONGEST = timedelta(minutes=15), timedelta(hours=24)
REMEMBERED = timedelta(days=7)  # after its end; a refusal later than that begins with FIRST again

MOST_SHOWN = 1000


@dataclass(frozen=True, kw_only=True)
class RefusedLogin:
    """A suspension that has not ended; `device_id` None: everywhere."""

    device_id: str | None
    device_updated_at: datetime | None
    credential_id: str
    revision: int
    refusals: int
    until: datetime


def indexes_of(collection: str) -> tuple[Index, ...]:
    return (
        Index(collection=collection, keys=(("org_id", 1), ("device_id", 1))),
        Index(collection=collection, keys=(("org_id", 1), ("credential_id", 1))),
        Index(collection=collection, keys=(("forget_at", 1),), expire_seconds=0),
    )


class RefusedLogins:
    """A collection of them, whose documents carry `device_id` and `credential_id`."""

    def __init__(self, database: Database, collection: str) -> None:
        self.rows = scoped(database, collection)
        self.all = database.collection(collection)

    async def change(self, org_id: OrgId, row_id: str, stages: list[Document]) -> Document:
        """Return the document after one write that may create it, so that none of two at the same moment is
        lost.
        """
        where = {"_id": row_id}
        try:
            row = await self.rows.find_and_update(org_id, where, stages, upsert=True)
        except Duplicate:  # another writer made the document at the same moment
            row = await self.rows.find_and_update(org_id, where, stages, upsert=True)
        assert row is not None
        return row

    async def suspended_of(
        self, org_id: OrgId, credential_ids: Sequence[str], now: datetime
    ) -> list[RefusedLogin]:
        """Return the suspensions of these credentials, a thousand at most."""
        where = {"credential_id": {"$in": list(credential_ids)}, "until": {"$gt": now}}
        return [
            RefusedLogin(
                device_id=row["device_id"],
                device_updated_at=row.get("device_updated_at"),
                credential_id=row["credential_id"],
                revision=row["revision"],
                refusals=row["refusals"],
                until=row["until"],
            )
            for row in await self.rows.find(org_id, where, limit=MOST_SHOWN)
        ]

    async def remove(self, org_id: OrgId, row_ids: Iterable[str]) -> None:
        await self.rows.delete_many(org_id, {"_id": {"$in": list(row_ids)}})

    async def align(self) -> None:
        """Let no suspension last for longer than its refusals make it: the database's clock was set back."""
        latest = {"$add": ["$$NOW", pause_after("$refusals")]}
        # The first condition is the one that an index has.
        late = [{"$gt": ["$forget_at", {"$add": ["$$NOW", milliseconds(REMEMBERED)]}]}]
        where = {"$expr": {"$and": [*late, {"$gt": ["$until", latest]}]}}
        await self.all.update_many(where, [{"$set": {"until": latest}}, forget_after("$until")])

    async def forget_device(self, org_id: OrgId, device_id: str) -> None:
        await self.rows.delete_many(org_id, {"device_id": device_id})

    async def forget_credential(self, org_id: OrgId, credential_id: str) -> None:
        await self.rows.delete_many(org_id, {"credential_id": credential_id})


def pause_after(refusals: str) -> Document:
    """Return the length of a suspension in milliseconds, doubled with each refusal that the field counts."""
    # 2 to the power of 7 times a quarter of an hour is more than a day.
    doublings = {"$min": [{"$subtract": [refusals, 1]}, 7]}
    pause = {"$toLong": {"$multiply": [milliseconds(FIRST), {"$pow": [2, doublings]}]}}
    return {"$min": [milliseconds(LONGEST), pause]}


def forget_after(end: Any) -> Document:
    """Return the stage that sets when the document goes: a while after the end."""
    return {"$set": {"forget_at": {"$add": [end, milliseconds(REMEMBERED)]}}}
