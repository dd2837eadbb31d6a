"""Removes records without references, whatever is written or crashes meanwhile."""

from contextlib import suppress
from uuid import uuid4

from netautod.core.errors import Conflict, NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.registries import References
from netautod.store.client import Database
from netautod.store.scoped import scoped

# A record whose removal has begun is invisible to every read of its resource.
VISIBLE = {"removal": None}


class Removal:
    """A removal of unused records of one collection that is safe when another record comes to refer to them
    meanwhile.

    First the record is hidden, then references to it are searched. A writer that refers to a record checks
    that it is visible before and after its own write, so one of the two sides always notices the other. If we
    die in between, the record stays hidden until `resume` decides.
    """

    def __init__(self, database: Database, collection: str, references: References) -> None:
        self._all = database.collection(collection)
        self._records = scoped(database, collection)
        self._references = references

    async def remove(self, org_id: OrgId, record_id: str) -> None:
        """Remove a record. Raises NotFound, or Conflict that names what refers to the record."""
        await self._references.refuse_if_used(org_id, record_id)
        await self._hide_and_remove(org_id, record_id)

    async def resume(self) -> None:
        """Finish or take back, at start, the removals that a crash interrupted."""
        for row in await self._all.find({"removal": {"$gt": ""}}, fields={"org_id": 1}):
            # It is in use again, or another node was faster: in both cases there is nothing left to do.
            with suppress(Conflict, NotFound):
                await self._hide_and_remove(OrgId(row["org_id"]), str(row["_id"]))

    async def _hide_and_remove(self, org_id: OrgId, record_id: str) -> None:
        # Each attempt has its own token: one that takes over invalidates what an older one decided.
        token = uuid4().hex
        if not await self._records.update(org_id, {"_id": record_id}, {"$set": {"removal": token}}):
            raise NotFound(f"{self._references.resource} not found")
        mine = {"_id": record_id, "removal": token}
        try:
            await self._references.refuse_if_used(org_id, record_id)
        except Conflict:
            await self._records.update(org_id, mine, {"$unset": {"removal": ""}})
            raise
        removed = await self._records.delete(org_id, mine)
        if not removed and await self._records.find_one(org_id, {"_id": record_id}) is not None:
            raise Conflict(f"{self._references.resource} is being deleted by another request")
