"""Who may touch whom: nobody reaches above what he holds himself (decisions.md 2)."""

from collections.abc import Iterable

from netautod.core.errors import Forbidden
from netautod.core.identity import KNOWN_PERMISSIONS, Caller
from netautod.users.models import Role, User


def holds_all(caller: Caller, permissions: Iterable[str]) -> bool:
    return all(caller.can(permission) for permission in permissions)


def require_rank(caller: Caller, user: User) -> None:
    """Raises Forbidden if the user holds a permission that the caller lacks."""
    if not holds_all(caller, user.permissions):
        raise Forbidden("This user holds permissions that you do not hold")


def require_grantable(caller: Caller, role: Role) -> None:
    """Raises Forbidden if the role grants a permission that the caller lacks."""
    if not holds_all(caller, role.permissions):
        raise Forbidden(f"The role {role.name!r} grants permissions that you do not hold")


def is_permission(key: str) -> bool:
    """True for `*`, a known key, and `x.*` if a known key begins with `x.`."""
    if key == "*" or key in KNOWN_PERMISSIONS:
        return True
    return key.endswith(".*") and any(known.startswith(key[:-1]) for known in KNOWN_PERMISSIONS)
