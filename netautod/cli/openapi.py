"""The command `netautod openapi`: the description of the API, without a database or a service."""

import argparse
import json
import sys

from netautod.app import routes
from netautod.app.configuration import Configuration
from netautod.cli.parsing import Commands


def add(commands: Commands) -> None:
    commands.add("openapi", run, "print the OpenAPI description")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    sys.stdout.write(json.dumps(routes.description(), indent=2) + "\n")
    return 0
