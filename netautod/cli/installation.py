"""The installation that a command works on: the configured database, with or without a running service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.assembly.data.database import any_database, require_installation, require_organization
from netautod.assembly.installation import Installation, open_installation
from netautod.assembly.settings import Settings
from netautod.core.errors import InvalidInput
from netautod.identity.users.models import Organization
from netautod.identity.users.organizations.service import OrganizationService


@asynccontextmanager
async def opened(settings: Settings, *, makes_one: bool = False) -> AsyncIterator[Installation]:
    """Open the installation. With `makes_one` a new database gets its first organization and administrator,
    as by a start of the service; without it there must be an installation already.
    """
    if not makes_one:
        require_installation(settings)
    async with any_database(settings) as database:
        if not makes_one:
            await require_organization(settings, database)
        async with open_installation(settings, database) as installation:
            yield installation


async def organization_named(organizations: OrganizationService, name: str | None) -> Organization:
    """Return the organization; without a name the only one there is. Raises NotFound, or InvalidInput where
    there are several.
    """
    if name is not None:
        return await organizations.by_name(name)
    found = await organizations.all()
    if len(found) != 1:
        names = ", ".join(organization.name for organization in found[:5])
        raise InvalidInput(f"there are {len(found)} organizations ({names}); name one with --organization")
    return found[0]
