"""Decides about host keys that differ from the pinned ones.

Approving pins exactly the key that was shown to the user who approves, and says nothing about where passwords
may go: a device that is not vouched for must be vouched for first, and visited again. A key that came
through a jump device of an attacker would otherwise be trusted wherever it answers.
"""

from contextlib import suppress

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, NotFound, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.network.devices.host_keys.models import HostKeyPrompt
from netautod.network.devices.host_keys.store import HostKeyStore
from netautod.network.devices.models import Device
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS

NOT_FOUND = "Host key prompt not found"
NOT_VOUCHED = (
    "No user who may manage credentials has vouched for the address at which the device showed this key:"
    " vouch for it, visit the device again, and decide then"
)
MEANWHILE = "The device or its host key was changed meanwhile; visit it again, and decide then"


class HostKeys:
    def __init__(self, *, store: HostKeyStore, clock: Clock, audit: AuditLog) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit

    async def waiting(self, org_id: OrgId) -> list[HostKeyPrompt]:
        """Return one prompt for each device that shows another key than its pinned one, the newest first."""
        return await self._store.waiting(org_id)

    async def of(self, org_id: OrgId, device_id: str) -> HostKeyPrompt | None:
        """Return the prompt that waits for a decision about this device."""
        return await self._store.of(org_id, device_id)

    async def seen(self, org_id: OrgId, device: Device, key: str, *, trusted: bool, by_hand: bool) -> None:
        """Record for a session that the device, as it was visited, showed that key and not the pinned one.

        `trusted`: a first key would have been pinned at this visit. `by_hand`: a person waits for the
        outcome. The failure of the visit is what matters: a database that is away does not replace it.
        """
        if device.host_key_fingerprint not in (None, key):
            with suppress(Unavailable):
                now = self._clock.now()
                await self._store.seen(org_id, device, key, trusted=trusted, by_hand=by_hand, at=now)

    async def answered(self, org_id: OrgId, device: Device) -> None:
        """Record for a session that the pinned key answered, so that there is nothing left to decide."""
        if device.other_key_seen:
            await self._store.end(org_id, device)

    async def approve(self, caller: Caller, prompt_id: str) -> HostKeyPrompt:
        """Pin the key. Raises NotFound, and Conflict where the device is not what was shown any more."""
        caller.require(MANAGE_CREDENTIALS)
        prompt = await self._get(caller.org_id, prompt_id)
        if not await self._store.approve(caller.org_id, prompt, at=self._clock.now()):
            now = await self._get(caller.org_id, prompt_id)
            raise Conflict(MEANWHILE if now.trusted else NOT_VOUCHED)
        await self._record(caller, "device.host_key_approve", prompt)
        return prompt

    async def reject(self, caller: Caller, prompt_id: str) -> HostKeyPrompt:
        """Keep the pinned key. Raises NotFound."""
        caller.require(MANAGE_CREDENTIALS)
        prompt = await self._get(caller.org_id, prompt_id)
        if not await self._store.reject(caller.org_id, prompt):
            raise NotFound(NOT_FOUND)
        await self._record(caller, "device.host_key_reject", prompt)
        return prompt

    async def _get(self, org_id: OrgId, prompt_id: str) -> HostKeyPrompt:
        found = await self._store.get(org_id, prompt_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found

    async def _record(self, caller: Caller, action: str, prompt: HostKeyPrompt) -> None:
        details = {
            "name": prompt.device_name,
            "host": prompt.host,
            "port": prompt.port,
            "fingerprint": prompt.fingerprint,
            "previous_fingerprint": prompt.previous_fingerprint,
        }
        await self._audit.record(caller, action, "device", prompt.device_id, details)
