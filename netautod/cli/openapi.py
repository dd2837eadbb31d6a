"""The command `netautod openapi`: the description of the API, without a database or a service."""

import argparse
import json
import sys

from netautod.assembly import routes
from netautod.assembly.configuration import Configuration
from netautod.assembly.parts.plugins import additions_of, plugins_of
from netautod.cli.parsing import Commands
from netautod.core.identity.permissions import PermissionKeys
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient


def add(commands: Commands) -> None:
    commands.add("openapi", run, "print the OpenAPI description")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    http = GuardedClient(AddressRules.allowing(configuration.settings.outbound.allow))
    additions = additions_of(plugins_of(configuration, http), PermissionKeys())
    sys.stdout.write(json.dumps(routes.description(additions.routes), indent=2) + "\n")
    return 0
