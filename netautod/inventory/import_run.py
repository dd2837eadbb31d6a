"""One import under way: its rows in batches, each through the same steps, and the tally of them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from netautod.caller import Caller
from netautod.devices.batches import DeviceBatches
from netautod.errors import InvalidInput
from netautod.inventory.import_models import NAME_LIMIT, Row, RowFile, Tally
from netautod.inventory.row_rules import RowRules
from netautod.pace import Pace

# The driver encodes a batch without a pause: this many take it some 3 ms.
BATCH = 250


class Good(NamedTuple):
    """A row that nothing is wrong with so far; `fields` as DeviceRequest loads them."""

    number: int
    fields: dict[str, Any]


class ImportRun:
    """`source` None: nothing is written, names are only looked up."""

    def __init__(self, batches: DeviceBatches, caller: Caller, *, source: str | None) -> None:
        self.tally = Tally()
        self._batches = batches
        self._caller = caller
        self._source = source
        self._rules = RowRules()
        self._pace = Pace()
        self._names: dict[str, int] = {}

    async def take(self, file: RowFile, tell: Callable[[int], None]) -> None:
        """Takes the rows in; `tell` hears after each batch how many are done."""
        batch: list[Row] = []
        done = 0
        for row in file.rows():
            batch.append(row)
            if len(batch) == BATCH:
                await self._batch(batch)
                done += len(batch)
                tell(done)
                batch = []
            await self._pace.breathe()
        if batch:
            await self._batch(batch)
            tell(done + len(batch))

    async def _batch(self, rows: Sequence[Row]) -> None:
        failed: list[tuple[int, str, str]] = []
        good = await self._validated(rows, failed)
        for step in (self._linked, self._first_of_their_name, self._written):
            problems = await step(good) if good else []
            failed += [
                (row.number, row.fields["name"], problem)
                for row, problem in zip(good, problems, strict=True)
                if problem is not None
            ]
            good = [row for row, problem in zip(good, problems, strict=True) if problem is None]
        self.tally.imported += len(good)
        for number, name, problem in sorted(failed):
            self.tally.add_failed(number, name, problem)

    async def _validated(self, rows: Sequence[Row], failed: list[tuple[int, str, str]]) -> list[Good]:
        good = []
        for row in rows:
            await self._pace.breathe()
            try:
                if row.problem is not None:
                    raise InvalidInput(row.problem)
                good.append(Good(row.number, self._rules.load(row.value)))
            except InvalidInput as error:
                failed.append((row.number, _shown_name(row.value), error.text))
        return good

    async def _linked(self, rows: Sequence[Good]) -> list[str | None]:
        return await self._batches.problems(self._caller, [row.fields for row in rows])

    async def _first_of_their_name(self, rows: Sequence[Good]) -> list[str | None]:
        firsts = [self._names.setdefault(row.fields["name"], row.number) for row in rows]
        return [
            None if first == row.number else f"name: the same as in row {first}"
            for first, row in zip(firsts, rows, strict=True)
        ]

    async def _written(self, rows: Sequence[Good]) -> list[str | None]:
        if self._source is None:
            return await self._batches.taken(self._caller.org_id, [row.fields["name"] for row in rows])
        return await self._batches.insert(
            self._caller.org_id, [row.fields for row in rows], source=self._source
        )


def _shown_name(value: Any) -> str:
    """The name of a row that was refused, as far as it has one that an answer can carry."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return ""
    return name[:NAME_LIMIT].encode("utf-8", "replace").decode().strip()
