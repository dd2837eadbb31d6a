"""One import: takes the rows in batches, validates them, writes them and counts."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import Caller
from netautod.core.loop.pace import Pace
from netautod.core.work.deadlines import unhurried, waits
from netautod.network.devices.bulk_creation import DeviceBatches
from netautod.network.inventory.imports.models import NAME_LIMIT, ImportRow, ImportTally, RowFile
from netautod.network.inventory.imports.row_rules import RowRules
from netautod.network.inventory.imports.unknown_types import UnknownTypes

# The driver encodes a batch without a pause: this many take it some 3 ms.
BATCH = 250


class ValidRow(NamedTuple):
    """A row that nothing is wrong with so far; `fields` as DeviceRequest loads them."""

    number: int
    fields: dict[str, Any]


@dataclass(kw_only=True)
class Batch:
    """A batch of rows that are still good, and those that failed: number, name and reason."""

    good: list[ValidRow] = field(default_factory=list)
    failed: list[tuple[int, str, str]] = field(default_factory=list)

    def refuse(self, problems: Sequence[str | None]) -> None:
        """Move the good rows that have a problem to the failed ones, in their order."""
        judged = list(zip(self.good, problems, strict=True))
        self.good = [row for row, problem in judged if problem is None]
        self.failed += [
            (row.number, row.fields["name"], problem) for row, problem in judged if problem is not None
        ]


class ImportRun:
    """A run of an import. `source` None: nothing is written, names are only looked up.

    `unknown` collects the device types that no platform has.
    """

    def __init__(
        self,
        batches: DeviceBatches,
        caller: Caller,
        *,
        source: str | None,
        unknown: UnknownTypes | None = None,
    ) -> None:
        self.tally = ImportTally()
        self._batches = batches
        self._caller = caller
        self._source = source
        self._unknown = unknown
        self._rules = RowRules()
        self._pace = Pace()
        self._names: dict[str, int] = {}

    @waits(unhurried)
    async def take(self, file: RowFile, report: Callable[[int], None]) -> None:
        """Import the rows; `report` is called after each batch with the number of rows done.

        While a batch is being written the next one is prepared.
        """
        rows, done = file.rows(), 0
        writing: asyncio.Task[None] | None = None
        try:
            while batch := await self._next(rows):
                prepared = await self._prepared(batch)
                if writing is not None:
                    await writing
                    report(done)
                done += len(batch)
                writing = asyncio.create_task(self._finish(prepared), name="import batch")
        finally:
            if writing is not None:  # however the loop ended, the counts are those of what was written
                await writing
                report(done)

    async def _next(self, rows: Iterator[ImportRow]) -> list[ImportRow]:
        batch = []
        for row in rows:
            batch.append(row)
            await self._pace.breathe()
            if len(batch) == BATCH:
                break
        return batch

    async def _prepared(self, rows: Sequence[ImportRow]) -> Batch:
        batch = Batch()
        await self._validate(rows, batch)
        if batch.good:
            batch.refuse(await self._batches.problems(self._caller, [row.fields for row in batch.good]))
            batch.refuse(self._repeated(batch.good))
        return batch

    async def _finish(self, batch: Batch) -> None:
        if batch.good:
            batch.refuse(await self._written(batch.good))
        self.tally.imported += len(batch.good)
        if self._unknown is not None:
            for row in batch.good:
                self._unknown.add(row.number, row.fields["name"], row.fields["device_type"])
        for number, name, problem in sorted(batch.failed):
            self.tally.add_failed(number, name, problem)

    async def _validate(self, rows: Sequence[ImportRow], batch: Batch) -> None:
        for row in rows:
            await self._pace.breathe()
            try:
                if row.problem is not None:
                    raise InvalidInput(row.problem)
                batch.good.append(ValidRow(row.number, self._rules.load(row.value)))
            except InvalidInput as error:
                batch.failed.append((row.number, _shown_name(row.value), error.text))

    def _repeated(self, rows: Sequence[ValidRow]) -> list[str | None]:
        firsts = [self._names.setdefault(row.fields["name"], row.number) for row in rows]
        return [
            None if first == row.number else f"name: the same as in row {first}"
            for first, row in zip(firsts, rows, strict=True)
        ]

    async def _written(self, rows: Sequence[ValidRow]) -> list[str | None]:
        if self._source is None:
            return await self._batches.taken(self._caller.org_id, [row.fields["name"] for row in rows])
        return await self._batches.insert(self._caller, [row.fields for row in rows], source=self._source)


def _shown_name(value: Any) -> str:
    """Return the name of a refused row, as far as it has one that an answer can carry."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return ""
    return name[:NAME_LIMIT].encode("utf-8", "replace").decode().strip()
