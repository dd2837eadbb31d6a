"""Suspended logins as documents: one per device and credential, gone by themselves when they are old."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.activity.webhooks.names import CREDENTIAL_SUSPENDED
from netautod.activity.webhooks.outbox.pending import PendingEvents, pending_index
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.network.devices.sessions.refused_logins import (
    REMEMBERED,
    RefusedLogins,
    forget_after,
    indexes_of,
    pause_after,
)
from netautod.store.batching import Batcher
from netautod.store.client import Database, Document
from netautod.store.expressions import literal

COLLECTION = "suspended_logins"
UNDELIVERED, UNDELIVERED_AT = "owed", "owed_at"  # events, and when the first of them happened
INDEXES = (
    *indexes_of(COLLECTION),
    pending_index(COLLECTION, UNDELIVERED_AT),
)
# A row that is lifted and cannot be deleted yet: it suspends nothing, and expires by itself.
LIFTED = [{"$set": {"refusals": 0, "until": "$$NOW"}}, forget_after("$until")]


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
    """A suspension: background work does not try the login before `until`; `refusals` led to that."""

    login: LoginKey
    refusals: int
    until: datetime


class SuspensionStore(RefusedLogins):
    """A store of suspensions. `wanted` returns whether a webhook wants an event; then a refusal is stored
    with its event.
    """

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        super().__init__(database, COLLECTION)
        self._wanted = wanted
        self.undelivered = PendingEvents(self.all, field=UNDELIVERED, at=UNDELIVERED_AT)
        self._reads: Batcher[OrgId, Sequence[LoginKey], list[Suspension]] = Batcher(self._of_all)

    async def of(self, work: Work, logins: Sequence[LoginKey]) -> list[Suspension]:
        """Return the suspensions of exactly these logins, past ones too; read after the call began."""
        return await self._reads.ask(work.org_id, logins, work)

    async def _of_all(self, org_id: OrgId, batches: Sequence[Sequence[LoginKey]]) -> list[list[Suspension]]:
        ids = {login.row_id for logins in batches for login in logins}
        found = [_suspension(row) for row in await self.rows.find(org_id, {"_id": {"$in": list(ids)}})]
        return [[suspension for suspension in found if suspension.login in logins] for logins in batches]

    async def count(
        self, org_id: OrgId, login: LoginKey, *, at: datetime, data: Mapping[str, Any] | None = None
    ) -> Suspension:
        """Count one more refusal.

        `data` is what its event says beside what the row does; None where it is no event.
        """
        stages = _one_more(login, at)
        if data is not None and self._wanted(org_id, CREDENTIAL_SUSPENDED):
            stages.append(_one_more_event(data, at))
        return _suspension(await self.change(org_id, login.row_id, stages))

    async def suspended(self, now: datetime) -> int:
        """Count the suspended logins of all organizations."""
        return await self.all.count({"forget_at": {"$gt": now + REMEMBERED}})

    async def lift(self, org_id: OrgId, logins: Sequence[LoginKey]) -> None:
        """Lift the suspensions; their undelivered events stay."""
        ids = [login.row_id for login in logins]
        await self.rows.delete_many(org_id, {"_id": {"$in": ids}, UNDELIVERED_AT: None})
        if self._wanted(org_id, CREDENTIAL_SUSPENDED):
            await self.rows.update_many(org_id, {"_id": {"$in": ids}}, LIFTED)


def _one_more(login: LoginKey, at: datetime) -> list[Document]:
    same = {
        "$and": [
            {"$eq": ["$revision", login.revision]},
            {"$eq": ["$device_updated_at", login.device_updated_at]},
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
        {"$set": {"until": {"$add": [{"$literal": at}, pause_after("$refusals")]}}},
        forget_after("$until"),
    ]


def _one_more_event(data: Mapping[str, Any], at: datetime) -> Document:
    event = {
        **literal({"id": str(uuid4()), "at": at, **data}),
        "failures": "$refusals",
        "until": "$until",
    }
    return {
        "$set": {
            UNDELIVERED: {"$concatArrays": [{"$ifNull": [f"${UNDELIVERED}", []]}, [event]]},
            UNDELIVERED_AT: {"$ifNull": [f"${UNDELIVERED_AT}", {"$literal": at}]},
        }
    }


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
