"""The command `netautod import`: devices from a CSV or JSON file, straight into the configured database."""

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from netautod.assembly.configuration import Configuration
from netautod.assembly.network.devices import build_devices
from netautod.assembly.network.sessions import build_platforms
from netautod.assembly.plugins import build_storages, fill_secrets, load_plugins
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.network.inventory.imports.json_rows import JsonFile
from netautod.network.inventory.imports.models import MOST_BYTES, ImportResult, RowFile
from netautod.network.inventory.imports.service import RowProgress

FORMATS: dict[str, Callable[[bytes], RowFile]] = {"csv": CsvFile, "json": JsonFile}
SHOWN_ERRORS = 20
STDIN = "-"


def add(commands: Commands) -> None:
    parser = commands.add("import", run, "import devices from a CSV or JSON file")
    parser.add_argument("file", metavar="FILE", help="a .csv or .json file, or - for the standard input")
    parser.add_argument(
        "--format", choices=sorted(FORMATS), help="needed if the file name does not end in .csv or .json"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and change nothing")
    parser.add_argument("--organization", metavar="NAME", help="needed when there are several")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if rows failed; raises InvalidInput for a file that cannot be read as a whole."""
    file = _row_file(parsed.file, parsed.format)
    # The bar is for people only: tqdm draws none where its output is no terminal.
    with tqdm(unit=" rows", disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        result = asyncio.run(
            import_devices(
                configuration,
                file,
                organization=parsed.organization,
                dry_run=parsed.dry_run,
                progress=show,
            )
        )
    for line in _account(result, dry_run=parsed.dry_run):
        say(line)
    return 1 if result.failed else 0


async def import_devices(
    configuration: Configuration,
    file: RowFile,
    *,
    organization: str | None,
    dry_run: bool,
    progress: RowProgress,
) -> ImportResult:
    """Import devices. Without an `organization` there must be only one. Raises InvalidInput or NotFound."""
    async with opened(configuration.settings, makes_one=True) as installation:
        caller = system_caller((await organization_named(installation.people.organizations, organization)).id)
        plugins = load_plugins(
            await fill_secrets(configuration, installation.secrets),
            clock=installation.clock,
            storage=build_storages(installation).of,
        )
        imports = build_devices(
            installation,
            platforms=build_platforms(plugins, configuration.settings.devices),
            transports=plugins.collectors().keys(),
        ).imports
        return await imports.run(caller, file, dry_run=dry_run, progress=progress)


def _row_file(name: str, format_name: str | None) -> RowFile:
    kind = format_name or Path(name).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InvalidInput(f"{name}: neither .csv nor .json; name the format with --format")
    body = _read(name)
    if len(body) > MOST_BYTES:
        raise InvalidInput(f"{name}: larger than {MOST_BYTES} bytes; split it")
    return FORMATS[kind](body)


def _read(name: str) -> bytes:
    """Read at most one byte more than may be imported."""
    if name == STDIN:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{name}: {error.strerror}") from error


def _account(result: ImportResult, *, dry_run: bool) -> list[str]:
    verb, shown = "would import" if dry_run else "imported", result.errors[:SHOWN_ERRORS]
    lines = [
        f"{verb} {result.imported}, failed {result.failed}",
        *(f"row {error.row} {error.name}: {error.error}" for error in shown),
    ]
    lines += [f"warning: row {one.row} {one.name}: {one.warning}" for one in result.warnings]
    if result.failed > SHOWN_ERRORS:
        lines.append(f"and {result.failed - SHOWN_ERRORS} more")
    return lines
