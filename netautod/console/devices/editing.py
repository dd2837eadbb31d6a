"""The forms that add, change and delete a device; a form refers to other records by name, not by id."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.devices.details import tag_of_device
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.schemas import PROTOCOLS, DeviceRequest
from netautod.network.devices.service import DeviceService
from netautod.network.sites.service import SiteService
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.profiles import PROFILES

MANAGE = "devices.manage"
SUGGESTED = Page(limit=300)  # names in a list of suggestions
CREDENTIALS = {
    "default_credential": "default_credential_id",
    "snmp_credential": "snmp_credential_id",
    "automation_credential": "automation_credential_id",
}
JUMP = "jump_device"
Find = Callable[[OrgId, str], Awaitable[str | None]]


class DeviceFormPage(PageHandler):
    devices: DeviceService
    credentials: CredentialService
    sites: SiteService
    platforms: PlatformRegistry

    async def show_form(self, device: Device | None) -> None:
        org_id = self.caller.org_id
        may_name = self.caller.can(MANAGE_CREDENTIALS)
        self.show(
            "devices/form.html",
            title="New device" if device is None else f"Edit {device.name}",
            device=device,
            tag="" if device is None else tag_of_device(device),
            names={} if device is None else await self._names(device),
            sites=[site.name for site in (await self.sites.page(org_id, SUGGESTED)).items],
            credentials=(await self.credentials.page(org_id, SUGGESTED)).items if may_name else [],
            types=self.platforms.names(),
            protocols=[(one, one.upper()) for one in PROTOCOLS],
            profiles=[(one, one) for one in PROFILES],
            metadata=_as_text({} if device is None else device.metadata),
        )

    async def values(self, *, partial: bool) -> dict[str, Any]:
        """Return the values that DeviceService takes.

        Raises InvalidInput that names the field.
        """
        values = self.form.values(DeviceRequest(), partial=partial)
        await self._add_site(values)
        if any(name in self.form.given for name in CREDENTIALS):
            self.caller.require(MANAGE_CREDENTIALS)  # else an error would tell which names there are
        for name, field in CREDENTIALS.items():
            await self._add_link(values, name, field, self.credentials.id_of, partial=partial)
        await self._add_link(values, JUMP, "jump_device_id", self.devices.id_of, partial=partial)
        return values

    async def _add_site(self, values: dict[str, Any]) -> None:
        """Add the id of the site if its name is that of a managed site; any other name is a free text."""
        name = values.get("site")
        found = None if name is None else await self.sites.id_of(self.caller.org_id, name)
        if found is not None:
            values["site_id"] = found

    async def _add_link(
        self, values: dict[str, Any], name: str, field: str, find: Find, *, partial: bool
    ) -> None:
        if name not in self.form.given:
            return
        text = self.form.text(name)
        if text:
            found = await find(self.caller.org_id, text)
            if found is None:
                raise InvalidInput(f"{name}: Nothing has this name")
            values[field] = found
        elif partial:
            values[field] = None

    async def _names(self, device: Device) -> Mapping[str, str]:
        """Return the names of the records that the device refers to, by the names of the form's fields."""
        org_id, names = self.caller.org_id, dict[str, str]()
        if device.jump_device_id is not None:
            found = await self.devices.live_names(org_id, [device.jump_device_id])
            names[JUMP] = found.get(device.jump_device_id, "")
        if self.caller.can(MANAGE_CREDENTIALS):
            ids = {name: getattr(device, field) for name, field in CREDENTIALS.items()}
            known = await self.credentials.names_of(org_id, [one for one in ids.values() if one])
            names |= {name: known.get(one, "") for name, one in ids.items() if one}
        return names


def _as_text(metadata: Mapping[str, Any]) -> str:
    return json.dumps(metadata, indent=2, ensure_ascii=False) if metadata else ""


class NewDevicePage(DeviceFormPage):
    @requires(MANAGE)
    async def get(self) -> None:
        """Show the form of a new device."""
        await self.show_form(None)

    @requires(MANAGE, consumes=FORM)
    async def post(self) -> None:
        """Create a device."""
        await self.submit(self._create(), again=lambda: self.show_form(None))

    async def _create(self) -> str:
        made = await self.devices.create(self.caller, await self.values(partial=False))
        self.set_notice(f"{made.name} was added")
        return f"/devices/{made.id}"


class OneDeviceFormPage(DeviceFormPage):
    async def device(self, device_id: str) -> Device:
        return await self.devices.get(self.caller.org_id, self.path_id(device_id, "Device"))


class EditDevicePage(OneDeviceFormPage):
    @requires(MANAGE)
    async def get(self, device_id: str) -> None:
        """Show the form of a device."""
        await self.show_form(await self.device(device_id))

    @requires(MANAGE, consumes=FORM)
    async def post(self, device_id: str) -> None:
        """Change a device."""
        device = await self.device(device_id)
        await self.submit(self._change(device.id), again=lambda: self.show_form(device))

    async def _change(self, device_id: str) -> str:
        values = await self.values(partial=True)
        only_if = self.if_unchanged(tag_of_device)
        changed = await self.devices.update(self.caller, device_id, values, only_if=only_if)
        self.set_notice(f"{changed.name} was saved")
        return f"/devices/{changed.id}"


class DeleteDevicePage(OneDeviceFormPage):
    @requires(MANAGE)
    async def get(self, device_id: str) -> None:
        """Ask whether to delete the device."""
        await self._ask(await self.device(device_id))

    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Delete a device."""
        device = await self.device(device_id)
        await self.submit(self._delete(device), again=lambda: self._ask(device))

    async def _ask(self, device: Device) -> None:
        title = f"Delete {device.name}?"
        self.show("devices/delete.html", title=title, device=device, tag=tag_of_device(device))

    async def _delete(self, device: Device) -> str:
        await self.devices.delete(self.caller, device.id, only_if=self.if_unchanged(tag_of_device))
        self.set_notice(f"{device.name} was deleted")
        return "/devices"


PAGES = (
    Route(path="/devices/new", handler=NewDevicePage),
    Route(path="/devices/:id/edit", handler=EditDevicePage),
    Route(path="/devices/:id/delete", handler=DeleteDevicePage),
)
