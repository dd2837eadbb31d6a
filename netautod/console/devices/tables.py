"""The window of a discovered table that a page shows: narrowed by a text, 50 rows at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.console.devices.columns import Column
from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import Pace
from netautod.core.net.device_addresses import mac_address
from netautod.core.pages import Page, PageOf
from netautod.network.discovery.models import Row
from netautod.network.discovery.service import DiscoveryService

NEIGHBORS = "neighbors"


@dataclass(frozen=True, kw_only=True)
class TableWindow(PageOf[Row]):
    """The rows of a table that a page shows.

    `collected_at` is None if the table was never read. `whole` counts the rows without the filter.
    """

    collected_at: datetime | None
    whole: int


async def window(
    discovery: DiscoveryService, org_id: OrgId, device_id: str, name: str, page: Page, q: str | None
) -> TableWindow:
    """Read the window; without `q` no more parts are read than up to the end of the page."""
    if name == NEIGHBORS:
        table = await discovery.neighbors(org_id, device_id)
    else:
        limit = None if q else page.offset + page.limit
        table = await discovery.table(org_id, device_id, name, limit=limit)
    rows, total = table.rows, table.total
    if q:
        rows = await _narrowed(rows, q)
        total = len(rows)
    shown = rows[page.offset : page.offset + page.limit]
    return TableWindow(
        items=[_with_moments(row) for row in shown],
        total=total,
        page=page,
        collected_at=table.collected_at,
        whole=table.total,
    )


def filled(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """Return the columns in which at least one row has a value."""
    return [column for column in columns if any(_says(row[column.name]) for row in rows)]


def _says(value: Any) -> bool:
    """Return whether the value holds something; counters that are all zero do not."""
    return any(value.values()) if isinstance(value, Mapping) else value not in (None, "", [])


async def _narrowed(rows: Sequence[Row], q: str) -> list[Row]:
    """Return the rows that have the text in one of their values; a MAC address matches in any notation."""
    wanted = {q.lower(), mac_address(q) or q.lower()}
    found, pace = list[Row](), Pace()
    for row in rows:
        if any(text in value for value in _texts(row.values()) for text in wanted):
            found.append(row)
        await pace.breathe()
    return found


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, list | tuple):
            yield from _texts(value)
        elif value is not None:
            yield str(value).lower()


def _with_moments(row: Row) -> Row:
    """Return the row with datetimes: the rows of tables hold them as texts."""
    return {
        name: datetime.fromisoformat(value) if name.endswith("_at") and isinstance(value, str) else value
        for name, value in row.items()
    }
