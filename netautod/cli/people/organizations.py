"""The commands `netautod org ...`: organizations, and the first administrator of each."""

import argparse
import asyncio
import sys
from collections import Counter

from netautod.assembly.configuration import Configuration
from netautod.assembly.identity import build_lockout
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.identity.users.models import Organization
from netautod.identity.users.organizations.service import CreatedOrganization
from netautod.maintenance.deletion.organization import OrganizationDeletion


def add(commands: Commands) -> None:
    group = commands.group("org", "manage organizations")
    parser = group.add("create", _create, "create an organization with its first administrator")
    parser.add_argument("name")
    parser.add_argument("--admin", required=True, metavar="USERNAME")
    group.add("list", _list, "list the organizations")
    parser = group.add("delete", _delete, "delete an organization with everything that belongs to it")
    parser.add_argument("name")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


async def create_organization(settings: Settings, name: str, admin: str) -> CreatedOrganization:
    async with opened(settings, makes_one=True) as installation:
        return await installation.people.organizations.create_organization(
            name, admin=admin, password=settings.admin_password or None
        )


def _create(parsed: argparse.Namespace, configuration: Configuration) -> int:
    created = asyncio.run(create_organization(configuration.settings, parsed.name, parsed.admin))
    say(f"organization {created.organization.name} created, administrator {created.admin}")
    if created.generated_password is not None:
        say(f"password: {created.generated_password}")
    return 0


def _list(parsed: argparse.Namespace, configuration: Configuration) -> int:
    for organization in asyncio.run(_organizations(configuration.settings)):
        deleting = organization.deleting_since is not None
        say(f"{organization.name} (being deleted: netautod org delete)" if deleting else organization.name)
    return 0


def _delete(parsed: argparse.Namespace, configuration: Configuration) -> int:
    name = parsed.name.strip()
    asyncio.run(_require_deletable(configuration.settings, name))
    if not parsed.yes and not _agreed(name):
        raise InvalidInput("nothing is deleted")
    counts = asyncio.run(_delete_organization(configuration.settings, name))
    for collection, count in sorted(counts.items()):
        if count:
            say(f"{collection}: {count}")
    say(f"organization {name} deleted")
    return 0


async def _require_deletable(settings: Settings, name: str) -> None:
    async with opened(settings) as installation:
        await installation.people.organizations.deletable(name)


def _agreed(name: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask at: --yes deletes without a question")
    say(f"This deletes everything of the organization {name}, for good. Its name, to go on:")
    return sys.stdin.readline().strip() == name


async def _delete_organization(settings: Settings, name: str) -> Counter[str]:
    async with opened(settings) as installation:
        deletion = OrganizationDeletion(
            database=installation.database,
            stores=installation.stores,
            organizations=installation.people.organizations,
            lockout=build_lockout(installation),
            report=say,
        )
        return await deletion.run(name)


async def _organizations(settings: Settings) -> list[Organization]:
    async with opened(settings) as installation:
        return await installation.people.organizations.all()
