"""Sites as documents, and the notes about renames that still have to reach the devices."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import References
from netautod.network.sites.models import Site
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.removal import VISIBLE, Removal
from netautod.store.scoped import scoped

COLLECTION = "sites"
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), unique=True),
    Index(collection=COLLECTION, keys=(("renames", 1),), partial={"renames": {"$gt": ""}}),
    Index(collection=COLLECTION, keys=(("removal", 1),), partial={"removal": {"$gt": ""}}),
)


class SiteStore:
    """A store of sites. `renames` of a document holds one token for each rename that its followers may not
    know yet.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._all = database.collection(COLLECTION)
        self._sites = scoped(database, COLLECTION)

    def removal(self, references: References) -> Removal:
        """Return the removal of records that nothing refers to."""
        return Removal(self._database, COLLECTION, references)

    async def insert(self, org_id: OrgId, site: Site) -> None:
        """Insert a site. Raises Duplicate if the name is taken."""
        document = {
            "_id": site.id,
            "name": site.name,
            "description": site.description,
            "created_at": site.created_at,
            "updated_at": site.updated_at,
        }
        await self._sites.insert(org_id, document)

    async def get(self, org_id: OrgId, site_id: str) -> Site | None:
        found = await self._sites.find_one(org_id, {"_id": site_id, **VISIBLE})
        return None if found is None else _site(found)

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        found = await self._sites.find_one(org_id, {"name": name, **VISIBLE}, fields={"_id": 1})
        return None if found is None else str(found["_id"])

    async def names(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return names by id for the sites that exist."""
        found = await self._sites.find(org_id, {"_id": {"$in": list(ids)}, **VISIBLE}, fields={"name": 1})
        return {document["_id"]: document["name"] for document in found}

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Site]:
        """Return one page sorted by name, which is unique."""
        found = await self._sites.find(
            org_id, VISIBLE, sort=[("name", 1)], limit=page.limit, offset=page.offset
        )
        total = await self._sites.count(org_id, VISIBLE)
        return PageOf(items=[_site(document) for document in found], total=total, page=page)

    async def change(
        self, org_id: OrgId, site_id: str, fields: Mapping[str, Any], *, at: datetime, rename: str | None
    ) -> Site | None:
        """Change a site by one atomic update; `rename` is recorded in the same write, so that a crash cannot
        lose it.
        """
        update: Document = {"$set": {**fields, "updated_at": at}}
        if rename is not None:
            update["$push"] = {"renames": rename}
        found = await self._sites.find_and_update(org_id, {"_id": site_id, **VISIBLE}, update)
        return None if found is None else _site(found)

    async def finish_rename(self, org_id: OrgId, site_id: str, rename: str) -> None:
        await self._sites.update(org_id, {"_id": site_id}, {"$pull": {"renames": rename}})

    async def renames(self) -> list[tuple[OrgId, str, str]]:
        """Return (organization, site, token) of every rename that is not marked as done."""
        found = await self._all.find({"renames": {"$gt": ""}}, fields={"org_id": 1, "renames": 1})
        return [
            (OrgId(document["org_id"]), str(document["_id"]), str(token))
            for document in found
            for token in document["renames"]
        ]


def _site(document: Document) -> Site:
    return Site(
        id=document["_id"],
        name=document["name"],
        description=document["description"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
    )
