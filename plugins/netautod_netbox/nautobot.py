"""The source `nautobot`: walks the device list of Nautobot 2 and 3 by offset.

Its ids are random, so there is no walk by key. Each page begins with the last device of the page before: if
it is another one, devices were added or deleted meanwhile and some may have slipped through between pages.
"""

from collections.abc import AsyncIterator

from netautod.plugin_api import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
)
from netautod_netbox.api import Api, System
from netautod_netbox.device_types import DeviceTypes
from netautod_netbox.errors import ErrorStatus
from netautod_netbox.filters import NAUTOBOT, query_of
from netautod_netbox.limits import STANDARD, Limits, PageSize
from netautod_netbox.listing import parse
from netautod_netbox.nautobot_rows import Manufacturers, NautobotPage, NautobotRows
from netautod_netbox.urls import Query, base_of

SYSTEM = System(
    name="Nautobot", version_key="nautobot-version", oldest=(2, 0), below=(4, 0), versions="2.x and 3.x"
)
DEVICES = "dcim/devices"
MANUFACTURERS = "dcim/manufacturers"
MOST_MANUFACTURERS = 20_000  # some hundred are usual
# The default order is by name, which several devices may share; pages of equal names have no fixed order.
SORT = ("sort", "id")
DEPTH = ("depth", "1")


class NautobotSource:
    """An InventorySource that reads Nautobot."""

    def __init__(self, access: InventoryAccess, *, limits: Limits = STANDARD) -> None:
        self._access = access
        self._api = Api(access, SYSTEM, scheme="Token", limits=limits)
        self._sort: Query = (SORT,)

    async def probe(self) -> InventoryProbe | None:
        version = await self._api.version()
        if version is None:
            return None
        try:
            first = await self._first()
        except ErrorStatus as error:
            # Unknown parameters are a 400; `sort` is not seen in recordings of every version.
            if error.status != 400 or "sort" not in error.named:
                raise
            self._sort = ()
            first = await self._first()
        return InventoryProbe(system=SYSTEM.name, version=version, device_count=first.count)

    async def devices(self) -> AsyncIterator[InventoryPage]:
        rows, size, offset, is_whole = self._rows(await self._manufacturers()), PageSize(), 0, True
        last: str | None = None
        while True:
            walked = await self._page(rows, size, offset)
            if last is not None and walked.ids[:1] != (last,):
                is_whole = False
            if walked.page.devices or walked.page.problems:
                yield walked.page
            else:  # as from a server that does not know `offset`: it would go on for ever
                break
            end = offset + len(walked.ids)
            if end >= walked.count:
                break
            # One row again, except where the server gives no more than one.
            last = walked.ids[-1] if len(walked.ids) > 1 else None
            offset = end - 1 if last is not None else end
        if not is_whole or len(rows.seen) != walked.count:
            raise IncompleteWalk(
                f"Nautobot's devices changed during the walk ({len(rows.seen)} seen, {walked.count} counted);"
                " some may be missing"
            )

    async def _first(self) -> NautobotPage:
        return await self._api.first(DEVICES, self._query(), self._rows(Manufacturers()).read)

    async def _page(self, rows: NautobotRows, size: PageSize, offset: int) -> NautobotPage:
        return await self._api.page(DEVICES, (*self._query(), ("offset", str(offset))), size, rows.read)

    def _query(self) -> Query:
        return (*self._sort, DEPTH, *query_of(self._access.filters, NAUTOBOT))

    def _rows(self, manufacturers: Manufacturers) -> NautobotRows:
        types = DeviceTypes(self._access.device_types, platforms=self._access.platforms)
        return NautobotRows(base_of(self._access.url), types=types, manufacturers=manufacturers)

    async def _manufacturers(self) -> Manufacturers:
        """Empty for a token that may not see them: then the devices have no manufacturer."""
        found, size, offset = Manufacturers(), PageSize(), 0
        while True:
            try:
                query = (*self._sort, ("offset", str(offset)))
                listing = await self._api.page(
                    MANUFACTURERS, query, size, lambda body: parse(body, found.add)
                )
            except ErrorStatus as error:
                if error.status == 403:
                    return found
                raise
            offset += listing.rows
            if offset > MOST_MANUFACTURERS:
                raise InventoryFailed(f"Nautobot lists more than {MOST_MANUFACTURERS} manufacturers")
            if offset >= listing.count or not listing.rows:
                return found
