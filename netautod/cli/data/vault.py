"""The command `netautod vault reset`: new keys for notes whose passphrase is lost."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.assembly.configuration import Configuration
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.text.plurals import counted
from netautod.maintenance.deletion.notes import NotesReset


def add(commands: Commands) -> None:
    group = commands.group("vault", "manage the notes of an organization")
    parser = group.add("reset", _reset, "forget a lost passphrase and delete the notes sealed under it")
    parser.add_argument("organization")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def _reset(parsed: argparse.Namespace, configuration: Configuration) -> int:
    settings, name = configuration.settings, parsed.organization.strip()
    count = asyncio.run(_count(settings, name))
    if not parsed.yes and not _agreed(name, count):
        raise InvalidInput("nothing is deleted")
    deleted = asyncio.run(_run(settings, name))
    say(f"{counted(deleted, 'note')} of {name} deleted; notes need no passphrase until a new one is set")
    return 0


def _agreed(name: str, count: int) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask at: --yes deletes without a question")
    say(f"This deletes {counted(count, 'note')} of {name}, for good. The name of the organization, to go on:")
    return sys.stdin.readline().strip() == name


@asynccontextmanager
async def _opened(settings: Settings, name: str) -> AsyncIterator[tuple[NotesReset, OrgId]]:
    async with opened(settings) as installation:
        organization = await installation.people.organizations.by_name(name)
        reset = NotesReset(stores=installation.stores, clock=installation.clock, audit=installation.audit)
        yield reset, organization.id


async def _count(settings: Settings, name: str) -> int:
    async with _opened(settings, name) as (reset, org_id):
        return await reset.count(org_id)


async def _run(settings: Settings, name: str) -> int:
    async with _opened(settings, name) as (reset, org_id):
        return await reset.run(org_id)
