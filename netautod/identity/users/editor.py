"""Changes of stored users: who may make them, which sessions they end, and the last admin, who must stay."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, Forbidden, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.registries import Followers
from netautod.identity.users.changes import UserChange, change_of
from netautod.identity.users.models import Role, User
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.rules import PasswordRules
from netautod.identity.users.principals import GRANT, PrincipalRules
from netautod.identity.users.rank import require_rank
from netautod.identity.users.roles.grants import RoleGrants
from netautod.identity.users.store import UserStore

NOT_FOUND = "User not found"
USERNAME_TAKEN = "User with this username already exists"
EXTERNAL_ID_TAKEN = "User with this external_id already exists"
LAST_ADMIN = "The last active admin of an organization cannot be disabled, deleted or lose the role admin"
AUDITED = ("is_active", "ssh_principals")  # changes whose new value the audit records
BUSY = "The user is being changed by other requests; try again"
ATTEMPTS = 5


class UserEditor:
    """An editor that decides on the user as read, and decides again if another request was faster."""

    def __init__(
        self,
        *,
        store: UserStore,
        grants: RoleGrants,
        hasher: PasswordHasher,
        passwords: PasswordRules,
        clock: Clock,
        audit: AuditLog,
        principals: PrincipalRules,
        changed: Followers,
        password_changed: Followers,
    ) -> None:
        self._store = store
        self._grants = grants
        self._hasher = hasher
        self._passwords = passwords
        self._clock = clock
        self._audit = audit
        self._principals = principals
        self._changed = changed
        self._password_changed = password_changed

    async def get(self, org_id: OrgId, user_id: str) -> User:
        """Return the user. Raises NotFound, also for a user of another organization."""
        user = await self._store.get(user_id)
        if user is None or user.org_id != org_id:
            raise NotFound(NOT_FOUND)
        return user

    async def remove(self, caller: Caller, user_id: str) -> User:
        """Delete the user and return it as it was. Raises Conflict for the last active admin."""
        for _ in range(ATTEMPTS):
            user = await self.get(caller.org_id, user_id)
            require_rank(caller, user)
            leaving = None
            if user.admin_role is not None and user.is_active:
                leaving = await self._leave(user, user.admin_role)
            if await self._store.remove(user, leaving=leaving):
                return user
        raise Conflict(BUSY)

    async def change(self, caller: Caller, user: User, sent: Mapping[str, Any], action: str) -> User:
        """Change fields of UserUpdate and return the user. Raises InvalidInput, Forbidden or Conflict."""
        hashed: str | None = None
        for _ in range(ATTEMPTS):
            require_rank(caller, user)
            change = change_of(user, sent)
            if caller.user_id == user.id:
                change.refuse_for_oneself()
            change = self._with_principals(caller, user, change)
            roles = None if change.roles is None else await self._grants.of(caller, change.roles)
            if not change.fields:
                return user
            if change.password is not None and hashed is None:
                await self._passwords.check(user, change.password, field="password")
                hashed = await self._hasher.hash(change.password)
            if await self._write(caller, user, change, roles, hashed):
                break
            user = await self.get(user.org_id, user.id)
        else:
            raise Conflict(BUSY)
        await self._changed.notify(user.org_id, user.id)
        if hashed is not None:
            await self._password_changed.notify(user.org_id, user.id)
        details: dict[str, Any] = {"username": user.username, "fields": change.fields}
        if roles is not None:
            details |= {"roles": sorted(role.name for role in roles), "old_roles": user.role_names}
        details |= {name: change.values[name] for name in AUDITED if name in change.values}
        await self._audit.record(caller, action, "user", user.id, details)
        return await self.get(user.org_id, user.id)

    async def rename(self, caller: Caller, user: User, username: str) -> User:
        """Give the user the name that the directory has now, in its canonical form; return the user.

        The SSH principals stay: a name that a directory lets its users change must not open devices. Raises
        Conflict for a name that is taken.
        """
        for _ in range(ATTEMPTS):
            # Users of older releases have no field of principals, and would get the new name.
            values = {"username": username, "ssh_principals": list(user.ssh_principals)}
            try:
                if await self._store.change(user, values, self._clock.now()):
                    break
            except Duplicate as error:
                raise conflict_of(error) from error
            user = await self.get(user.org_id, user.id)
        else:
            raise Conflict(BUSY)
        await self._changed.notify(user.org_id, user.id)
        details = {"username": username, "old_username": user.username, "fields": ["username"]}
        await self._audit.record(caller, "user.update", "user", user.id, details)
        return await self.get(user.org_id, user.id)

    def _with_principals(self, caller: Caller, user: User, change: UserChange) -> UserChange:
        """Return the change with the SSH principals that it may write, or that it takes away.

        A caller who may not give the principals must not get them through a password that the caller sets.
        """
        wanted = change.values.get("ssh_principals")
        if wanted is not None:
            written = self._principals.check_change(caller, wanted)
        elif change.ends_api_tokens and user.ssh_principals and not caller.can(GRANT):
            written = ()
        else:
            return change
        return replace(change, values={**change.values, "ssh_principals": written})

    async def _write(
        self,
        caller: Caller,
        user: User,
        change: UserChange,
        roles: tuple[Role, ...] | None,
        hashed: str | None,
    ) -> bool:
        """Store the change. Return False if another request changed the user meanwhile: then decide again."""
        values = dict(change.values)
        if hashed is not None:
            values |= {"password_hash": hashed, "password_changed_at": self._clock.now()}
        if roles is not None:
            values["role_ids"] = [role.id for role in roles]
        leaving = None
        if user.admin_role is not None and change.ends_admin(user):
            leaving = await self._leave(user, user.admin_role)
        try:
            written = await self._store.change(
                user,
                values,
                self._clock.now(),
                ends_sessions=change.ends_sessions,
                ends_api_tokens=change.ends_api_tokens,
                leaving=leaving,
            )
        except Duplicate as error:
            raise conflict_of(error) from error
        if written and roles is not None:
            await self._keep_roles(caller, user, roles)
        return written

    async def _leave(self, user: User, admin: Role) -> str | None:
        """Mark an active admin as leaving and return the mark. Raises Conflict for the last one."""
        token = await self._store.mark_leaving(user)
        if token is not None and not await self._store.other_admins(user, admin.id):
            await self._store.unmark_leaving(user, token)
            raise Conflict(LAST_ADMIN)
        return token

    async def _keep_roles(self, caller: Caller, before: User, roles: Iterable[Role]) -> None:
        """Give the old roles back if one of the new ones is being removed or widened at this moment."""
        try:
            await self._grants.confirm(caller, roles)
        except (InvalidInput, Forbidden):
            after = await self.get(before.org_id, before.id)
            old = {"role_ids": [role.id for role in before.roles]}
            await self._store.change(after, old, self._clock.now())
            raise


def conflict_of(error: Duplicate) -> Conflict:
    """Return the error that a caller sees for a duplicate in the store."""
    return Conflict(EXTERNAL_ID_TAKEN if "external_id" in error.fields else USERNAME_TAKEN)
