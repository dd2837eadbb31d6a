"""The command `netautod export-configs`: stored configs as files, or with their history as a repository."""

import argparse
import asyncio
from pathlib import Path

from netautod.assembly.configuration import Configuration
from netautod.assembly.network.devices import build_devices
from netautod.assembly.network.sessions import build_platforms
from netautod.assembly.plugins import load_plugins
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.network.configs.exchange.exporting import ConfigExport, Exported
from netautod.network.configs.texts.store import ConfigTexts


def add(commands: Commands) -> None:
    parser = commands.add("export-configs", run, "write the stored configs into a folder, one file a device")
    parser.add_argument("folder", metavar="DIR", help="the folder; created if it does not exist")
    parser.add_argument("--git", action="store_true", help="a git repository with a commit for each version")
    parser.add_argument("--organization", metavar="NAME", help="needed when there are several")
    parser.add_argument("--secrets", action="store_true", help="with their secrets (audited)")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if a text could not be opened."""
    try:
        done = asyncio.run(_exported(parsed, configuration))
    except OSError as error:
        raise InvalidInput(f"{parsed.folder}: {error.strerror}") from error
    what = "commits" if parsed.git else "files"
    say(f"{done.written} {what} written, {done.unchanged} were there already")
    if done.lost:
        say(f"{done.lost} texts are lost or damaged")
    return 1 if done.lost else 0


async def _exported(parsed: argparse.Namespace, configuration: Configuration) -> Exported:
    settings = configuration.settings
    async with opened(settings) as installation:
        stores, clock = installation.stores, installation.clock
        vault, audit = installation.vault, installation.audit
        found = await organization_named(installation.people.organizations, parsed.organization)
        export = ConfigExport(
            store=stores.configs,
            texts=ConfigTexts(installation.database, vault=vault, clock=clock),
            devices=build_devices(installation).devices,
            platforms=build_platforms(load_plugins(configuration), settings.devices),
            audit=audit,
            clock=clock,
            names={user.id: user.username for user in await installation.people.users.all_users()},
        )
        write = export.repository if parsed.git else export.files
        return await write(system_caller(found.id), Path(parsed.folder), secrets=parsed.secrets)
