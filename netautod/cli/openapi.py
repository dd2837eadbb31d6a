"""The command `netautod openapi`: the description of the API, without a database or a service."""

import argparse
import json
import sys

from netautod.assembly import routes
from netautod.assembly.configuration import Configuration
from netautod.assembly.plugins import collect_additions, load_plugins
from netautod.automation.tasks.models import TASK_TYPES
from netautod.cli.parsing import Commands
from netautod.core.identity.permissions import PermissionKeys


def add(commands: Commands) -> None:
    commands.add("openapi", run, "print the OpenAPI description")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    plugins = load_plugins(configuration)
    types = tuple(dict.fromkeys((*TASK_TYPES, *plugins.executors())))
    described = routes.description(types, collect_additions(plugins, PermissionKeys()))
    sys.stdout.write(json.dumps(described, indent=2) + "\n")
    return 0
