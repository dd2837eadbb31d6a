"""The difference between the fields of a PUT and the user as stored. Pure; no database, no clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.core.errors import Forbidden, InvalidInput
from netautod.identity.users.external_ids import canonical_external_id
from netautod.identity.users.models import LOCAL, User, canonical_username

PLAIN = ("email", "display_name", "is_active", "external_id", "must_change_password")


@dataclass(frozen=True, kw_only=True)
class UserChange:
    """The fields of a user that differ. `values` are plain fields, `roles` names; None: not to be changed."""

    values: Mapping[str, Any]
    roles: tuple[str, ...] | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def fields(self) -> list[str]:
        """Return the names of the fields that change; for the audit."""
        others = {"roles": self.roles, "password": self.password}
        return sorted([*self.values, *(name for name, value in others.items() if value is not None)])

    @property
    def ends_sessions(self) -> bool:
        """Return whether the change resets the password, disables the user or links another directory
        entry."""
        disabled = self.values.get("is_active") is False
        return self.password is not None or disabled or "external_id" in self.values

    @property
    def ends_api_tokens(self) -> bool:
        """Return whether the change may give the account to another person; a disabled user keeps the API
        tokens.
        """
        return self.password is not None or "external_id" in self.values

    def ends_admin(self, user: User) -> bool:
        """Return whether the change disables an active administrator or takes the role `admin` away."""
        admin = user.admin_role
        if admin is None or not user.is_active:
            return False
        disabled = self.values.get("is_active") is False
        return disabled or (self.roles is not None and admin.name not in self.roles)

    def refuse_for_oneself(self) -> None:
        """Raise Forbidden for changes that users may not make to their own account here."""
        if self.roles is not None:
            raise Forbidden("You cannot change your own roles")
        if self.password is not None:
            # Else a stolen token would be enough to take the account over.
            raise Forbidden("Your own password is changed with PUT /api/auth/password")
        if "external_id" in self.values:
            raise Forbidden("You cannot link your own account to another directory entry")


def change_of(user: User, sent: Mapping[str, Any]) -> UserChange:
    """Compare fields as UserUpdate loads them with the user, and return the difference.

    A field that equals the user's is no change, so a client can send back what it has read. Raises
    InvalidInput.
    """
    _refuse_fixed(user, sent)
    if "external_id" in sent:
        sent = {**sent, "external_id": canonical_external_id(user.auth_provider, sent["external_id"])}
    if "password" in sent:  # a reset requires another change only if it says so
        sent = {"must_change_password": False, **sent}
    values = {name: sent[name] for name in PLAIN if name in sent and sent[name] != getattr(user, name)}
    principals = tuple(dict.fromkeys(sent.get("ssh_principals", user.ssh_principals)))
    if principals != user.ssh_principals:
        values["ssh_principals"] = principals
    if user.auth_provider == LOCAL and "external_id" in values:
        raise InvalidInput("external_id: only for users of another provider than local")
    if user.auth_provider != LOCAL and values.get("must_change_password"):
        raise InvalidInput("must_change_password: only for local users")
    if user.auth_provider != LOCAL and "password" in sent:
        raise InvalidInput("password: only for local users")
    roles = tuple(dict.fromkeys(sent["roles"])) if "roles" in sent else None
    same = roles is not None and sorted(roles) == user.role_names
    return UserChange(values=values, roles=None if same else roles, password=sent.get("password"))


def _refuse_fixed(user: User, sent: Mapping[str, Any]) -> None:
    if "username" in sent and canonical_username(sent["username"]) != user.username:
        raise InvalidInput("username: cannot be changed")
    if "auth_provider" in sent and sent["auth_provider"] != user.auth_provider:
        raise InvalidInput("auth_provider: cannot be changed")
