"""Imports of devices from files: good rows get in, each bad one is an error of its own.

The file is read twice. The first time finds out whether it can be read to its end, so that a 400 means that
nothing was imported. The second time takes its rows in batches of a few hundred. There is no transaction
around them: if we die in between, the devices of earlier batches stay, and a second run of the same file
reports them as duplicates and imports the rest.
"""

import asyncio
from collections.abc import Callable

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import Caller
from netautod.core.loop.pace import Pace
from netautod.network.devices.bulk_creation import DeviceBatches
from netautod.network.inventory.imports.models import MOST_ROWS, ImportResult, RowFile
from netautod.network.inventory.imports.run import ImportRun
from netautod.network.inventory.imports.unknown_types import KnownTypes, UnknownTypes

RowProgress = Callable[[int, int], None]


def _unwatched(done: int, total: int) -> None:
    pass


class ImportService:
    def __init__(self, *, batches: DeviceBatches, audit: AuditLog, known: KnownTypes | None) -> None:
        """Create the service. A dry run warns of device types that are not among the `known` ones."""
        self._batches = batches
        self._audit = audit
        self._known = known

    async def run(
        self, caller: Caller, file: RowFile, *, dry_run: bool = False, progress: RowProgress = _unwatched
    ) -> ImportResult:
        """Import a file. `dry_run` returns what would happen now and changes nothing. `progress`: rows done,
        of how many.

        Raises InvalidInput, before anything is changed, for a file that cannot be read as a whole.
        """
        total = await _length(file)
        unknown = UnknownTypes(self._known) if dry_run and self._known is not None else None
        source = None if dry_run else file.source
        run = ImportRun(self._batches, caller, source=source, unknown=unknown)
        completed = False
        try:
            await run.take(file, lambda done: progress(done, total))
            completed = True
        finally:
            if not dry_run and (completed or run.tally.imported):
                await self._record(caller, file, run, completed=completed)
        # In a thread: the comparison with all platforms takes a millisecond for each unknown type.
        return run.tally.result(await asyncio.to_thread(unknown.warnings) if unknown is not None else ())

    async def _record(self, caller: Caller, file: RowFile, run: ImportRun, *, completed: bool) -> None:
        details = {
            "source": file.source,
            "imported": run.tally.imported,
            "failed": run.tally.failed,
            "completed": completed,
        }
        await self._audit.record(caller, "device.import", "device", None, details)


async def _length(file: RowFile) -> int:
    pace, length = Pace(), 0
    for number in file.scan():
        length = number
        if length > MOST_ROWS:
            raise InvalidInput(f"The file has more than {MOST_ROWS} rows; split it")
        await pace.breathe()
    return length
