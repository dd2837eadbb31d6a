"""The time of each user's last look-up, in MongoDB: the collection `directory_lookups`.

A row is a user (of a provider that looks up accounts) or a session (of one that looks up logins; with the
sealed token that its login left).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database
from netautod.store.clock.alignment import wait_no_longer
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "directory_lookups"
FIELD = "token"
INDEXES = (Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),)
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)


@dataclass(frozen=True, kw_only=True)
class LookupTurn:
    """The right to look up one row until `ends_at`; `sealed` is the token that was stored when the turn
    began.
    """

    key: str
    org_id: OrgId
    claim: str
    ends_at: datetime
    sealed: Any = field(default=None, repr=False)


class DirectoryLookupStore:
    def __init__(self, database: Database) -> None:
        self._lookups = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)

    async def insert(self, org_id: OrgId, key: str, sealed: Any, *, now: datetime, until: datetime) -> None:
        """Insert a row for a login that left a token: due from the first refresh on."""
        document = {"_id": key, FIELD: sealed, "next_at": now, "free_at": now, "expires_at": until}
        await self._lookups.insert(org_id, document)

    async def take_turn(
        self, turn: LookupTurn, *, now: datetime, next_at: datetime, until: datetime | None
    ) -> LookupTurn | None:
        """Take the turn by compare-and-set; None if another node has it, the last one is too recent, or the
        row is missing.

        `until`: the row is created if there is none, and kept until then. A node that dies in its turn loses
        it at `ends_at`.
        """
        where = {"_id": turn.key, "next_at": {"$lte": now}, "free_at": {"$lte": now}}
        values: dict[str, Any] = {"next_at": next_at, "free_at": turn.ends_at, "claim": turn.claim}
        if until is not None:
            values["expires_at"] = until
        try:
            found = await self._lookups.find_and_update(
                turn.org_id, where, {"$set": values}, upsert=until is not None
            )
        except Duplicate:  # the row is there, and not due
            return None
        if found is None:
            return None
        return LookupTurn(
            key=turn.key,
            org_id=turn.org_id,
            claim=turn.claim,
            ends_at=turn.ends_at,
            sealed=found.get(FIELD),
        )

    async def put_token(self, turn: LookupTurn, sealed: Any) -> bool:
        """Replace the token in one write, so that there is always one; return False if the turn was lost."""
        return await self._lookups.update(turn.org_id, _own(turn), {"$set": {FIELD: sealed}})

    async def end_turn(self, turn: LookupTurn, now: datetime) -> None:
        await self._lookups.update(turn.org_id, _own(turn), {"$set": {"free_at": now}})

    async def align(self, interval: timedelta, turn: timedelta) -> None:
        """Let no row wait for longer than an interval or a turn: the database's clock was set back."""
        await wait_no_longer(self._all, "next_at", interval)
        await wait_no_longer(self._all, "free_at", turn)

    async def delete(self, org_id: OrgId, key: str) -> None:
        await self._lookups.delete(org_id, {"_id": key})


def _own(turn: LookupTurn) -> dict[str, Any]:
    return {"_id": turn.key, "claim": turn.claim}
