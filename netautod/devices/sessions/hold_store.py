"""Refused logins as documents: one for each subject, gone by themselves when they are old."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.core.errors import Duplicate
from netautod.core.identity import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "held_logins"
WINDOW, FIRST, LONGEST = timedelta(minutes=15), timedelta(minutes=15), timedelta(hours=24)
REMEMBERED = timedelta(days=7)  # after its end; a refusal later than that begins anew
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("device_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("credential_id", 1))),
    Index(collection=COLLECTION, keys=(("forget_at", 1),), expire_seconds=0),
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A credential, of one revision, on one device (`device_id` None: on all of them).

    `most` refusals within a quarter of an hour hold it.
    """

    device_id: str | None
    credential_id: str
    revision: int
    most: int

    @property
    def row_id(self) -> str:
        return f"{self.device_id or '*'}|{self.credential_id}"


@dataclass(frozen=True, kw_only=True)
class Hold:
    """`until` None: there were refusals, but not too many."""

    subject: Subject
    until: datetime | None


class HoldStore:
    def __init__(self, database: Database) -> None:
        self._rows = scoped(database, COLLECTION)

    async def of(self, org_id: OrgId, subjects: Sequence[Subject]) -> list[Hold]:
        """What is known of exactly these."""
        known = {subject.row_id: subject for subject in subjects}
        rows = await self._rows.find(org_id, {"_id": {"$in": list(known)}})
        return [
            Hold(subject=known[row["_id"]], until=row.get("until"))
            for row in rows
            if row["revision"] == known[row["_id"]].revision
        ]

    async def count(self, org_id: OrgId, subject: Subject, *, at: datetime) -> None:
        """Notes one more refusal by one write, so that none of two at the same moment is lost."""
        where, change = {"_id": subject.row_id}, _one_more(subject, at)
        try:
            await self._rows.find_and_update(org_id, where, change, upsert=True)
        except Duplicate:  # somebody else made the document at the same moment
            await self._rows.find_and_update(org_id, where, change, upsert=True)

    async def lift(self, org_id: OrgId, subjects: Sequence[Subject]) -> None:
        await self._rows.delete_many(org_id, {"_id": {"$in": [subject.row_id for subject in subjects]}})

    async def forget_device(self, org_id: OrgId, device_id: str) -> None:
        await self._rows.delete_many(org_id, {"device_id": device_id})

    async def forget_credential(self, org_id: OrgId, credential_id: str) -> None:
        await self._rows.delete_many(org_id, {"credential_id": credential_id})


def _one_more(subject: Subject, at: datetime) -> list[Document]:
    """Refusals of the window and of this revision; too many of them hold, and so does each one after that."""
    now = {"$literal": at}
    same = {"$eq": ["$revision", subject.revision]}
    recent = {
        "$filter": {
            "input": {"$ifNull": ["$recent", []]},
            "cond": {"$gt": ["$$this", {"$literal": at - WINDOW}]},
        }
    }
    kept = {"$cond": [same, recent, []]}
    held = {"$or": [{"$gt": ["$holds", 0]}, {"$gte": [{"$size": "$recent"}, subject.most]}]}
    doubled = {"$multiply": [_milliseconds(FIRST), {"$pow": [2, {"$min": ["$holds", 7]}]}]}
    pause = {"$min": [_milliseconds(LONGEST), {"$toLong": {"$divide": [doubled, 2]}}]}
    return [
        {
            "$set": {
                "recent": {"$slice": [{"$concatArrays": [kept, [now]]}, -subject.most]},
                "holds": {"$cond": [same, {"$ifNull": ["$holds", 0]}, 0]},
                "revision": {"$literal": subject.revision},
                "device_id": {"$literal": subject.device_id},
                "credential_id": {"$literal": subject.credential_id},
            }
        },
        {"$set": {"holds": {"$add": ["$holds", {"$cond": [held, 1, 0]}]}}},
        {"$set": {"until": {"$cond": [{"$gt": ["$holds", 0]}, {"$add": [now, pause]}, None]}}},
        {"$set": {"forget_at": {"$add": [{"$ifNull": ["$until", now]}, _milliseconds(REMEMBERED)]}}},
    ]


def _milliseconds(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)
