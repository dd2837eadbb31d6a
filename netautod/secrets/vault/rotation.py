"""A rotation of all organization keys, from the new keys to the last value that was under an old one.

It is online: nodes seal with the key that they know for up to NEWEST_SECONDS more, and what they have sealed
may be written a while later. So the values are gone through at once, and again when that time is over, until
none is left. A rotation that died is gone on with by the next call, under the same new keys.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self
from uuid import uuid4

from netautod.core.work.deadlines import BULK_SECONDS
from netautod.secrets.vault.envelope import SealedField
from netautod.secrets.vault.key_ring import NEWEST_SECONDS
from netautod.secrets.vault.rewrapping import PROGRESS_COLLECTION, RewrapResult, rewrap
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database

ROTATION = "rotation"
# From the new keys on: afterwards no node seals with an old key, nor writes what was sealed with one.
SETTLED_SECONDS = NEWEST_SECONDS + BULK_SECONDS + 5.0


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """A rotation that has begun; `goes_on` if an earlier call began it."""

    id: str
    goes_on: bool

    @classmethod
    async def begin(cls, database: Database) -> Self:
        """Return the rotation that did not end, or a new one."""
        mine = uuid4().hex
        change = {"$setOnInsert": {"rotation": mine}}
        found = await database.collection(PROGRESS_COLLECTION).find_and_update(
            {"_id": ROTATION}, change, upsert=True
        )
        assert found is not None
        return cls(id=found["rotation"], goes_on=found["rotation"] != mine)

    async def keys_are_made(self, database: Database) -> datetime:
        """Return when the last of the new keys was created: written once."""
        mark = {"keys_made_at": {"$ifNull": ["$keys_made_at", "$$NOW"]}}
        found = await database.collection(PROGRESS_COLLECTION).find_and_update(
            {"_id": ROTATION}, [{"$set": mark}], upsert=True
        )
        assert found is not None
        moment: datetime = found["keys_made_at"]
        return moment

    async def end(self, database: Database) -> None:
        await database.collection(PROGRESS_COLLECTION).delete({"_id": ROTATION, "rotation": self.id})


async def unfinished(database: Database) -> bool:
    return await database.collection(PROGRESS_COLLECTION).find_one({"_id": ROTATION}) is not None


async def rewrap_everything(
    vault: Vault,
    database: Database,
    fields: Sequence[SealedField],
    rotation: Rotation,
    *,
    nodes: Callable[[], Awaitable[bool]],
    report: Callable[[str], None],
    settled_seconds: float = SETTLED_SECONDS,
) -> RewrapResult:
    """Rewrap all values after the new keys are created. `nodes` returns whether any may run: without one
    there is no wait.
    """
    made_at = await rotation.keys_are_made(database)
    result = await rewrap(vault, database, fields)
    if await nodes():
        left = made_at + timedelta(seconds=settled_seconds) - await database.now()
        if left > timedelta(0):
            report(f"waiting {left.total_seconds():.0f} s for what nodes still write under the old keys")
            await asyncio.sleep(left.total_seconds())
    while True:
        late = await rewrap(vault, database, fields)
        result = RewrapResult(
            rewrapped=result.rewrapped + late.rewrapped,
            overtaken=result.overtaken + late.overtaken,
            failed=late.failed,  # the same ones each time
        )
        if not late.rewrapped and not late.overtaken:
            break
    await rotation.end(database)
    return result
