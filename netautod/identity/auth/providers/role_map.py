"""The roles that the groups of a directory give by a role map; pure."""

from collections.abc import Iterable

from netautod.identity.users.external_ids import canonical_name, first_value, folded
from netautod.plugin_api.auth import RoleMap


def granted(role_map: RoleMap, groups: Iterable[str]) -> frozenset[str]:
    """Return the roles that membership in these groups gives."""
    held = list(groups)
    return frozenset(role for role, wanted in role_map.lines if any(_same(wanted, group) for group in held))


def roles_after_login(
    role_map: RoleMap, roles: Iterable[str], groups: Iterable[str], possible_groups: Iterable[str] = ()
) -> list[str]:
    """Return the roles of the user after a login with these groups, sorted.

    `possible_groups` keep roles if the groups give none.
    """
    held, managed = frozenset(roles), {role for role, _ in role_map.lines}
    given = granted(role_map, groups) or (held & granted(role_map, possible_groups))
    return sorted((held - managed) | given)


def _same(wanted: str, group: str) -> bool:
    """Compare: equal; or the same LDAP name; or a bare name that is the first part of the group's LDAP
    name."""
    if wanted == group:
        return True
    name = canonical_name(group)
    if name is None:
        return False
    return canonical_name(wanted) == name if "=" in wanted else folded(wanted) == first_value(group)
