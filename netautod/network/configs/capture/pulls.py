"""Reads configurations when a user asks for it: of one device, or of many.

An error of a bulk pull begins with the kind of the device's failure: `auth: ...`, so that a program can tell
a refused login from a time-out. What is no device's fault, such as a database that is down, ends the whole
pull.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import Conflict, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.loop.each import for_each
from netautod.core.work.context import Work
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.configs.capture.captures import ConfigCapture
from netautod.network.configs.models import BulkResult, Captured
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.answer_limit import FEW_DEVICES
from netautod.network.devices.sessions.service import DeviceSessions, SessionScope
from netautod.transport.ssh.failures import NEVER_TRIED, DeviceFailed

AT_ONCE = 100  # devices of a bulk pull that wait for a session or hold one
NAMES_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class BackgroundPulls:
    """A starter of bulk pulls: `begin` makes an execution, of this id if one is given, and returns what
    clients see.
    """

    begin: Callable[[Caller, Sequence[str], str | None], Awaitable[Mapping[str, Any]]]


class Pulls:
    def __init__(
        self,
        *,
        captures: ConfigCapture,
        sessions: DeviceSessions,
        devices: DeviceService,
        audit: AuditLog,
    ) -> None:
        self._captures = captures
        self._sessions = sessions
        self._devices = devices
        self._audit = audit

    async def one(self, caller: Caller, device_id: str) -> Captured:
        """Read one device now, before any bulk work. A failure of the device is a DeviceFailed.

        Raises Conflict where something here keeps the device from being tried, such as a missing credential:
        another try would not help.
        """
        scope = self._sessions.scope(Work(caller=caller), device_id=device_id)
        try:
            _, captured = await self._captures.take(scope, device_id, via="api")
        except DeviceFailed as exc:
            if exc.kind in NEVER_TRIED:
                raise Conflict(exc.text) from exc
            raise
        details = {"version": captured.config.version, "changed": captured.changed}
        await self._audit.record(caller, "config.pull", "device", device_id, details)
        return captured

    @waits(call_by_call)
    async def many(self, caller: Caller, device_ids: Sequence[str]) -> BulkResult:
        """Read many devices, each once. One that fails, or does not exist, is an entry of the errors.

        When it is cancelled, what was stored until then stays, and no session stays open.
        """
        wanted = list(dict.fromkeys(device_ids))
        scope = self._sessions.scope(
            Work(caller=caller, bulk=True),
            answer=self._sessions.answer_seconds if len(wanted) <= FEW_DEVICES else None,
            bulk_pull=len(wanted),
        )
        failed: dict[str, str] = {}

        async def pull(device_id: str) -> None:
            error = await self._error_of(scope, device_id)
            if error is not None:
                failed[device_id] = error

        await for_each(wanted, pull, at_once=AT_ONCE)
        names = await self._names(caller.org_id, list(failed))
        result = BulkResult(
            succeeded=len(wanted) - len(failed),
            errors=[(device_id, names.get(device_id), text) for device_id, text in failed.items()],
        )
        details = {"succeeded": result.succeeded, "failed": len(failed)}
        await self._audit.record(caller, "config.bulk_pull", "device", None, details)
        return result

    async def _error_of(self, scope: SessionScope, device_id: str) -> str | None:
        try:
            await self._captures.take(scope, device_id, via="bulk")
        except DeviceFailed as failure:
            return f"{failure.kind}: {failure.text}"
        except (Conflict, NotFound) as error:
            return error.text
        return None

    async def _names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        names: dict[str, str] = {}
        for start in range(0, len(ids), NAMES_AT_ONCE):
            names |= await self._devices.names(org_id, ids[start : start + NAMES_AT_ONCE])
        return names
