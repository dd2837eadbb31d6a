"""Tests logins on devices: a single one, or those of a whole inventory.

A test logs in as every other session does, up to the prompt, enable and the connect commands; so a success
pins the key of a first visit. A person requested it, so it tries suspended logins too: a success lifts the
suspension, and a bulk test gives up each credential after five refusals in a row, as a backup does.
Naming a credential that is not the device's own needs credentials.manage: otherwise everybody who may add
devices could have any password sent to a host of their own.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput, NetautodError, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.json.values import to_text
from netautod.core.loop.each import for_each
from netautod.core.pages import Page
from netautod.core.work.context import Work
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device, DeviceFilter
from netautod.network.devices.operations.models import LoginTest, LoginTests
from netautod.network.devices.service import NOT_FOUND, DeviceService
from netautod.network.devices.sessions.answer_limit import FEW_DEVICES
from netautod.network.devices.sessions.service import DeviceSessions, SessionScope
from netautod.transport.ssh.failures import DeviceFailed, FailureKind

AT_ONCE = 100  # devices of a bulk test that wait for a session or hold one
# What was being done, for the reader of the message.
STAGES: Mapping[FailureKind, str] = {
    "dns": "name lookup failed",
    "refused": "connection failed",
    "timeout": "timeout",
    "kex": "key exchange failed",
    "host_key": "host key check failed",
    "auth": "login failed",
    "enable": "enable failed",
    "prompt": "no prompt after the login",
    "refused_command": "connect command failed",
    "lost": "connection lost",
    "flood": "too much output",
    "not_vouched": "not tried",
    "credential": "no usable credential",
    "address": "address refused",
    "busy": "device busy",
}


class CredentialTests:
    def __init__(
        self,
        *,
        sessions: DeviceSessions,
        devices: DeviceService,
        credentials: CredentialService,
        audit: AuditLog,
    ) -> None:
        self._sessions = sessions
        self._credentials = credentials
        self._devices = devices
        self._audit = audit

    async def one(
        self, work: Work, device_id: str, *, credential_id: str | None, seconds: float
    ) -> LoginTest:
        """Test the login of one device. NotFound without such a device, Forbidden, InvalidInput for an
        unknown credential.

        A failure of the device is in the answer. Bulk work, that of a run, leaves suspended logins alone.
        """
        caller = work.caller
        device = await self._devices.get(caller.org_id, device_id)
        if credential_id is not None and credential_id != device.default_credential_id:
            caller.require("credentials.manage")
        known = credential_id is None or await self._credentials.type_of(caller.org_id, credential_id)
        if not known:
            raise InvalidInput("credential_id: there is no such credential")
        scope = self._sessions.scope(work, seconds=seconds, device_id=device_id)
        tested = await _test(scope, device, credential_id)
        details = {
            "success": tested.success,
            "credential_id": tested.credential_id,
            **work.audit_details,
        }
        await self._audit.record(caller, "device.test_credential", "device", device_id, details)
        return tested

    @waits(call_by_call)
    async def many(self, caller: Caller, device_ids: Sequence[str] | None, *, seconds: float) -> LoginTests:
        """Test each device for `seconds` at most, with its own credential; None: every device."""
        started = time.monotonic()
        few = await self._count(caller.org_id, device_ids) <= FEW_DEVICES
        scope = self._sessions.scope(
            Work(caller=caller, bulk=True),
            background=False,
            seconds=seconds,
            answer=self._sessions.answer_seconds if few else None,
            bulk_test=True,
        )
        results: list[tuple[int, LoginTest]] = []

        async def test(numbered: tuple[int, Device | str]) -> None:
            number, wanted = numbered
            found = _absent(wanted) if isinstance(wanted, str) else await _test(scope, wanted, None)
            results.append((number, found))

        await for_each(_numbered(self._wanted(caller.org_id, device_ids)), test, at_once=AT_ONCE)
        results.sort(key=lambda numbered: numbered[0])
        tests = LoginTests(
            results=[test for _, test in results],
            succeeded=sum(test.success for _, test in results),
            duration_ms=_milliseconds(started),
        )
        await self._audit.record(caller, "device.bulk_test_credentials", "device", None, tests.totals())
        return tests

    async def _count(self, org_id: OrgId, device_ids: Sequence[str] | None) -> int:
        if device_ids is not None:
            return len(set(device_ids))
        return (await self._devices.page(org_id, DeviceFilter(), Page(limit=1))).total

    async def _wanted(self, org_id: OrgId, device_ids: Sequence[str] | None) -> AsyncIterator[Device | str]:
        """Yield the devices, or the id where there is none; a few hundred in memory at a time."""
        if device_ids is None:
            async for batch in self._devices.matching(org_id):
                for device in batch:
                    yield device
            return
        # One question about all: 10,000 ids of no device would be as many questions, one after the other.
        known = await self._devices.live_names(org_id, device_ids)
        for device_id in dict.fromkeys(device_ids):
            if device_id not in known:
                yield device_id
                continue
            try:
                yield await self._devices.get(org_id, device_id)
            except NotFound:
                yield device_id


async def _test(scope: SessionScope, device: Device, credential_id: str | None) -> LoginTest:
    started = time.monotonic()
    used = credential_id
    success = False
    try:
        async with scope.open(device.id, credential_id=credential_id) as opened:
            used, success = opened.credential_id, True
            message = "login succeeded"
    except DeviceFailed as failure:
        if not success:  # else only the close of the session failed
            used, message = failure.credential_id, _message(failure)
    except NetautodError as error:  # such as a device that was deleted meanwhile
        message = error.text
    return LoginTest(
        device_id=device.id,
        device_name=device.name,
        host=device.host,
        port=device.port,
        credential_id=used,
        success=success,
        message=message,
        duration_ms=_milliseconds(started),
    )


def _message(failure: DeviceFailed) -> str:
    text = f"{STAGES.get(failure.kind, failure.kind)}: {failure.text}"
    if failure.suspended_until is None:
        return text
    return f"{text}; background work does not try it again before {to_text(failure.suspended_until)}"


async def _numbered(things: AsyncIterator[Device | str]) -> AsyncIterator[tuple[int, Device | str]]:
    number = 0
    async for thing in things:
        yield number, thing
        number += 1


def _absent(device_id: str) -> LoginTest:
    return LoginTest(
        device_id=device_id,
        device_name=None,
        host=None,
        port=None,
        credential_id=None,
        success=False,
        message=NOT_FOUND,
        duration_ms=0,
    )


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
