"""The commands `netautod org ...`: organizations, and the first administrator of each."""

import argparse
import asyncio

from netautod.app.configuration import Configuration
from netautod.app.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.users.models import Organization
from netautod.users.organizations.service import CreatedOrganization


def add(commands: Commands) -> None:
    group = commands.group("org", "manage organizations")
    parser = group.add("create", _create, "create an organization with its first administrator")
    parser.add_argument("name")
    parser.add_argument("--admin", required=True, metavar="USERNAME")
    group.add("list", _list, "list the organizations")


async def create_organization(settings: Settings, name: str, admin: str) -> CreatedOrganization:
    async with opened(settings) as installation:
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
        say(organization.name)
    return 0


async def _organizations(settings: Settings) -> list[Organization]:
    async with opened(settings) as installation:
        return await installation.people.organizations.all()
