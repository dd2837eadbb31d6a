"""Users and roles in MongoDB: the collections `users` and `roles`, and nobody else knows their documents."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.store.client import Database, Document, OrgId
from netautod.store.indexes import Index
from netautod.store.paging import Page, PageOf
from netautod.users.models import Role, User

USERS, ROLES = "users", "roles"
INDEXES = (
    # Login has no organization field, so a name is unique over the whole installation.
    Index(collection=USERS, keys=(("username", 1),), unique=True),
    Index(collection=USERS, keys=(("org_id", 1), ("username", 1))),
    Index(collection=USERS, keys=(("role_ids", 1),)),
    Index(
        collection=USERS,
        keys=(("auth_provider", 1), ("external_id", 1)),
        unique=True,
        partial={"external_id": {"$type": "string"}},
    ),
    Index(collection=ROLES, keys=(("org_id", 1), ("name", 1)), unique=True),
)
WITH_ROLES: Mapping[str, Any] = {
    "$lookup": {"from": ROLES, "localField": "role_ids", "foreignField": "_id", "as": "roles"}
}
WITHOUT_HASH: Mapping[str, Any] = {"$project": {"password_hash": 0}}


class UserStore:
    def __init__(self, database: Database) -> None:
        self._users = database.scoped(USERS)
        self._all = database.collection(USERS)

    async def insert(self, user: User, password_hash: str | None) -> None:
        """Raises Duplicate for a username or an external id that is taken."""
        await self._users.insert(user.org_id, _user_document(user, password_hash))

    async def get(self, user_id: str) -> User | None:
        return await self._one({"_id": user_id})

    async def by_username(self, username: str) -> User | None:
        return await self._one({"username": username})

    async def password_hash(self, user_id: str) -> str | None:
        """The PHC string; None for a user of another provider."""
        found = await self._all.find_one({"_id": user_id}, fields={"password_hash": 1})
        return found["password_hash"] if found else None

    async def page(self, org_id: OrgId, page: Page) -> PageOf[User]:
        """An organization's users in the order of their names."""
        total = await self._users.count(org_id, {})
        cut: list[Mapping[str, Any]] = [
            {"$sort": {"username": 1}},
            {"$skip": page.offset},
            {"$limit": page.limit},
        ]
        found = await self._users.aggregate(org_id, [*cut, WITH_ROLES, WITHOUT_HASH])
        return PageOf(items=[_to_user(document) for document in found], total=total, page=page)

    async def everyone(self) -> list[User]:
        """All users of the installation in the order of their names."""
        found = await self._all.aggregate([{"$sort": {"username": 1}}, WITH_ROLES, WITHOUT_HASH])
        return [_to_user(document) for document in found]

    async def set_password(self, user: User, password_hash: str, now: datetime) -> bool:
        """A new password; in the same write all sessions and refresh tokens of the user die."""
        change = {"password_hash": password_hash, "updated_at": now}
        return await self._change_and_end(user, {"_id": user.id, "auth_provider": user.auth_provider}, change)

    async def disable(self, user: User, now: datetime) -> bool:
        """Refuses logins; in the same write all sessions and refresh tokens of the user die."""
        return await self._change_and_end(user, {"_id": user.id}, {"is_active": False, "updated_at": now})

    async def enable(self, user: User, now: datetime) -> None:
        await self._users.update(
            user.org_id, {"_id": user.id}, {"$set": {"is_active": True, "updated_at": now}}
        )

    async def replace_hash(self, user_id: str, old: str, new: str) -> bool:
        """The same password hashed anew, unless the password was changed meanwhile."""
        return await self._all.update(
            {"_id": user_id, "password_hash": old}, {"$set": {"password_hash": new}}
        )

    async def revoke_refresh_tokens(self, user: User) -> None:
        await self._users.update(user.org_id, {"_id": user.id}, {"$inc": {"refresh_epoch": 1}})

    async def logged_in(self, user: User, moment: datetime) -> None:
        await self._users.update(user.org_id, {"_id": user.id}, {"$max": {"last_login_at": moment}})

    async def active_with_role(self, org_id: OrgId, role_id: str) -> int:
        return await self._users.count(org_id, {"role_ids": role_id, "is_active": True})

    async def _change_and_end(self, user: User, where: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
        return await self._users.update(
            user.org_id, where, {"$set": dict(change), "$inc": {"session_epoch": 1, "refresh_epoch": 1}}
        )

    async def _one(self, where: Mapping[str, Any]) -> User | None:
        found = await self._all.aggregate([{"$match": dict(where)}, WITH_ROLES, WITHOUT_HASH])
        return _to_user(found[0]) if found else None


class RoleStore:
    def __init__(self, database: Database) -> None:
        self._roles = database.scoped(ROLES)
        self._all = database.collection(ROLES)

    async def insert_missing(self, org_id: OrgId, roles: Sequence[Role]) -> None:
        """Inserts those whose name the organization does not have yet."""
        await self._roles.insert_many(org_id, [_role_document(role) for role in roles])

    async def by_names(self, org_id: OrgId, names: Iterable[str]) -> list[Role]:
        found = await self._roles.find(org_id, {"name": {"$in": list(names)}})
        return [_to_role(document) for document in found]

    async def set_builtin(self, name: str, permissions: Sequence[str], now: datetime) -> None:
        """Gives a built-in role of every organization the permissions that this release defines."""
        where = {"name": name, "builtin": True, "permissions": {"$ne": list(permissions)}}
        change = {"$set": {"permissions": list(permissions), "updated_at": now}}
        await self._all.update_many(where, change)


def _user_document(user: User, password_hash: str | None) -> Document:
    return {
        "_id": user.id,
        "username": user.username,
        "email": user.email,
        "display_name": user.display_name,
        "role_ids": [role.id for role in user.roles],
        "is_active": user.is_active,
        "auth_provider": user.auth_provider,
        "external_id": user.external_id,
        "password_hash": password_hash,
        "session_epoch": user.session_epoch,
        "refresh_epoch": user.refresh_epoch,
        "created_at": user.created_at,
        "updated_at": user.updated_at,
        "last_login_at": user.last_login_at,
    }


def _to_user(document: Document) -> User:
    # A role id of another organization, however it came here, grants nothing.
    own = [role for role in document["roles"] if role["org_id"] == document["org_id"]]
    return User(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        username=document["username"],
        email=document["email"],
        display_name=document["display_name"],
        roles=tuple(_to_role(role) for role in own),
        is_active=document["is_active"],
        auth_provider=document["auth_provider"],
        external_id=document["external_id"],
        session_epoch=document["session_epoch"],
        refresh_epoch=document["refresh_epoch"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
        last_login_at=document["last_login_at"],
    )


def _role_document(role: Role) -> Document:
    return {
        "_id": role.id,
        "name": role.name,
        "description": role.description,
        "permissions": list(role.permissions),
        "builtin": role.builtin,
        "created_at": role.created_at,
        "updated_at": role.updated_at,
    }


def _to_role(document: Document) -> Role:
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
