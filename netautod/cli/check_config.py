"""The command `netautod check-config`: reads the settings, as every command does before it runs."""

import argparse

from netautod.app.configuration import Configuration
from netautod.cli.parsing import Commands


def add(commands: Commands) -> None:
    commands.add("check-config", run, "read the settings, say what is wrong, and end")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    print("the settings are valid")
    return 0
