"""The routes of devices."""

from typing import Any

from netautod.core.pages import Page, PageOf
from netautod.http.access import Repeat, requires
from netautod.http.conditions.preconditions import json_tag
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.devices.models import Device, DeviceFilter, DeviceItem
from netautod.network.devices.schemas import (
    BrowseAnswer,
    BrowseQuery,
    DeviceAnswer,
    DeviceQuery,
    DeviceRequest,
    DevicesAnswer,
)
from netautod.network.devices.service import DeviceService


class DeviceHandler(JsonHandler):
    devices: DeviceService

    async def listed(self) -> PageOf[DeviceItem]:
        """Return the page that the query requests."""
        narrowed: dict[str, Any] = dict(self.query)
        page = Page(limit=narrowed.pop("limit"), offset=narrowed.pop("offset"))
        return await self.devices.page(self.caller.org_id, DeviceFilter(**narrowed), page)


class DevicesHandler(DeviceHandler):
    @requires("devices.access", query=DeviceQuery, answer=DevicesAnswer, etag=True)
    async def get(self) -> None:
        """List devices by name."""
        self.answer((await self.listed()).to_json("devices", DeviceItem.to_json))

    @requires(
        "devices.manage", body=DeviceRequest, answer=DeviceAnswer, status=201, repeat=Repeat.FINDS, etag=True
    )
    async def post(self) -> None:
        """Create a device."""
        made = await self.devices.create(self.caller, self.body, device_id=self.record_id)
        self.answer(made.to_json())


class BrowseDevicesHandler(DeviceHandler):
    @requires("devices.access", query=BrowseQuery, answer=BrowseAnswer, name="browse_devices")
    async def get(self) -> None:
        """List devices by name, in larger pages."""
        self.answer(await (await self.listed()).to_json_in_turns("items", DeviceItem.to_json))


class OneDeviceHandler(DeviceHandler):
    @requires("devices.access", answer=DeviceAnswer, etag=True)
    async def get(self, device_id: str) -> None:
        """Read a device with all fields."""
        device = await self.devices.get(self.caller.org_id, self.path_id(device_id, "Device"))
        self.answer(device.to_json())

    @requires("devices.manage", body=DeviceRequest, partial=True, answer=DeviceAnswer, etag=True)
    async def put(self, device_id: str) -> None:
        """Change the sent fields of a device."""
        wanted = self.path_id(device_id, "Device")
        only_if = self.only_if(json_tag(Device.to_json))
        changed = await self.devices.update(self.caller, wanted, self.body, only_if=only_if)
        self.answer(changed.to_json())

    @requires("devices.manage", status=204, etag=True)
    async def delete(self, device_id: str) -> None:
        """Delete a device."""
        only_if = self.only_if(json_tag(Device.to_json))
        await self.devices.delete(self.caller, self.path_id(device_id, "Device"), only_if=only_if)
        self.answer_nothing()


ROUTES = (
    Route(path="/api/devices", handler=DevicesHandler),
    Route(path="/api/devices/browse", handler=BrowseDevicesHandler),
    Route(path="/api/devices/:id", handler=OneDeviceHandler),
)
