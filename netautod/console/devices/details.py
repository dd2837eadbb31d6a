"""One device: its health, its configs, the tables that polls fill, its polls and its runs."""

from typing import Any

from netautod.automation.executions.service import ExecutionService
from netautod.console.base.pages import PageHandler
from netautod.console.devices.columns import RUNS, TABLES, TABS
from netautod.console.devices.schemas import DeviceTabQuery
from netautod.console.devices.tables import TableWindow, filled, window
from netautod.console.devices.views import DeviceView, SummaryView
from netautod.core.pages import Page, PageOf
from netautod.http.access import requires
from netautod.http.conditions.preconditions import json_tag
from netautod.http.routing.routes import Route
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.service import ConfigService
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.models import Device
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.polling.models import Poll
from netautod.network.discovery.service import DiscoveryService

READ = "devices.access"
SUMMARY, POLLS = "summary", "polls"
VERSIONS = Page(limit=5)
tag_of_device = json_tag(Device.to_json)


class OneDevicePage(PageHandler):
    """The base of the pages about one device; each shows the device again after an error that a user can
    correct."""

    devices: DeviceService
    discovery: DiscoveryService
    backups: BackupInfos
    configs: ConfigService
    executions: ExecutionService
    host_keys: HostKeys
    credentials: CredentialService

    def device_id(self, text: str) -> str:
        return self.path_id(text, "Device")

    async def show_device(self, device_id: str, **more: Any) -> None:
        """Show the first tab; `more` holds the result of an action."""
        await self.show_tab(device_id, SUMMARY, Page(), None, **{"test": None, "live": False, **more})

    async def show_tab(self, device_id: str, tab: str, page: Page, q: str | None, **more: Any) -> None:
        device = await self.devices.get(self.caller.org_id, device_id)
        content = await self._content_of(device_id, tab, page, q)
        self.show(
            "devices/device.html",
            title=device.name,
            view=await self._view(device),
            tabs=[one for one in TABS if one.permission is None or self.caller.can(one.permission)],
            tab=tab,
            columns=filled(TABLES[tab], content.items) if isinstance(content, TableWindow) else (),
            content=content,
            **{"test": None, "live": True, **more},
        )

    async def _view(self, device: Device) -> DeviceView:
        org_id, device_id = self.caller.org_id, device.id
        return DeviceView(
            device=device,
            tag=tag_of_device(device),
            status=await self.discovery.status(org_id, device_id),
            backup=(await self.backups.of(org_id, [device_id]))[device_id],
            prompt=await self.host_keys.of(org_id, device_id) if device.other_key_seen else None,
            names=await self._names(device),
        )

    async def _names(self, device: Device) -> dict[str, str]:
        """Return the names of the jump device and, if the caller may see them, of the credentials, by id."""
        org_id, jump = self.caller.org_id, device.jump_device_id
        names = {} if jump is None else await self.devices.live_names(org_id, [jump])
        if self.caller.can(MANAGE_CREDENTIALS):
            used = (
                device.default_credential_id,
                device.snmp_credential_id,
                device.automation_credential_id,
            )
            wanted = [one for one in used if one is not None]
            names |= await self.credentials.names_of(org_id, wanted)
        return names

    async def _content_of(self, device_id: str, tab: str, page: Page, q: str | None) -> object:
        org_id = self.caller.org_id
        if tab in TABLES:
            return await window(self.discovery, org_id, device_id, tab, page, q)
        if tab == POLLS:
            return await self._polls(device_id, page)
        if tab == SUMMARY:
            return SummaryView(
                configs=await self.configs.page(org_id, device_id, VERSIONS),
                noise=await self.configs.learned_noise(self.caller, device_id),
            )
        self.caller.require(RUNS)
        return await self.executions.of_device(org_id, device_id, page)

    async def _polls(self, device_id: str, page: Page) -> PageOf[Poll]:
        polls, total = await self.discovery.history(
            self.caller.org_id, device_id, limit=page.limit, offset=page.offset
        )
        return PageOf(items=polls, total=total, page=page)


class DevicePage(OneDevicePage):
    @requires(READ, query=DeviceTabQuery)
    async def get(self, device_id: str) -> None:
        """Show one tab of a device."""
        page = Page(limit=self.query["limit"], offset=self.query["offset"])
        await self.show_tab(self.device_id(device_id), self.query["tab"], page, self.query.get("q"))


PAGES = (Route(path="/devices/:id", handler=DevicePage),)
