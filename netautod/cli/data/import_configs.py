"""The command `netautod import-configs`: the history that Oxidized or RANCID kept in a git repository."""

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
from netautod.core.text.plurals import counted
from netautod.network.configs.exchange.history import History
from netautod.network.configs.exchange.importing import ConfigImport, Imported
from netautod.network.configs.texts.store import ConfigTexts
from netautod.transport.ssh.platform.registry import PlatformRegistry

SHOWN = 50


def add(commands: Commands) -> None:
    parser = commands.add("import-configs", run, "take over a history of configs from a git repository")
    parser.add_argument(
        "repository", metavar="REPOSITORY", help="git repository of Oxidized or RANCID, bare or not"
    )
    parser.add_argument("--organization", metavar="NAME", help="needed when there are several")
    parser.add_argument(
        "--platform", metavar="NAME", help="platform of all configs (default: that of each device)"
    )


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if something takes no part."""
    done = asyncio.run(_imported(parsed, configuration))
    versions, devices = counted(done.versions, "version"), counted(len(done.devices), "device")
    say(f"{versions} of {devices} imported, {done.unchanged} unchanged")
    for path, problem in list(done.problems.items())[:SHOWN]:
        say(f"{path}: {problem}")
    if len(done.problems) > SHOWN:
        say(f"and {len(done.problems) - SHOWN} more")
    return 1 if done.problems else 0


async def _imported(parsed: argparse.Namespace, configuration: Configuration) -> Imported:
    settings = configuration.settings
    platforms = build_platforms(load_plugins(configuration), settings.devices)
    history = History(Path(parsed.repository))
    platform = None if parsed.platform is None else _known(platforms, parsed.platform)
    async with opened(settings) as installation:
        stores, clock = installation.stores, installation.clock
        vault, audit = installation.vault, installation.audit
        found = await organization_named(installation.people.organizations, parsed.organization)
        importing = ConfigImport(
            store=stores.configs,
            texts=ConfigTexts(installation.database, vault=vault, clock=clock),
            devices=build_devices(installation).devices,
            platforms=platforms,
            audit=audit,
            clock=clock,
            most_bytes=settings.devices.max_config_bytes,
            platform=platform,
        )
        return await importing.run(system_caller(found.id), history)


def _known(platforms: PlatformRegistry, name: str) -> str:
    if not platforms.knows(name):
        raise InvalidInput(f"there is no platform {name!r}; see `netautod platform list`")
    return name
