"""The briefing that an agent gets before it begins: what its organization has, and how much of it."""

from collections import Counter
from typing import Protocol

from netautod.core.identity.caller import OrgId
from netautod.network.devices.service import DeviceService

MOST_NAMED = 30


class Organization(Protocol):
    @property
    def name(self) -> str: ...


class Organizations(Protocol):
    async def get(self, org_id: OrgId) -> Organization | None: ...


class Briefing:
    def __init__(self, *, devices: DeviceService, organizations: Organizations) -> None:
        self._devices = devices
        self._organizations = organizations

    async def of(self, org_id: OrgId) -> str:
        organization = await self._organizations.get(org_id)
        types, sites = Counter[str](), Counter[str]()
        async for batch in self._devices.matching(org_id):
            types.update(device.device_type for device in batch)
            sites.update(device.site or "(none)" for device in batch)
        name = "unknown" if organization is None else organization.name
        return "\n".join(
            [
                f"Name: {name}",
                f"Devices: {types.total()}",
                f"Device types: {_listed(types)}",
                f"Sites: {_listed(sites)}",
            ]
        )


def _listed(counted: Counter[str]) -> str:
    found = [f"{name} ({number})" for name, number in counted.most_common(MOST_NAMED)]
    more = len(counted) - len(found)
    return ", ".join(found) + (f" and {more} more" if more else "")
