"""The command `netautod plugins purge`: deletes what a plugin has stored, once it is not loaded any more."""

import argparse
import asyncio
import sys

from netautod.assembly.configuration import Configuration
from netautod.assembly.plugins import build_storages
from netautod.assembly.settings import Settings
from netautod.automation.system.plugin_storage.models import PLUGIN
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Inner, add_inner
from netautod.core.errors import Conflict, InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.core.text.plurals import counted


def add(inner: Inner) -> None:
    parser = add_inner(inner, "purge", run, "delete all that a plugin has stored, of every organization")
    parser.add_argument("name")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    name = parsed.name
    if not PLUGIN.fullmatch(name):
        raise InvalidInput(f"no plugin that stores anything is named {name!r}")
    if name in {status.name for status in configuration.plugins.statuses}:
        raise Conflict(f"{name} is installed: uninstall it, or put it into plugins.disabled, on every node")
    if not parsed.yes and not _agreed(name):
        raise InvalidInput("nothing is deleted")
    say(f"{counted(asyncio.run(_purge(configuration.settings, name)), 'record')} of {name} deleted")
    return 0


def _agreed(name: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask at: --yes deletes without a question")
    say(f"This deletes all that the plugin {name} has stored, for good. Its name, to go on:")
    return sys.stdin.readline().strip() == name


async def _purge(settings: Settings, name: str) -> int:
    """Delete the records, with one event in the audit of each organization that had any."""
    async with opened(settings) as installation:
        storages, deleted = build_storages(installation), 0
        for organization in await installation.people.organizations.all():
            count = await storages.purge(name, [organization.id])
            if count:
                caller = system_caller(organization.id)
                details = {"records": count}
                await installation.audit.record(caller, "plugin.purged", "plugin", name, details)
            deleted += count
        return deleted
