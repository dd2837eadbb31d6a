"""The rules of roles: which permissions callers may put into one; built-in and used ones are not deleted."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, Forbidden, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.identity.permissions import PermissionKeys, of_roles
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers, References, Uses
from netautod.identity.users.models import Role, User
from netautod.identity.users.rank import require_grantable, require_known
from netautod.identity.users.roles.store import RoleStore

NAME_TAKEN = "Role with this name already exists"
NOT_FOUND = "Role not found"
ATTEMPTS = 5


class RoleHolders(Protocol):
    """The part of the users that roles need."""

    async def get(self, user_id: str) -> User | None: ...

    async def with_role(self, org_id: OrgId, role_id: str, limit: int) -> tuple[list[str], int]:
        """Return the names of the first `limit` users with the role, and the number of all."""
        ...


class RoleService:
    """A service of roles. `changed` is notified if a role's grants change; `permissions` are the known keys.

    A role keeps the permission of a removed plugin, which grants nothing then.
    """

    def __init__(
        self,
        *,
        store: RoleStore,
        users: RoleHolders,
        clock: Clock,
        audit: AuditLog,
        permissions: PermissionKeys,
    ) -> None:
        self.changed = Followers()
        self._keys = permissions
        self._store = store
        self._users = users
        self._clock = clock
        self._audit = audit
        references = References("Role")
        references.register(self._users_with)
        self._removal = store.removal(references)

    async def resume(self) -> None:
        """Finish removals that a crash interrupted. Called at start."""
        await self._removal.resume()

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Role]:
        """Return one page of the roles, sorted by name."""
        return await self._store.page(org_id, page)

    async def get(self, org_id: OrgId, role_id: str) -> Role:
        """Return the role. Raises NotFound."""
        role = await self._store.get(org_id, role_id)
        if role is None:
            raise NotFound(NOT_FOUND)
        return role

    async def create(self, caller: Caller, fields: Mapping[str, Any]) -> Role:
        """Create a role; `fields` as RoleRequest loads them.

        Raises Forbidden, or Conflict for a name that is taken.
        """
        require_known(self._keys, fields["permissions"])
        now = self._clock.now()
        role = Role(
            id=str(uuid4()),
            org_id=caller.org_id,
            name=fields["name"],
            description=fields.get("description"),
            permissions=tuple(dict.fromkeys(fields["permissions"])),
            builtin=False,
            created_at=now,
            updated_at=now,
        )
        require_grantable(caller, role)
        try:
            await self._store.insert(role)
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        await self._audit.record(caller, "role.create", "role", role.id, _details(role))
        return role

    async def update(self, caller: Caller, role_id: str, sent: Mapping[str, Any]) -> Role:
        """Change a role.

        Raises NotFound, Forbidden, or Conflict for a built-in role or a name that is taken.
        """
        for _ in range(ATTEMPTS):
            role = await self._editable(caller, role_id)
            changes = _differing(role, sent)
            require_known(self._keys, changes.get("permissions", ()), held=role.permissions)
            if not changes:
                return role
            await self._check_changes(caller, role, changes)
            try:
                changed = await self._store.change(role, changes, self._clock.now())
            except Duplicate as error:
                raise Conflict(NAME_TAKEN) from error
            if changed is not None:
                break
        else:
            raise Conflict("The role is being changed by other requests; try again")
        await self.changed.notify(caller.org_id, role_id)
        details = {**_details(changed), "fields": sorted(changes), "old_permissions": list(role.permissions)}
        await self._audit.record(caller, "role.update", "role", role_id, details)
        return changed

    async def delete(self, caller: Caller, role_id: str) -> None:
        """Delete a role.

        Raises NotFound, Forbidden, or Conflict for a built-in role or one that a user has.
        """
        role = await self._editable(caller, role_id)
        await self._removal.remove(caller.org_id, role_id)
        await self._audit.record(caller, "role.delete", "role", role_id, _details(role))

    async def _editable(self, caller: Caller, role_id: str) -> Role:
        role = await self.get(caller.org_id, role_id)
        if not caller.can_all(role.granted):
            raise Forbidden("This role holds permissions that you do not hold")
        if role.builtin:
            raise Conflict("Built-in roles cannot be changed or deleted")
        return role

    async def _check_changes(self, caller: Caller, role: Role, changes: Mapping[str, Any]) -> None:
        if not caller.can_all(of_roles(changes.get("permissions", ()))):
            raise Forbidden("permissions: you do not hold all of them")
        own = await self._users.get(caller.user_id)
        held = own is not None and role.id in {held.id for held in own.roles}
        # Else a permission that is held for a while could be made permanent; and a new name would leave the
        # rules that name roles, such as the one about one-time codes.
        if held and not changes.keys() <= {"description"}:
            raise Forbidden("You cannot change the permissions or the name of your own roles")

    async def _users_with(self, org_id: OrgId, role_id: str, limit: int) -> Uses:
        names, count = await self._users.with_role(org_id, role_id, limit)
        return Uses(kind="user", names=names, count=count)


def _differing(role: Role, sent: Mapping[str, Any]) -> dict[str, Any]:
    changes = {name: sent[name] for name in ("name", "description") if name in sent}
    changes = {name: value for name, value in changes.items() if value != getattr(role, name)}
    permissions = list(dict.fromkeys(sent.get("permissions", role.permissions)))
    return changes if permissions == list(role.permissions) else {**changes, "permissions": permissions}


def _details(role: Role) -> dict[str, Any]:
    return {"name": role.name, "permissions": list(role.permissions)}
