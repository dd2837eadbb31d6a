"""Roles in MongoDB: the collection `roles`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import References
from netautod.identity.users.models import KNOWS_READING, Role
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.removal import VISIBLE, Removal
from netautod.store.scoped import scoped

ROLES = "roles"
INDEXES = (
    Index(collection=ROLES, keys=(("org_id", 1), ("name", 1)), unique=True),
    Index(collection=ROLES, keys=(("removal", 1),), partial={"removal": {"$gt": ""}}),
)


class RoleStore:
    """A store of roles. A role whose removal has begun is invisible here; its users keep it until it is
    gone."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._roles = scoped(database, ROLES)
        self._all = database.collection(ROLES)

    def removal(self, references: References) -> Removal:
        """Return the removal, which deletes records without references."""
        return Removal(self._database, ROLES, references)

    async def insert(self, role: Role) -> None:
        """Insert a role. Raises Duplicate for a name that is taken."""
        await self._roles.insert(role.org_id, _document(role))

    async def insert_missing(self, org_id: OrgId, roles: Sequence[Role]) -> None:
        """Insert those whose name the organization does not have yet."""
        await self._roles.insert_many(org_id, [_document(role) for role in roles])

    async def get(self, org_id: OrgId, role_id: str) -> Role | None:
        found = await self._roles.find_one(org_id, {"_id": role_id, **VISIBLE})
        return to_role(found) if found else None

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Role]:
        """Return one page of the roles, sorted by name, which is unique."""
        total = await self._roles.count(org_id, VISIBLE)
        found = await self._roles.find(
            org_id, VISIBLE, sort=[("name", 1)], limit=page.limit, offset=page.offset
        )
        return PageOf(items=[to_role(document) for document in found], total=total, page=page)

    async def by_names(self, org_id: OrgId, names: Iterable[str]) -> list[Role]:
        found = await self._roles.find(org_id, {"name": {"$in": list(names)}, **VISIBLE})
        return [to_role(document) for document in found]

    async def visible(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, Role]:
        """Return the roles with these ids, by id, without unknown roles and those that are being removed."""
        found = await self._roles.find(org_id, {"_id": {"$in": list(ids)}, **VISIBLE})
        return {document["_id"]: to_role(document) for document in found}

    async def change(self, role: Role, changes: Mapping[str, Any], now: datetime) -> Role | None:
        """Change a role unless it was changed since it was read.

        None if its permissions are no longer those of `role`, or it is gone. Raises Duplicate.
        """
        where = {"_id": role.id, "permissions": list(role.permissions), "builtin": False, **VISIBLE}
        change = {"$set": {**changes, "updated_at": now}}
        found = await self._roles.find_and_update(role.org_id, where, change)
        return to_role(found) if found else None

    async def set_builtin(self, name: str, permissions: Sequence[str], now: datetime) -> None:
        """Give a built-in role of every organization the permissions that this release defines."""
        where = {"name": name, "builtin": True, "permissions": {"$ne": list(permissions)}}
        change = {"$set": {"permissions": list(permissions), "updated_at": now}}
        await self._all.update_many(where, change)


def to_role(document: Mapping[str, Any]) -> Role:
    """Convert a document; also one that the store of users joins to a user."""
    return Role(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        name=document["name"],
        description=document["description"],
        permissions=tuple(document["permissions"]),
        builtin=document["builtin"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
    )


def _document(role: Role) -> Document:
    return {
        "_id": role.id,
        "name": role.name,
        "description": role.description,
        "permissions": list(role.permissions),
        KNOWS_READING: True,
        "builtin": role.builtin,
        "created_at": role.created_at,
        "updated_at": role.updated_at,
    }
