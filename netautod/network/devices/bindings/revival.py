"""The links of deleted devices that come back: one whose target has gone meanwhile is left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.network.devices.bindings.models import DeviceWrite, KnownDevice
from netautod.network.devices.creation.links import Links
from netautod.network.devices.records.queries import LINK_FIELDS
from netautod.network.devices.store import DeviceStore


class Revival:
    """A check of links before the write and again after it, as `devices.links` does."""

    def __init__(self, *, store: DeviceStore, links: Links, clock: Clock) -> None:
        self._store = store
        self._links = links
        self._clock = clock

    async def without_dead_links(self, org_id: OrgId, writes: Sequence[DeviceWrite]) -> list[DeviceWrite]:
        seen: dict[tuple[str, str], dict[str, Any]] = {}
        whole = []
        for write in writes:
            fixes = await self._fixes(org_id, write.before, seen)
            # Without its jump device it is reached another way, and perhaps another one is.
            vouched = write.vouched and "jump_device_id" not in fixes
            whole.append(replace(write, values={**write.values, **fixes}, vouched=vouched))
        return whole

    async def confirm_links(self, org_id: OrgId, writes: Sequence[DeviceWrite]) -> None:
        """Check the links after the write; only what is still as it was written is undone."""
        seen: dict[tuple[str, str], dict[str, Any]] = {}
        for write in writes:
            values = {**write.before.values, **write.values}
            fixes = await self._fixes(org_id, replace(write.before, values=values), seen)
            if fixes:
                expected = {name: values[name] for name in fixes}
                now, change = self._clock.now(), self._store.change
                await change(org_id, write.before.id, fixes, at=now, vouches=False, expected=expected)

    async def _fixes(
        self, org_id: OrgId, device: KnownDevice, seen: dict[tuple[str, str], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the changes by which the links hold, and the site has its present name."""
        fixes: dict[str, Any] = {}
        for field in LINK_FIELDS:
            target = device.values[field]
            if target is None:
                continue
            # A way through jump devices depends on where it begins.
            known = (field, target) if field != "jump_device_id" else (device.id, target)
            if known not in seen:
                seen[known] = await self._fix(org_id, device.id, field, target)
            fixes.update(seen[known])
        return {name: value for name, value in fixes.items() if device.values[name] != value}

    async def _fix(self, org_id: OrgId, device_id: str, field: str, target: str) -> dict[str, Any]:
        try:
            name = await self._links.check(org_id, device_id, {field: target})
        except InvalidInput:
            return {field: None}
        return {"site": name} if field == "site_id" else {}
