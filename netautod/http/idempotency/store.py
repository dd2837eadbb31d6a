"""The collection `idempotency_keys`: who holds a key, and the sealed answer once there is one.

`{_id: hash of the scope, org_id, state, fingerprint, record_id, owner, lease_until, expires_at}`, and in the
end `status` and `answer`.

A key is `open` while its request is in work and its lease holds, `done` with an answer, and `unclear` when
the result of a request that must not be done again is unknown. All times are the server's.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.http.idempotency.models import Claim
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "idempotency_keys"
ANSWER = "answer"
OPEN, DONE, UNCLEAR = "open", "done", "unclear"
INDEXES = (
    Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),
    Index(collection=COLLECTION, keys=(("org_id", 1),)),
)
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=ANSWER),)
LIFE = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class KeyRow:
    """A key that another request holds, or that has its answer; `answer` None: it was too large to
    be stored.
    """

    state: str
    fingerprint: str
    status: int | None
    answer: Any


class IdempotencyStore:
    def __init__(self, database: Database) -> None:
        self._keys = scoped(database, COLLECTION)

    async def claim(
        self, org_id: OrgId, key_id: str, fingerprint: str, *, lease: timedelta, again: bool, ended: bool
    ) -> Claim | KeyRow:
        """Claim the key in one write if it is new, has expired, or its lease has ended and `ended` is true.

        `again` False: what was begun under a lease that ended becomes `unclear` instead.
        """
        self._keys.require_room()
        owner, record_id = uuid4().hex, str(uuid4())
        change = _claiming(fingerprint, owner, record_id, lease, again=again, ended=ended)
        try:
            row = await self._keys.find_and_update(org_id, {"_id": key_id}, change, upsert=True)
        except Duplicate:  # two first requests at the same moment: it is there now
            row = await self._keys.find_and_update(org_id, {"_id": key_id}, change, upsert=True)
        assert row is not None
        if row["owner"] == owner:
            return Claim(id=key_id, org_id=org_id, owner=owner, record_id=row["record_id"])
        return KeyRow(
            state=row["state"],
            fingerprint=row["fingerprint"],
            status=row.get("status"),
            answer=row.get(ANSWER),
        )

    async def renew(self, claim: Claim, lease: timedelta) -> bool:
        """Renew the lease; return False if another request holds the key by now."""
        change = [{"$set": {"lease_until": _after(lease)}}]
        return await self._keys.update(claim.org_id, _held(claim), change)

    async def keep(self, claim: Claim, status: int, answer: Document | None) -> bool:
        """Store the answer; return False if another request holds the key by now."""
        kept = {} if answer is None else {ANSWER: answer}
        change = {"$set": {"state": DONE, "status": status, **kept}, "$unset": {"lease_until": ""}}
        return await self._keys.update(claim.org_id, _held(claim), change)

    async def forget(self, claim: Claim) -> None:
        """Delete the key, as if it had never been sent."""
        await self._keys.delete(claim.org_id, _held(claim))

    async def end_lease(self, claim: Claim) -> None:
        """End the lease: the next request goes on, or is refused because the result is unclear."""
        await self._keys.update(claim.org_id, _held(claim), [{"$set": {"lease_until": "$$NOW"}}])


def _held(claim: Claim) -> Document:
    return {"_id": claim.id, "owner": claim.owner}


def _after(duration: timedelta) -> Document:
    return {"$add": ["$$NOW", duration // timedelta(milliseconds=1)]}


def _claiming(
    fingerprint: str, owner: str, record_id: str, lease: timedelta, *, again: bool, ended: bool
) -> list[Document]:
    # A new key has no expires_at, and what is missing sorts before every date. The server removes expired
    # ones once a minute: until then they count as removed.
    new = {"$lte": ["$expires_at", "$$NOW"]}
    over: Document = {"$and": [{"$eq": ["$state", OPEN]}, {"$lte": ["$lease_until", "$$NOW"]}]}
    same = {"$eq": ["$fingerprint", fingerprint]}
    taken = {"$or": ["$new", {"$and": ["$ended", same]}]} if again else "$new"

    def fresh(value: Any, name: str) -> Document:
        return {"$cond": ["$new", value, f"${name}"]}

    def claimed(value: Any, name: str) -> Document:
        return {"$cond": [taken, value, f"${name}"]}

    state: Any = "$state" if again else {"$cond": ["$ended", UNCLEAR, "$state"]}
    return [
        {"$set": {"new": new, "ended": over if ended else {"$literal": False}}},
        {
            "$set": {
                "state": fresh(OPEN, "state") if again else {"$cond": ["$new", OPEN, state]},
                "fingerprint": fresh(fingerprint, "fingerprint"),
                "record_id": fresh(record_id, "record_id"),
                "expires_at": fresh(_after(LIFE), "expires_at"),
                "status": fresh("$$REMOVE", "status"),
                ANSWER: fresh("$$REMOVE", ANSWER),
                "owner": claimed(owner, "owner"),
                "lease_until": claimed(_after(lease), "lease_until"),
            }
        },
        {"$unset": ["new", "ended"]},
    ]
