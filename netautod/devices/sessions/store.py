"""Suspended logins as documents: one per device and credential, gone by themselves when they are old."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.core.errors import Duplicate
from netautod.core.identity import OrgId
from netautod.core.work import Work
from netautod.store.batching import Batcher
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "suspended_logins"
FIRST, LONGEST = timedelta(minutes=15), timedelta(hours=24)
REMEMBERED = timedelta(days=7)  # after its end; a refusal later than that begins with FIRST again
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("device_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("credential_id", 1))),
    Index(collection=COLLECTION, keys=(("forget_at", 1),), expire_seconds=0),
)


@dataclass(frozen=True, kw_only=True)
class LoginKey:
    """A login by what it depends on: a later revision, or a later edit of the device, is another login."""

    device_id: str
    credential_id: str
    revision: int
    device_updated_at: datetime

    @property
    def row_id(self) -> str:
        return f"{self.device_id}|{self.credential_id}"


@dataclass(frozen=True, kw_only=True)
class Suspension:
    """Background work does not try the login before `until`; `refusals` led to that."""

    login: LoginKey
    refusals: int
    until: datetime


class SuspensionStore:
    def __init__(self, database: Database) -> None:
        self._rows = scoped(database, COLLECTION)
        self._reads: Batcher[OrgId, Sequence[LoginKey], list[Suspension]] = Batcher(self._of_all)

    async def of(self, work: Work, logins: Sequence[LoginKey]) -> list[Suspension]:
        """The suspensions of exactly these logins, past ones too; read after the call began."""
        return await self._reads.ask(work.org_id, logins, work)

    async def _of_all(self, org_id: OrgId, asked: Sequence[Sequence[LoginKey]]) -> list[list[Suspension]]:
        ids = {login.row_id for logins in asked for login in logins}
        found = [_suspension(row) for row in await self._rows.find(org_id, {"_id": {"$in": list(ids)}})]
        return [[suspension for suspension in found if suspension.login in logins] for logins in asked]

    async def count(self, org_id: OrgId, login: LoginKey, *, at: datetime) -> Suspension:
        """Notes one more refusal by one write, so that none of two at the same moment is lost."""
        where = {"_id": login.row_id}
        change = _one_more(login, at)
        try:
            row = await self._rows.find_and_update(org_id, where, change, upsert=True)
        except Duplicate:  # somebody else made the document at the same moment
            row = await self._rows.find_and_update(org_id, where, change, upsert=True)
        assert row is not None
        return _suspension(row)

    async def lift(self, org_id: OrgId, logins: Sequence[LoginKey]) -> None:
        await self._rows.delete_many(org_id, {"_id": {"$in": [login.row_id for login in logins]}})

    async def forget_device(self, org_id: OrgId, device_id: str) -> None:
        await self._rows.delete_many(org_id, {"device_id": device_id})

    async def forget_credential(self, org_id: OrgId, credential_id: str) -> None:
        await self._rows.delete_many(org_id, {"credential_id": credential_id})


def _one_more(login: LoginKey, at: datetime) -> list[Document]:
    same = {
        "$and": [
            {"$eq": ["$revision", login.revision]},
            {"$eq": ["$device_updated_at", login.device_updated_at]},
        ]
    }
    # 2 to the power of 7 times a quarter of an hour is more than a day.
    doublings = {"$min": [{"$subtract": ["$refusals", 1]}, 7]}
    pause = {
        "$min": [
            _milliseconds(LONGEST),
            {"$toLong": {"$multiply": [_milliseconds(FIRST), {"$pow": [2, doublings]}]}},
        ]
    }
    return [
        {
            "$set": {
                "refusals": {"$cond": [same, {"$add": [{"$ifNull": ["$refusals", 0]}, 1]}, 1]},
                "device_id": {"$literal": login.device_id},
                "credential_id": {"$literal": login.credential_id},
                "revision": {"$literal": login.revision},
                "device_updated_at": {"$literal": login.device_updated_at},
            }
        },
        {"$set": {"until": {"$add": [{"$literal": at}, pause]}}},
        {"$set": {"forget_at": {"$add": ["$until", _milliseconds(REMEMBERED)]}}},
    ]


def _milliseconds(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def _suspension(row: Document) -> Suspension:
    return Suspension(
        login=LoginKey(
            device_id=row["device_id"],
            credential_id=row["credential_id"],
            revision=row["revision"],
            device_updated_at=row["device_updated_at"],
        ),
        refusals=row["refusals"],
        until=row["until"],
    )
