"""The base of the pages about one device's configurations."""

from collections.abc import Iterable, Mapping

from netautod.console.base.pages import PageHandler
from netautod.identity.users.service import UserService
from netautod.network.configs.models import Config
from netautod.network.configs.service import ConfigService
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService

READ, NOTE, SECRETS = "devices.access", "devices.manage", "credentials.manage"


class ConfigPage(PageHandler):
    configs: ConfigService
    devices: DeviceService
    users: UserService

    async def device_of(self, text: str) -> Device:
        """Return the device that the path names."""
        return await self.devices.get(self.caller.org_id, self.path_id(text, "Device"))

    async def names_of(self, configs: Iterable[Config]) -> Mapping[str, str]:
        """Return the usernames of the versions' authors by id; deleted users are missing."""
        found = await self.users.find_many({config.created_by for config in configs})
        return {user.id: user.username for user in found.values() if user.org_id == self.caller.org_id}
