"""Suspensions for callers who may not manage credentials as documents: one for each subject."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.core.identity.caller import OrgId
from netautod.network.devices.sessions.refused_logins import (
    RefusedLogins,
    forget_after,
    indexes_of,
    pause_after,
)
from netautod.store.client import Database, Document

COLLECTION = "caller_suspensions"
WINDOW = timedelta(minutes=15)
INDEXES = indexes_of(COLLECTION)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A credential, of one revision, on one device (`device_id` None: on all of them).

    `most` refusals within a quarter of an hour suspend it.
    """

    device_id: str | None
    credential_id: str
    revision: int
    most: int

    @property
    def row_id(self) -> str:
        return f"{self.device_id or '*'}|{self.credential_id}"


@dataclass(frozen=True, kw_only=True)
class CallerSuspension:
    """A suspension for callers. `until` None: there were refusals, but not too many."""

    subject: Subject
    until: datetime | None


class CallerSuspensionStore(RefusedLogins):
    def __init__(self, database: Database) -> None:
        super().__init__(database, COLLECTION)

    async def of(self, org_id: OrgId, subjects: Sequence[Subject]) -> list[CallerSuspension]:
        """Return the suspensions of these subjects, at exactly these revisions of the credential."""
        known = {subject.row_id: subject for subject in subjects}
        rows = await self.rows.find(org_id, {"_id": {"$in": list(known)}})
        return [
            CallerSuspension(subject=known[row["_id"]], until=row.get("until"))
            for row in rows
            if row["revision"] == known[row["_id"]].revision
        ]

    async def count(self, org_id: OrgId, subject: Subject, *, at: datetime) -> None:
        """Count one more refusal."""
        await self.change(org_id, subject.row_id, _one_more(subject, at))

    async def lift(self, org_id: OrgId, subjects: Sequence[Subject]) -> None:
        await self.remove(org_id, (subject.row_id for subject in subjects))


def _one_more(subject: Subject, at: datetime) -> list[Document]:
    """Return the change by one more refusal. Refusals of the window and of this revision count; too many
    suspend, and so does each after that.
    """
    now = {"$literal": at}
    same = {"$eq": ["$revision", subject.revision]}
    recent = {
        "$filter": {
            "input": {"$ifNull": ["$recent", []]},
            "cond": {"$gt": ["$$this", {"$literal": at - WINDOW}]},
        }
    }
    kept = {"$cond": [same, recent, []]}
    suspends = {"$or": [{"$gt": ["$refusals", 0]}, {"$gte": [{"$size": "$recent"}, subject.most]}]}
    until = {"$add": [now, pause_after("$refusals")]}
    return [
        {
            "$set": {
                "recent": {"$slice": [{"$concatArrays": [kept, [now]]}, -subject.most]},
                "refusals": {"$cond": [same, {"$ifNull": ["$refusals", 0]}, 0]},
                "revision": {"$literal": subject.revision},
                "device_id": {"$literal": subject.device_id},
                "credential_id": {"$literal": subject.credential_id},
            }
        },
        {"$set": {"refusals": {"$add": ["$refusals", {"$cond": [suspends, 1, 0]}]}}},
        {"$set": {"until": {"$cond": [{"$gt": ["$refusals", 0]}, until, None]}}},
        forget_after({"$ifNull": ["$until", now]}),
    ]
