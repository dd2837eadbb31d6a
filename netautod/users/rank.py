"""Rank: no caller changes a user or grants a role with a permission that the caller lacks."""

from netautod.core.errors import Forbidden
from netautod.core.identity import Caller
from netautod.users.models import Role, User


def require_rank(caller: Caller, user: User) -> None:
    """Raises Forbidden if the user holds a permission that the caller lacks."""
    if not caller.can_all(user.permissions):
        raise Forbidden("This user holds permissions that you do not hold")


def require_grantable(caller: Caller, role: Role) -> None:
    """Raises Forbidden if the role grants a permission that the caller lacks."""
    if not caller.can_all(role.permissions):
        raise Forbidden(f"The role {role.name!r} grants permissions that you do not hold")
