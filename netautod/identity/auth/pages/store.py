"""Logins at the console that wait for a one-time code, in MongoDB: the collection `console_logins`."""

from dataclasses import dataclass, field
from datetime import datetime

from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import User
from netautod.store.client import Database
from netautod.store.indexes import Index

COLLECTION = "console_logins"
# The TTL monitor is late under load: so a row that is read is compared with the time, too.
INDEXES = (Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),)


@dataclass(frozen=True, kw_only=True)
class CodeStep:
    """A user whose password was right. Only the SHA-256 of the ticket is stored.

    `epoch` is the user's as read before the password was checked.
    """

    ticket_hash: str = field(repr=False)
    org_id: OrgId
    user_id: str
    epoch: int
    provider: str
    expires_at: datetime

    def holds(self, user: User) -> bool:
        """Return whether no change of the user since then has ended the sessions."""
        same = self.user_id == user.id and self.org_id == user.org_id and self.epoch == user.session_epoch
        return same and user.is_active and user.otp_enabled and self.provider == user.auth_provider


class CodeStepStore:
    def __init__(self, database: Database) -> None:
        self._steps = database.collection(COLLECTION)

    async def insert(self, step: CodeStep) -> None:
        await self._steps.insert(
            {
                "_id": step.ticket_hash,
                "org_id": step.org_id,
                "user_id": step.user_id,
                "epoch": step.epoch,
                "provider": step.provider,
                "expires_at": step.expires_at,
                "used_at": None,
            }
        )

    async def get(self, ticket_hash: str, now: datetime) -> CodeStep | None:
        """Return the step, None if it was used or has expired."""
        found = await self._steps.find_one({"_id": ticket_hash, "used_at": None, "expires_at": {"$gt": now}})
        if found is None:
            return None
        return CodeStep(
            ticket_hash=found["_id"],
            org_id=OrgId(found["org_id"]),
            user_id=found["user_id"],
            epoch=found["epoch"],
            provider=found["provider"],
            expires_at=found["expires_at"],
        )

    async def use(self, ticket_hash: str, now: datetime) -> bool:
        """Use the step up by compare-and-set: true for exactly one caller."""
        where = {"_id": ticket_hash, "used_at": None, "expires_at": {"$gt": now}}
        return await self._steps.update(where, {"$set": {"used_at": now}})
