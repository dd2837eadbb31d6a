"""The caller of a request, or the owner on whose behalf a run acts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NewType, Self

from netautod.core.errors import Forbidden
from netautod.core.identity.permissions import common_permissions, covered, grants, of_roles

OrgId = NewType("OrgId", str)
# The user id of the system itself; no user has it (the nil UUID, RFC 9562 section 5.9).
SYSTEM_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, kw_only=True)
class UsedToken:
    """The API token that a request was made with; `expires_at` None: never."""

    id: str
    name: str
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Caller:
    """An authenticated user in an organization; `ip_address` and `request_id` go into audit events.

    `token`: the API token through which the user acts, None for a session or the owner of a run.
    `blocked`: the sentence with which all but the routes of the own account are refused.
    """

    user_id: str
    org_id: OrgId
    username: str
    permissions: frozenset[str]
    session_id: str | None = None
    token: UsedToken | None = None
    blocked: str | None = None
    ip_address: str | None = None
    request_id: str | None = None

    @property
    def scope(self) -> list[str] | None:
        """Return the permissions to store with work that is done later in the caller's name; None for all of
        them.

        Otherwise an API token could have a task do what the token itself may not.
        """
        return None if self.token is None else sorted(self.permissions)

    @property
    def shown_permissions(self) -> frozenset[str]:
        """Return the permissions as a client sees them: of a session as its roles name them."""
        return self.permissions if self.token is not None else self.permissions - covered(self.permissions)

    def within(self, scope: Iterable[str] | None) -> Self:
        """Return the same caller with no more permissions than the scope."""
        if scope is None:
            return self
        return replace(self, permissions=common_permissions(self.permissions, frozenset(scope)))

    def require_unblocked(self) -> None:
        """Raise Forbidden while the caller's own account requires an action first."""
        if self.blocked is not None:
            raise Forbidden(self.blocked)

    def can(self, permission: str) -> bool:
        return grants(self.permissions, permission)

    def can_all(self, permissions: Iterable[str]) -> bool:
        return all(self.can(permission) for permission in permissions)

    def require(self, permission: str) -> None:
        """Raise Forbidden unless the caller holds the permission."""
        if not self.can(permission):
            raise Forbidden("Insufficient permissions")


def system_caller(org_id: OrgId, username: str = "cli") -> Caller:
    """Return a caller who acts for the installation itself (command line, automatic work) and may do
    everything.
    """
    return Caller(user_id=SYSTEM_ID, org_id=org_id, username=username, permissions=of_roles({"*"}))


@dataclass(frozen=True, kw_only=True)
class RequestInfo:
    """The facts of a request that sessions and audit events keep."""

    ip_address: str
    request_id: str
    user_agent: str
