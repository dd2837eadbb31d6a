"""The command `netautod doctor`: looks at everything that an administrator has to see to."""

import argparse
import asyncio
import json

from netautod.assembly.configuration import Configuration
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.text.plurals import counted
from netautod.maintenance.doctor.checks import examined


def add(commands: Commands) -> None:
    parser = commands.add("doctor", run, "check the installation, and say what to do about each finding")
    parser.add_argument("--json", action="store_true", help="print a list of {check, text, todo}")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 0 where all is well, 1 with findings."""
    found = asyncio.run(examined(configuration))
    if parsed.json:
        say(json.dumps([finding.to_json() for finding in found], indent=1))
    else:
        for finding in found:
            say(f"{finding.check}: {finding.text}")
            say(f"    {finding.todo}")
        say(counted(len(found), "finding") if found else "all is well")
    return 1 if found else 0
