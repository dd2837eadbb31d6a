"""The check of a user's new password: the policy with the names of that user."""

from typing import Protocol

from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import Organization, User
from netautod.identity.users.passwords.policy import PasswordOwner, PasswordPolicy


class OrganizationsById(Protocol):
    """The part of the organizations that users need."""

    async def get(self, org_id: OrgId) -> Organization | None: ...


class PasswordRules:
    def __init__(self, *, policy: PasswordPolicy, organizations: OrganizationsById) -> None:
        self._policy = policy
        self._organizations = organizations

    async def check(self, user: User, password: str, *, field: str) -> None:
        """Check the password against the policy. Raises InvalidInput, which names the field."""
        organization = await self._organizations.get(user.org_id)
        owner = PasswordOwner(
            username=user.username,
            organization=organization.name if organization else "",
            email=user.email,
            display_name=user.display_name,
        )
        await self._policy.check(password, owner, field=field)
