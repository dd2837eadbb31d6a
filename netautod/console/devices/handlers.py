"""The list of devices."""

from typing import Any

from netautod.console.base.pages import PageHandler
from netautod.core.pages import Page
from netautod.devices.models import DeviceFilter
from netautod.devices.schemas import DeviceQuery
from netautod.devices.service import DeviceService
from netautod.http.access import requires
from netautod.http.routes import Route


class DevicesPage(PageHandler):
    devices: DeviceService

    @requires("devices.access", query=DeviceQuery)
    async def get(self) -> None:
        """The devices by name, 50 rows a page."""
        narrowed: dict[str, Any] = dict(self.query)
        page = Page(limit=narrowed.pop("limit"), offset=narrowed.pop("offset"))
        listed = await self.devices.page(self.caller.org_id, DeviceFilter(**narrowed), page)
        self.show("devices/list.html", title="Devices", listed=listed)


PAGES = (Route(path="/devices", handler=DevicesPage),)
