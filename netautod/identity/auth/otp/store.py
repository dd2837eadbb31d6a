"""One-time codes in MongoDB: the field `otp` of a user, so that they live and end with the user.

A code is used up by a compare-and-set, so that one wins of any number of logins with one code, on any nodes.
"""

from collections.abc import Mapping
from typing import Any

from netautod.identity.auth.otp.models import ActiveCodes, PendingCodes
from netautod.identity.users.models import User
from netautod.identity.users.store import USERS
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

PENDING_SECRET, ACTIVE_SECRET = "otp.pending.secret", "otp.active.secret"
SEALED_FIELDS = (
    SealedField(collection=USERS, path=PENDING_SECRET),
    SealedField(collection=USERS, path=ACTIVE_SECRET),
)


class OtpStore:
    def __init__(self, database: Database) -> None:
        self._users = scoped(database, USERS)

    async def pending(self, user: User) -> PendingCodes | None:
        found = await self._part(user, "pending")
        return None if found is None else _to_pending(found)

    async def active(self, user: User) -> ActiveCodes | None:
        found = await self._part(user, "active")
        return None if found is None else _to_active(found)

    async def put_pending(self, user: User, pending: PendingCodes) -> None:
        """Store a pending secret in the place of another pending one; the active one stays."""
        document = {
            "id": pending.id,
            "secret": pending.sealed,
            "recovery": list(pending.recovery),
            "created_at": pending.created_at,
        }
        await self._users.update(user.org_id, {"_id": user.id}, {"$set": {"otp.pending": document}})

    async def activate(self, user: User, active: ActiveCodes) -> bool:
        """Make the pending codes of that id the active ones; return False if they are not pending any
        more."""
        document = {
            "id": active.id,
            "secret": active.sealed,
            "recovery": list(active.recovery),
            "last_step": active.last_step,
            "confirmed_at": active.confirmed_at,
        }
        where = {"_id": user.id, "otp.pending.id": active.id}
        return await self._users.update(user.org_id, where, {"$set": {"otp": {"active": document}}})

    async def use_step(self, user: User, codes_id: str, step: int) -> bool:
        """Use up the code of a step; return False if it or a later one was used before."""
        where = {"_id": user.id, "otp.active.id": codes_id, "otp.active.last_step": {"$lt": step}}
        return await self._users.update(user.org_id, where, {"$set": {"otp.active.last_step": step}})

    async def use_recovery(self, user: User, codes_id: str, hashed: str) -> bool:
        """Use up a recovery code; return False if it was used before or is unknown."""
        where = {"_id": user.id, "otp.active.id": codes_id, "otp.active.recovery": hashed}
        return await self._users.update(user.org_id, where, {"$pull": {"otp.active.recovery": hashed}})

    async def remove(self, user: User) -> bool:
        """Remove the codes, pending ones as well; return False if none was active."""
        where = {"_id": user.id, "otp.active": {"$type": "object"}}
        return await self._users.update(user.org_id, where, {"$unset": {"otp": ""}})

    async def _part(self, user: User, name: str) -> Document | None:
        found = await self._users.find_one(user.org_id, {"_id": user.id}, fields={f"otp.{name}": 1})
        part: Document | None = (found or {}).get("otp", {}).get(name)
        return part


def _to_pending(document: Mapping[str, Any]) -> PendingCodes:
    return PendingCodes(
        id=document["id"],
        sealed=document["secret"],
        recovery=tuple(document["recovery"]),
        created_at=document["created_at"],
    )


def _to_active(document: Mapping[str, Any]) -> ActiveCodes:
    return ActiveCodes(
        id=document["id"],
        sealed=document["secret"],
        recovery=tuple(document["recovery"]),
        last_step=document["last_step"],
        confirmed_at=document["confirmed_at"],
    )
