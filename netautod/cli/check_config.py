"""The command `netautod check-config`: reads the settings, as every command does before it runs."""

import argparse
import os
from datetime import UTC, datetime

from netautod.assembly.configuration import Configuration
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.cli.risks import refuse
from netautod.core.settings.field import SettingsError
from netautod.http.connections.tls import TlsFiles
from netautod.plugin_host.manager import PluginManager
from netautod.secrets.vault.root.key_file import read_root_key


def add(commands: Commands) -> None:
    commands.add("check-config", run, "check the settings, and print what is wrong")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    for risk in configuration.risks.warned:
        complain(f"warning: {risk}")
    refuse(configuration.risks)
    if configuration.failures:
        raise SettingsError("; ".join(configuration.failures.values()))
    plugins = PluginManager(configuration.plugins, required=configuration.settings.plugins.required)
    plugins.check_required()
    for key in sorted({key.partition(".")[0] for key in configuration.in_vault}):
        complain(f"note: [{key}] is checked as a whole at the start: secrets of it are in the vault")
    configuration.settings.telemetry.require_installed()
    if "STATE_DIRECTORY" in os.environ and not configuration.settings.mongodb.uri:
        complain("warning: mongodb.uri is empty: the unit in config/ gives no room for a database of our own")
    if configuration.settings.master_key_path is not None:
        read_root_key(configuration.settings.master_key_path)
    files = TlsFiles.of(configuration.settings.server)
    if files is not None:
        files.context()
        problem = files.problem(datetime.now(UTC))
        if problem is not None:
            complain(f"warning: {problem}")
    say("the settings are valid")
    return 0
