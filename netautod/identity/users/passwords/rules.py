"""Whether a user may have a password: the policy, with what is known of the user."""

from typing import Protocol

from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import Organization, User
from netautod.identity.users.passwords.policy import PasswordOwner, PasswordPolicy


class OrganizationsById(Protocol):
    """The organizations, as far as users ask for them."""

    async def get(self, org_id: OrgId) -> Organization | None: ...


class PasswordRules:
    def __init__(self, *, policy: PasswordPolicy, organizations: OrganizationsById) -> None:
        self._policy = policy
        self._organizations = organizations

    async def check(self, user: User, password: str, *, field: str) -> None:
        """Raises InvalidInput naming the field."""
        organization = await self._organizations.get(user.org_id)
        owner = PasswordOwner(
            username=user.username,
            organization=organization.name if organization else "",
            email=user.email,
            display_name=user.display_name,
        )
        await self._policy.check(password, owner, field=field)
