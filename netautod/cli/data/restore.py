"""The command `netautod restore`: a backup into an empty database."""

import argparse
import asyncio
from pathlib import Path

from netautod.assembly.configuration import Configuration
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.core.json.values import to_text
from netautod.core.text.plurals import counted
from netautod.maintenance.archive.backup import unknown_in
from netautod.maintenance.archive.passphrase_file import read_passphrase
from netautod.maintenance.archive.restore import restore


def add(commands: Commands) -> None:
    parser = commands.add(
        "restore", run, "bring a backup into an empty database; again after an interruption"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that netautod backup has written")
    parser.add_argument(
        "--passphrase-file", metavar="FILE", type=Path, help="passphrase of an encrypted backup"
    )
    parser.add_argument(
        "--unauthenticated",
        action="store_true",
        help="take a backup of netautod 0.1 without a passphrase; the audit names it",
    )


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    passphrase = None if parsed.passphrase_file is None else read_passphrase(parsed.passphrase_file)
    done = asyncio.run(
        restore(configuration.settings, parsed.file, passphrase, unauthenticated=parsed.unauthenticated)
    )
    contents, settled = done.contents, done.settled
    paused = counted(settled.organizations, "organization is", "organizations are")
    verb = "gone on and finished" if done.resumed else "finished"
    for name in unknown_in(contents):
        complain(f"warning: {name} is no collection of this version; it was restored as it is")
    say(f"restore {verb}: {counted(contents.documents, 'document')} as of {to_text(contents.taken_at)}")
    say(f"{counted(settled.executions, 'execution')} cancelled, {counted(settled.sessions, 'session')} ended")
    say(f"{paused} paused: POST /api/system/resume ends that, for each")
    return 0
