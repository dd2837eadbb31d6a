"""The list of devices with how the backup of each stands, as a page and as CSV."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, NamedTuple

from netautod.console.base.pages import PageHandler
from netautod.core.json.values import optional_text
from netautod.core.pages import Page
from netautod.core.schema.bounds import MOST_IDS
from netautod.core.text.csv_rows import csv_text
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.backups.models import BackupFilter, DeviceWithBackup, Sorting
from netautod.network.configs.schemas import KINDS, BackedUpDevicesQuery
from netautod.network.devices.models import DeviceFilter

READ = "devices.access"
LIST = "/devices"
ROWS_AT_ONCE = 500  # of a CSV that are written in one turn
CSV_COLUMNS = (
    *("name", "host", "port", "protocol", "device_type", "site", "source", "tags", "credential_state"),
    *("last_backup_status", "error_kind", "last_backup_error", "last_backup_at", "last_success_at"),
)


class Narrowed(NamedTuple):
    """The filters of a query; `page` matters only to the page."""

    devices: DeviceFilter
    backups: BackupFilter
    sorting: Sorting
    page: Page


def narrowed_by(query: Mapping[str, Any]) -> Narrowed:
    """Return the filters of a query as the API's list takes them."""
    rest = dict(query)
    page = Page(limit=rest.pop("limit"), offset=rest.pop("offset"))
    sorting = rest.pop("sort")
    names = BackupFilter.__dataclass_fields__
    backups = BackupFilter(**{name: rest.pop(name) for name in names if name in rest})
    return Narrowed(devices=DeviceFilter(**rest), backups=backups, sorting=sorting, page=page)


class DeviceListPage(PageHandler):
    """The base of what is done with the list, or with all that its filters mean."""

    backups: BackupInfos

    async def show_list(self) -> None:
        narrowed = narrowed_by(self.query)
        listed = await self.backups.page(
            self.caller.org_id,
            narrowed.devices,
            narrowed.page,
            backups=narrowed.backups,
            sorting=narrowed.sorting,
        )
        self.show("devices/list.html", title="Devices", listed=listed, most=MOST_IDS, kinds=KINDS)

    def every(self) -> AsyncIterator[DeviceWithBackup]:
        """Return all devices of the list, in its order."""
        narrowed = narrowed_by(self.query)
        return self.backups.each(
            self.caller.org_id, narrowed.devices, backups=narrowed.backups, sorting=narrowed.sorting
        )


class DevicesPage(DeviceListPage):
    @requires(READ, query=BackedUpDevicesQuery)
    async def get(self) -> None:
        """Show the devices with their backups, 50 rows a page."""
        await self.show_list()


class DevicesCsv(DeviceListPage):
    @requires(READ, query=BackedUpDevicesQuery, produces="text/csv")
    async def get(self) -> None:
        """Send all devices of the list as CSV; a row is read only when the client has taken those
        before it.
        """
        self.set_header("Content-Disposition", 'attachment; filename="devices.csv"')
        self.answer_parts(_lines(self.every()), "text/csv; charset=utf-8")


async def _lines(devices: AsyncIterator[DeviceWithBackup]) -> AsyncGenerator[bytes, None]:
    yield csv_text([CSV_COLUMNS]).encode()
    rows: list[list[object]] = []
    async for one in devices:
        rows.append(_row(one))
        if len(rows) == ROWS_AT_ONCE:
            yield csv_text(rows).encode("utf-8", "replace")
            rows = []
    if rows:
        yield csv_text(rows).encode("utf-8", "replace")


def _row(one: DeviceWithBackup) -> list[object]:
    device, facts = one.device, one.facts
    return [
        *(device.name, device.host, device.port, device.protocol, device.device_type, device.site),
        *(device.source, " ".join(device.tags), device.credential_state),
        *(facts.status, facts.kind, facts.error),
        *(optional_text(facts.last_at), optional_text(facts.last_success_at)),
    ]


PAGES = (
    Route(path=LIST, handler=DevicesPage),
    Route(path="/devices.csv", handler=DevicesCsv),
)
