"""The installation that a command works on: the configured database, with or without a running service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.app.foundation import Foundation, any_database, lay
from netautod.app.settings import Settings
from netautod.core.errors import InvalidInput
from netautod.users.models import Organization
from netautod.users.organizations.bootstrap import Bootstrap


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Foundation]:
    """A new database gets its first organization and administrator, as by a start of the service."""
    async with any_database(settings) as database, lay(settings, database) as base:
        await Bootstrap(
            organizations=base.organizations,
            users=base.users,
            hasher=base.hasher,
            data_dir=settings.data_dir,
            admin_password=settings.admin_password,
        ).run()
        yield base


async def organization_named(base: Foundation, name: str | None) -> Organization:
    """Without a name the only one there is. Raises NotFound, or InvalidInput where there are several."""
    if name is not None:
        return await base.organizations.by_name(name)
    found = await base.organizations.all()
    if len(found) != 1:
        names = ", ".join(organization.name for organization in found[:5])
        raise InvalidInput(f"there are {len(found)} organizations ({names}); name one with --organization")
    return found[0]
