"""The command `netautod sync`: a saved inventory source, straight into the configured database."""

import argparse
import asyncio
import json
import sys
from contextlib import AsyncExitStack

from tqdm import tqdm

from netautod.assembly.base import open_command_base
from netautod.assembly.configuration import Configuration
from netautod.assembly.network.devices import build_devices
from netautod.assembly.network.inventory import build_inventories
from netautod.assembly.network.sessions import build_platforms
from netautod.assembly.plugins import build_storages, fill_secrets, load_plugins
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.identity.caller import system_caller
from netautod.network.inventory.sync.models import Progress, SyncOptions, SyncResult

SHOWN_ERRORS = 20
PHASES = {"read": "reading", "apply": "applying"}


def add(commands: Commands) -> None:
    parser = commands.add("sync", run, "synchronise devices with a saved inventory source")
    parser.add_argument("source", metavar="SOURCE", help="name or id of a saved inventory source")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and change nothing")
    parser.add_argument(
        "--confirm-removals", action="store_true", help="remove devices even if they are over half of all"
    )
    parser.add_argument("--json", action="store_true", help="print the result as the API answers it")
    parser.add_argument("--organization", metavar="NAME", help="needed when there are several")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if anything went wrong; raises the error of an inventory that cannot be read."""
    options = SyncOptions(dry_run=parsed.dry_run, confirm_removals=parsed.confirm_removals)
    # The bar is for people only: tqdm draws none where its output is no terminal.
    with tqdm(unit=" devices", disable=None, leave=False) as bar:
        shown = ""

        def show(phase: str, done: int, total: int | None) -> None:
            nonlocal shown
            if phase != shown:
                shown = phase
                bar.reset(total)
                bar.set_description(PHASES[phase])
            bar.total = total
            bar.update(done - bar.n)

        result = asyncio.run(
            _sync_source(
                configuration, parsed.source, options, organization=parsed.organization, progress=show
            )
        )
    if parsed.json:
        sys.stdout.write(json.dumps(result.to_json(), indent=2) + "\n")
    else:
        for line in _account(result):
            say(line)
    return 1 if result.errors else 0


async def _sync_source(
    configuration: Configuration,
    source: str,
    options: SyncOptions,
    *,
    organization: str | None,
    progress: Progress,
) -> SyncResult:
    """Synchronise the source of that name or id. Without an `organization` there must be only one."""
    settings = configuration.settings
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(opened(settings))
        caller = system_caller((await organization_named(installation.people.organizations, organization)).id)
        plugins = load_plugins(
            await fill_secrets(configuration, installation.secrets),
            clock=installation.clock,
            storage=build_storages(installation).of,
        )
        base = await stack.enter_async_context(open_command_base(installation, plugins))
        platforms = build_platforms(plugins, settings.devices)
        inventory = build_inventories(base, build_devices(base).synced, platforms.slugs)
        found = await inventory.sources.named(caller.org_id, source)
        return await inventory.sync.sync_source(caller, found.id, options, progress)


def _account(result: SyncResult) -> list[str]:
    would = "" if result.plan is None else "would be: "
    shown = result.errors[:SHOWN_ERRORS]
    lines = [
        f"{would}added {result.added}, updated {result.updated}, unchanged {result.unchanged},"
        f" failed {result.failed}, removed {result.removed}",
        *(_line(error.name, error.inventory_id, error.error) for error in shown),
    ]
    if len(result.errors) > SHOWN_ERRORS:
        lines.append(f"and {len(result.errors) - SHOWN_ERRORS} more")
    return lines


def _line(name: str | None, inventory_id: int | None, error: str) -> str:
    which = " ".join(str(part) for part in (inventory_id, name) if part is not None)
    return f"{which}: {error}" if which else error
