"""The routes of vouching for devices."""

from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.schemas import DeviceAnswer
from netautod.network.devices.vouching.models import VouchError
from netautod.network.devices.vouching.schemas import VouchedAnswer, VouchRequest
from netautod.network.devices.vouching.service import Vouching


class VouchDeviceHandler(JsonHandler):
    vouching: Vouching

    @requires(MANAGE_CREDENTIALS, answer=DeviceAnswer)
    async def post(self, device_id: str) -> None:
        """Let the secrets of a device go to the address that it has now."""
        device = await self.vouching.one(self.caller, self.path_id(device_id, "Device"))
        self.answer(device.to_json())


class VouchDevicesHandler(JsonHandler):
    vouching: Vouching

    @requires(MANAGE_CREDENTIALS, body=VouchRequest, answer=VouchedAnswer)
    async def post(self) -> None:
        """Let the secrets of many devices go to the addresses that they have now."""
        result = await self.vouching.many(self.caller, self.body["device_ids"])
        await self.answer_with_list(result.counts(), "errors", map(VouchError.to_json, result.errors))


ROUTES = (
    Route(path="/api/devices/vouch", handler=VouchDevicesHandler),
    Route(path="/api/devices/:id/vouch", handler=VouchDeviceHandler),
)
