"""SSH authorities in MongoDB: the collection `ssh_cas`, one document for each organization."""

from datetime import datetime

from netautod.core.identity import OrgId
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped
from netautod.vault.envelope import SealedField

COLLECTION = "ssh_cas"
FIELD = "private_key"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)


class SshAuthorityStore:
    def __init__(self, database: Database) -> None:
        self._authorities = scoped(database, COLLECTION)

    async def sealed_key(self, org_id: OrgId) -> Document | None:
        found = await self._authorities.find_one(org_id, {"_id": org_id})
        return None if found is None else found[FIELD]

    async def insert(self, org_id: OrgId, sealed: Document, *, at: datetime) -> None:
        """Raises Duplicate if the organization has an authority: the `_id` decides between two first uses."""
        document = {"_id": org_id, FIELD: sealed, "serial": 0, "created_at": at}
        await self._authorities.insert(org_id, document)

    async def next_serial(self, org_id: OrgId) -> int:
        """A number that no other certificate of the organization has or will have."""
        # If we die after this the number is lost, which is harmless.
        found = await self._authorities.find_and_update(org_id, {"_id": org_id}, {"$inc": {"serial": 1}})
        assert found is not None
        return int(found["serial"])
