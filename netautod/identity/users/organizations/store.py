"""Organizations in MongoDB: the collection `organizations`."""

from datetime import datetime

from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import Organization
from netautod.store.client import Database, Document
from netautod.store.indexes import Index

COLLECTION = "organizations"
UNRECORDED = "deletion_unrecorded"
INDEXES = (Index(collection=COLLECTION, keys=(("name", 1),), unique=True),)


class OrganizationStore:
    def __init__(self, database: Database) -> None:
        self._organizations = database.collection(COLLECTION)

    async def insert(self, organization: Organization) -> None:
        """Insert an organization. Raises Duplicate for a name that is taken."""
        await self._organizations.insert(
            {
                "_id": organization.id,
                "name": organization.name,
                "ready": organization.ready,
                "created_at": organization.created_at,
            }
        )

    async def get(self, org_id: OrgId) -> Organization | None:
        found = await self._organizations.find_one({"_id": org_id})
        return _to_organization(found) if found else None

    async def by_name(self, name: str) -> Organization | None:
        found = await self._organizations.find_one({"name": name})
        return _to_organization(found) if found else None

    async def set_ready(self, org_id: OrgId) -> None:
        await self._organizations.update({"_id": org_id}, {"$set": {"ready": True}})

    async def begin_deletion(self, org_id: OrgId, now: datetime) -> bool:
        """Begin the deletion; return whether its audit event is not written yet, whichever process has begun
        it.
        """
        where = {"_id": org_id, "deleting_since": None}
        await self._organizations.update(where, {"$set": {"deleting_since": now, UNRECORDED: True}})
        return await self._organizations.find_one({"_id": org_id, UNRECORDED: True}) is not None

    async def deletion_recorded(self, org_id: OrgId) -> None:
        await self._organizations.update({"_id": org_id}, {"$unset": {UNRECORDED: ""}})

    async def all(self) -> list[Organization]:
        """List the organizations in the order of their names."""
        found = await self._organizations.find({}, sort=[("name", 1)])
        return [_to_organization(document) for document in found]


def _to_organization(document: Document) -> Organization:
    return Organization(
        id=OrgId(document["_id"]),
        name=document["name"],
        ready=document["ready"],
        created_at=document["created_at"],
        deleting_since=document.get("deleting_since"),
    )
