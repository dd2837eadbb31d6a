"""The command `netautod backup`: everything of the installation in one file, also while the service runs."""

import argparse
import asyncio
from pathlib import Path

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.database import require_installation
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.core.disk import MIB
from netautod.core.json.values import to_text
from netautod.core.text.plurals import counted
from netautod.maintenance.archive.backup import back_up, unknown_in
from netautod.maintenance.archive.passphrase_file import read_passphrase


def add(commands: Commands) -> None:
    parser = commands.add("backup", run, "write everything but the master key into a file")
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write; it must not exist yet")
    parser.add_argument(
        "--passphrase-file", metavar="FILE", type=Path, help="encrypt it under this passphrase"
    )


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    require_installation(configuration.settings)
    passphrase = None if parsed.passphrase_file is None else read_passphrase(parsed.passphrase_file)
    contents = asyncio.run(back_up(configuration.settings, parsed.file, passphrase))
    size = parsed.file.stat().st_size / MIB
    documents = counted(contents.documents, "document")
    say(f"{documents} as of {to_text(contents.taken_at)}, {size:.1f} MiB in {parsed.file}")
    for name in unknown_in(contents):
        complain(f"warning: {name} is no collection of this version; it is in the backup as it is")
    if passphrase is None:
        complain("warning: the backup is not encrypted; --passphrase-file does that")
    say("the master key is not in it: keep it somewhere else, nothing opens without it")
    return 0
