"""Users in MongoDB: the collection `users`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.identity.users.models import Credentials, User
from netautod.identity.users.roles import store as role_store
from netautod.identity.users.roles.store import ROLES, to_role
from netautod.store.client import Database, Document
from netautod.store.expressions import milliseconds
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

USERS = "users"
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
    *role_store.INDEXES,
)
WITH_ROLES: Mapping[str, Any] = {
    "$lookup": {"from": ROLES, "localField": "role_ids", "foreignField": "_id", "as": "roles"}
}
# Of one-time codes only whether there are any.
WITHOUT_CODES: Sequence[Mapping[str, Any]] = (
    {"$set": {"otp_enabled": {"$eq": [{"$type": "$otp.active"}, "object"]}}},
    {"$unset": "otp"},
)
WITHOUT_SECRETS: Sequence[Mapping[str, Any]] = (*WITHOUT_CODES, {"$unset": "password_hash"})
ENDED: Mapping[str, int] = {"session_epoch": 1, "refresh_epoch": 1}
TOKENS_ENDED: Mapping[str, int] = {"token_epoch": 1}
LEAVING_SECONDS = 10


class UserStore:
    def __init__(self, database: Database) -> None:
        self._users = scoped(database, USERS)
        self._all = database.collection(USERS)

    async def insert(self, user: User, password_hash: str | None) -> None:
        """Insert a user. Raises Duplicate for a username or an external id that is taken."""
        await self._users.insert(user.org_id, _user_document(user, password_hash))

    async def get(self, user_id: str) -> User | None:
        return await self._one({"_id": user_id})

    async def by_username(self, username: str) -> User | None:
        return await self._one({"username": username})

    async def by_external_id(self, auth_provider: str, external_id: str) -> User | None:
        return await self._one({"auth_provider": auth_provider, "external_id": external_id})

    async def many(self, ids: Iterable[str]) -> list[User]:
        wanted = {"$match": {"_id": {"$in": list(ids)}}}
        found = await self._all.aggregate([wanted, WITH_ROLES, *WITHOUT_SECRETS])
        return [_to_user(document) for document in found]

    async def active_states(self, ids: Iterable[str]) -> dict[str, bool]:
        """Return whether each user is active, by id; a user who is gone is missing."""
        found = await self._all.find({"_id": {"$in": list(ids)}}, fields={"is_active": 1})
        return {document["_id"]: document["is_active"] for document in found}

    async def credentials(self, username: str) -> Credentials:
        """Return the user and the password hash from one read."""
        where = {"$match": {"username": username}}
        found = await self._all.aggregate([where, WITH_ROLES, *WITHOUT_CODES])
        if not found:
            return Credentials()
        return Credentials(user=_to_user(found[0]), password_hash=found[0]["password_hash"])

    async def password_hash(self, user_id: str) -> str | None:
        """Return the PHC string; None for a user of another provider."""
        found = await self._all.find_one({"_id": user_id}, fields={"password_hash": 1})
        return found["password_hash"] if found else None

    async def page(self, org_id: OrgId, page: Page) -> PageOf[User]:
        """Return one page of an organization's users in the order of their names."""
        total = await self._users.count(org_id, {})
        cut: list[Mapping[str, Any]] = [
            {"$sort": {"username": 1}},
            {"$skip": page.offset},
            {"$limit": page.limit},
        ]
        found = await self._users.aggregate(org_id, [*cut, WITH_ROLES, *WITHOUT_SECRETS])
        return PageOf(items=[_to_user(document) for document in found], total=total, page=page)

    async def all_users(self) -> list[User]:
        """List all users of the installation in the order of their names."""
        found = await self._all.aggregate([{"$sort": {"username": 1}}, WITH_ROLES, *WITHOUT_SECRETS])
        return [_to_user(document) for document in found]

    async def others_hold_principal(self, username: str) -> bool:
        """Return whether another user than that of the name holds it as a principal, in either case.

        Reads all users, as no index serves both cases: new users are rare.
        """
        same = {"$regex": f"^{re.escape(username)}$", "$options": "i"}
        where = {"username": {"$ne": username}, "ssh_principals": same}
        return bool(await self._all.find(where, fields={"_id": 1}, limit=1))

    async def counts_by_provider(self) -> dict[str, int]:
        """Count the users of each auth provider in the whole installation."""
        found = await self._all.aggregate([{"$group": {"_id": "$auth_provider", "count": {"$sum": 1}}}])
        return {row["_id"]: row["count"] for row in found}

    async def with_role(self, org_id: OrgId, role_id: str, limit: int) -> tuple[list[str], int]:
        """Return the first usernames in their order, and the number of all."""
        where = {"role_ids": role_id}
        found = await self._users.find(
            org_id, where, fields={"username": 1}, sort=[("username", 1)], limit=limit
        )
        return [document["username"] for document in found], await self._users.count(org_id, where)

    async def change(
        self,
        user: User,
        values: Mapping[str, Any],
        now: datetime,
        *,
        ends_sessions: bool = False,
        ends_api_tokens: bool = False,
        leaving: str | None = None,
    ) -> bool:
        """Set the values; return False if the user was changed since `user` was read.

        `ends_sessions`: the same write ends all of the user's sessions and refresh tokens; `ends_api_tokens`
        likewise. `leaving` is the mark of `mark_leaving`, which must still hold. Raises Duplicate for an
        external id that is taken.
        """
        kept = {"kept_session_id": None} if ends_sessions else {}
        ended = {**(ENDED if ends_sessions else {}), **(TOKENS_ENDED if ends_api_tokens else {})}
        change = {
            "$set": {**values, **kept, "updated_at": now},
            "$inc": {"revision": 1, **ended},
            "$unset": {"leaving": ""},
        }
        return await self._users.update(user.org_id, _as_read(user, leaving), change)

    async def disable_all(self, org_id: OrgId, now: datetime) -> None:
        """Disable all users of an organization that is being deleted: their sessions and tokens end."""
        ended = {"revision": 1, **ENDED, **TOKENS_ENDED}
        change = {"$set": {"is_active": False, "kept_session_id": None, "updated_at": now}, "$inc": ended}
        await self._users.update_many(org_id, {"is_active": True}, change)

    async def remove(self, user: User, *, leaving: str | None = None) -> bool:
        """Delete the user; return False if it was changed since `user` was read, or is gone."""
        return await self._users.delete(user.org_id, _as_read(user, leaving))

    async def mark_leaving(self, user: User) -> str | None:
        """Exclude an admin from the count of admins for ten seconds, in which the role may be taken away.

        None if the user was changed since `user` was read. If two admins are removed at the same time, each
        removal sees the other's mark, so that never both succeed. A mark left by a crash expires.
        """
        token = uuid4().hex
        until = {"$add": ["$$NOW", milliseconds(timedelta(seconds=LEAVING_SECONDS))]}
        stage = {"$set": {"leaving": {"token": token, "until": until}}}
        marked = await self._users.update(user.org_id, _as_read(user, None), [stage])
        return token if marked else None

    async def unmark_leaving(self, user: User, token: str) -> None:
        where = {"_id": user.id, "leaving.token": token}
        await self._users.update(user.org_id, where, {"$unset": {"leaving": ""}})

    async def other_admins(self, user: User, role_id: str) -> int:
        """Count the active users with that role beside this one, without those that are marked as leaving."""
        stays = {"$lte": [{"$ifNull": ["$leaving.until", None]}, "$$NOW"]}  # null is less than any date
        where = {"role_ids": role_id, "is_active": True, "_id": {"$ne": user.id}, "$expr": stays}
        return await self._users.count(user.org_id, where)

    async def set_own_password(
        self,
        user: User,
        password_hash: str,
        now: datetime,
        *,
        kept_session_id: str,
        keep_api_tokens: bool,
    ) -> bool:
        """Set the user's own password and end other sessions, refresh tokens and, unless kept, API tokens in
        one write.

        Returns False if the user's sessions were ended since `user` was read: by a reset, or by another such
        change.
        """
        where = {"_id": user.id, "session_epoch": user.session_epoch, "is_active": True}
        values = {
            "password_hash": password_hash,
            "password_changed_at": now,
            "must_change_password": False,
            "kept_session_id": kept_session_id,
            "updated_at": now,
        }
        ended = ENDED if keep_api_tokens else {**ENDED, **TOKENS_ENDED}
        change = {"$set": values, "$inc": {"revision": 1, **ended}}
        return await self._users.update(user.org_id, where, change)

    async def replace_hash(self, user_id: str, old: str, new: str) -> bool:
        """Store the same password hashed anew, unless the password was changed meanwhile."""
        return await self._all.update(
            {"_id": user_id, "password_hash": old}, {"$set": {"password_hash": new}}
        )

    async def revoke_refresh_tokens(self, user: User) -> None:
        await self._users.update(user.org_id, {"_id": user.id}, {"$inc": {"refresh_epoch": 1}})

    async def set_group_warning(self, user: User, warning: str | None) -> bool:
        """Store the warning; return False if it is the stored one already."""
        where = {"_id": user.id, "group_warning": {"$ne": warning}}
        return await self._users.update(user.org_id, where, {"$set": {"group_warning": warning}})

    async def logged_in(self, user: User, moment: datetime) -> None:
        await self._users.update(user.org_id, {"_id": user.id}, {"$max": {"last_login_at": moment}})

    async def _one(self, where: Mapping[str, Any]) -> User | None:
        found = await self._all.aggregate([{"$match": dict(where)}, WITH_ROLES, *WITHOUT_SECRETS])
        return _to_user(found[0]) if found else None


def _as_read(user: User, leaving: str | None) -> Document:
    where: Document = {"_id": user.id, "revision": user.revision}
    if leaving is None:
        return where
    # Both sides of the comparison are the server's clock: a node that slept finds its mark run out.
    return {**where, "leaving.token": leaving, "$expr": {"$gt": ["$leaving.until", "$$NOW"]}}


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
        "ssh_principals": list(user.ssh_principals),
        "token_epoch": user.token_epoch,
        "must_change_password": user.must_change_password,
        "password_changed_at": user.password_changed_at,
        "kept_session_id": user.kept_session_id,
        "revision": user.revision,
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
        roles=tuple(to_role(role) for role in own),
        is_active=document["is_active"],
        auth_provider=document["auth_provider"],
        external_id=document["external_id"],
        session_epoch=document["session_epoch"],
        refresh_epoch=document["refresh_epoch"],
        # Users of older releases keep the principal that they had.
        ssh_principals=tuple(document.get("ssh_principals", (document["username"],))),
        # Older documents lack these.
        token_epoch=document.get("token_epoch", 0),
        must_change_password=document.get("must_change_password", False),
        password_changed_at=document.get("password_changed_at"),
        otp_enabled=document["otp_enabled"],
        kept_session_id=document["kept_session_id"],
        revision=document["revision"],
        group_warning=document.get("group_warning"),
        created_at=document["created_at"],
        updated_at=document["updated_at"],
        last_login_at=document["last_login_at"],
    )
