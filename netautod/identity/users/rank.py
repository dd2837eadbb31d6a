"""Rank: no caller changes a user or grants a role with a permission that the caller lacks."""

from collections.abc import Container, Sequence

from netautod.core.errors import Forbidden, InvalidInput
from netautod.core.identity.caller import Caller
from netautod.core.identity.permissions import PermissionKeys
from netautod.core.schema.bases import sentence
from netautod.identity.users.models import Role, User


def require_known(keys: PermissionKeys, permissions: Sequence[str], *, held: Container[str] = ()) -> None:
    """Raise InvalidInput for an unknown permission; what is `held` already may stay."""
    unknown = keys.unknown(permissions)
    wrong = {str(place): text for place, text in unknown.items() if permissions[place] not in held}
    if wrong:
        raise InvalidInput(sentence({"permissions": wrong}))


def require_rank(caller: Caller, user: User) -> None:
    """Raise Forbidden if the user holds a permission that the caller lacks."""
    if not caller.can_all(user.granted):
        raise Forbidden("This user holds permissions that you do not hold")


def require_grantable(caller: Caller, role: Role) -> None:
    """Raise Forbidden if the role grants a permission that the caller lacks."""
    if not caller.can_all(role.granted):
        raise Forbidden(f"The role {role.name!r} grants permissions that you do not hold")
