"""Host keys that were shown on a way: first ones are pinned, changed ones wait for a decision."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from netautod.core.identity.caller import OrgId
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.endpoints import CommandLine, Endpoint, Opened
from netautod.network.devices.sessions.login_paths import Leg
from netautod.transport.ssh.failures import DeviceFailed


@dataclass(frozen=True, kw_only=True)
class ShownKeys:
    """The host keys shown at the visits of one request or run. `by_hand`: a person waits for the outcome."""

    devices: DeviceService
    host_keys: HostKeys
    org_id: OrgId
    by_hand: bool

    @asynccontextmanager
    async def noting(self, legs: list[Leg]) -> AsyncIterator[None]:
        """Record a changed key after the block, whatever the visit was for: it waits for a decision."""
        try:
            yield
        except DeviceFailed as exc:
            leg = failing(legs, exc)
            if leg is not None and exc.shown_key is not None:
                await self._note(leg, leg.device, exc.shown_key)
            raise

    async def pin(self, legs: Sequence[Leg], endpoint: Endpoint[Opened], session: Opened) -> None:
        """Pin each key of a first visit; DeviceFailed if another one was pinned at this moment."""
        shown = (*session.jump_host_key_fingerprints, session.host_key_fingerprint)
        for leg, key in zip(legs, shown, strict=True):
            if key is None or not leg.may_be_pinned or leg.device.host_key_fingerprint is not None:
                continue
            pin = endpoint.pin if leg is legs[-1] else CommandLine().pin
            pinned = await pin(self.devices, self.org_id, leg.device, key)
            if pinned not in (None, key):
                await self._note(leg, replace(leg.device, host_key_fingerprint=pinned), key)
                text = f"host key changed: pinned is {pinned}, {leg.device.name} shows {key}"
                raise DeviceFailed(text, kind="host_key")

    async def _note(self, leg: Leg, device: Device, key: str) -> None:
        trusted = leg.may_be_pinned
        await self.host_keys.seen(self.org_id, device, key, trusted=trusted, by_hand=self.by_hand)


def failing(legs: Sequence[Leg], exc: DeviceFailed) -> Leg | None:
    """Return the leg that failed."""
    if exc.hop is None:
        return legs[-1]
    return next((leg for leg in legs[:-1] if leg.device.name == exc.hop), None)
