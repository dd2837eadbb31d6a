"""The assignment of roles to users: they must exist, and the caller must hold their permissions."""

from collections.abc import Iterable

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import Caller
from netautod.identity.users.models import Role
from netautod.identity.users.rank import require_grantable
from netautod.identity.users.roles.store import RoleStore


class RoleGrants:
    def __init__(self, roles: RoleStore) -> None:
        self._roles = roles

    async def of(self, caller: Caller, names: Iterable[str]) -> tuple[Role, ...]:
        """Return the roles of those names; raises InvalidInput or Forbidden."""
        wanted = list(names)
        found = {role.name: role for role in await self._roles.by_names(caller.org_id, wanted)}
        for name in wanted:
            if name not in found:
                raise InvalidInput(f"roles: there is no role {name!r}")
        for role in found.values():
            require_grantable(caller, role)
        return tuple(found[name] for name in wanted)

    async def confirm(self, caller: Caller, roles: Iterable[Role]) -> None:
        """Check the roles again after a write that names them. Raises InvalidInput or Forbidden.

        A removal first hides the role and then searches for its users; and a role that was widened meanwhile
        may no longer be the caller's to grant.
        """
        there = await self._roles.visible(caller.org_id, [role.id for role in roles])
        for role in roles:
            if role.id not in there:
                raise InvalidInput(f"roles: there is no role {role.name!r}")
            require_grantable(caller, there[role.id])
