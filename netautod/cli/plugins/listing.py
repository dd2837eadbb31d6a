"""The commands `netautod plugins ...`: which plugins there are and whether they work, and what they keep."""

import argparse
from collections.abc import Iterator, Mapping

from netautod.assembly.configuration import Configuration
from netautod.assembly.plugins import Additions, collect_additions, load_plugins
from netautod.cli.output import say
from netautod.cli.parsing import COMMANDS, Commands
from netautod.cli.plugins import authoring as plugin_authors
from netautod.cli.plugins import records as plugin_records
from netautod.cli.plugins import sections as plugin_sections
from netautod.core.identity.permissions import PermissionKeys
from netautod.plugin_host.offers import offers
from netautod.plugin_host.offers.registrations import register_all


def add(commands: Commands) -> None:
    within = commands.add("plugins", run, "list the plugins and whether they work")
    within.add_argument("--details", action="store_true", help="also list what they add to the service")
    inner = within.add_subparsers(metavar="COMMAND")
    plugin_sections.add(inner)
    plugin_records.add(inner)
    plugin_authors.add(inner)


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if a plugin does not work."""
    manager = load_plugins(configuration)
    register_all(manager)
    additions = collect_additions(manager, PermissionKeys())
    commands = offers.commands_of(manager, taken=COMMANDS)
    for status in manager.statuses:
        say(f"{status.name:<20} {status.version or '-':<10} {'ok' if status.ok else status.error}")
    if parsed.details:
        for line in _details(additions, commands):
            say(line)
    return 0 if all(status.ok for status in manager.statuses) else 1


def _details(additions: Additions, commands: Mapping[str, offers.OfferedCommand]) -> Iterator[str]:
    """Yield a line for each thing: what it is, its name, and what it is for."""
    for key, text in additions.permissions.items():
        yield f"permission    {key}: {text}"
    for route in additions.routes:
        for method, operation in route.operations().items():
            access = "public" if operation.public else operation.permission or "any token"
            yield f"route         {method} {route.path} ({access})"
    for name, offered in commands.items():
        yield f"command       netautod {name}: {offered.command.help}"
    for name, event in additions.events.items():
        yield f"event         {name}: {event.description}"
    for name, kind in additions.content_types.of_plugins.items():
        yield f"content type  {name}: {kind.description}"
