"""The commands `netautod plugins ...`: which plugins there are and whether they work, and what they keep."""

import argparse

from netautod.app.configuration import Configuration
from netautod.app.parts.plugins import plugins_of
from netautod.app.plugins.registrations import register_all
from netautod.cli import plugin_authors, plugin_records, plugin_sections
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient


def add(commands: Commands) -> None:
    within = commands.add("plugins", run, "list the plugins and whether they work")
    inner = within.add_subparsers(metavar="COMMAND")
    plugin_sections.add(inner)
    plugin_records.add(inner)
    plugin_authors.add(inner)


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if a plugin does not work."""
    http = GuardedClient(AddressRules.allowing(configuration.settings.outbound.allow))
    manager = plugins_of(configuration, http)
    register_all(manager)
    for status in manager.statuses:
        say(f"{status.name:<20} {status.version or '-':<10} {'ok' if status.ok else status.error}")
    return 0 if all(status.ok for status in manager.statuses) else 1
