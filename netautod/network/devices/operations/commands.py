"""Runs one command on a device for a person or a plugin, and leaves a trace of it.

A device that does not accept the command (a refusal phrase at the beginning of the output, an exit status)
has failed like any other. A question of the device is a failure, too, and the session is closed at once. The
audit event tells the outcome, not the output; the event of the credential's use, written before anything is
sent, names the command too, so that a crash in between hides nothing.
"""

import time
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.work.context import Work
from netautod.core.work.guard import Persist, ask_once
from netautod.network.devices.operations.models import CommandReport
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.session import CliSession, refusal_of
from netautod.transport.ssh.shell.terminal import is_one_line
from netautod.transport.ssh.target import MIB

OUTPUT_BYTES = MIB
CUT = f"\n[output cut at {OUTPUT_BYTES} bytes]"
_MARGIN = 0.2  # seconds: the engine's own timeout comes first, and knows what was printed


class CommandRunner:
    def __init__(self, *, sessions: DeviceSessions, devices: DeviceService, audit: AuditLog) -> None:
        self._sessions = sessions
        self._devices = devices
        self._audit = audit

    async def run(
        self,
        work: Work,
        device_id: str,
        command: str,
        *,
        seconds: float,
    ) -> CommandReport:
        """Run one command. InvalidInput, NotFound without such a device; what goes wrong with it is in the
        outcome.

        The whole call takes `seconds` at most; that of bulk work, of a run, from when it has a session. The
        output is redacted as stored configs are, whatever type the device has.
        """
        if not command.strip() or not is_one_line(command):
            raise InvalidInput("command: it must be one line without control characters")
        await self._devices.require(work.org_id, device_id)
        details = {"command": shown_command(command), **work.audit_details}
        scope = self._sessions.scope(work, seconds=seconds, device_id=device_id, command=details["command"])
        ended: dict[str, Any] = {"outcome": "cancelled"}
        try:
            outcome = await report_of(scope.open(device_id), command)
            ended = {
                "outcome": outcome.kind or "success",
                "credential_id": outcome.credential_id,
                "duration_ms": outcome.execution_time_ms,
            }
            return await self._shown(work, outcome)
        finally:
            details = {**details, **ended}
            # The command was sent: a run goes on with its answer as soon as the event can be stored.
            event = (work.caller, "device.exec_command", "device", device_id, details)
            persist: Persist = ask_once if ended["outcome"] == "cancelled" else work.persist
            await persist(partial(self._audit.record, *event))

    async def _shown(self, work: Work, report: CommandReport) -> CommandReport:
        """Return the report without secrets for callers who may not manage credentials, and in runs: others
        read what they keep.
        """
        if work.caller.can("credentials.manage") and not work.bulk:
            return report
        output = await in_thread_if_large(
            len(report.output), redact, report.output, self._sessions.platforms.for_readers
        )
        return replace(report, output=output)


class OpenedSession(Protocol):
    """A session as a command needs it; `seconds_left()` is the time until its deadline."""

    @property
    def session(self) -> CliSession: ...

    @property
    def credential_id(self) -> str: ...

    def seconds_left(self) -> float: ...


async def report_of(opening: AbstractAsyncContextManager[OpenedSession], command: str) -> CommandReport:
    """Open the session, run one line in it, and report the result; raises no DeviceFailed."""
    started = time.monotonic()
    output, used, answered = "", None, False
    failure: DeviceFailed | None = None
    try:
        async with opening as opened:
            used = opened.credential_id
            seconds = max(_MARGIN, round(opened.seconds_left() - _MARGIN, 1))
            result = await opened.session.execute(command, timeout=seconds, max_bytes=OUTPUT_BYTES)
            output = result.output + result.errors
            failure = refusal_of(result, opened.session.platform)
            answered = True
    except DeviceFailed as exc:
        if not answered:  # else the answer is complete, and only the close of the session failed
            failure, used, output = exc, exc.credential_id, exc.partial
    return CommandReport(
        output=_capped(output, cut=failure is not None and failure.kind == "flood"),
        kind=None if failure is None else failure.kind,
        error=None if failure is None else _error(failure, command),
        credential_id=used,
        execution_time_ms=round((time.monotonic() - started) * 1000),
    )


def _error(failure: DeviceFailed, command: str) -> str:
    # The engine quotes the command, and errors are logged.
    return f"{failure.kind}: {failure.text}".replace(command, shown_command(command))


def _capped(output: str, *, cut: bool) -> str:
    encoded = output.encode()
    if not cut and len(encoded) <= OUTPUT_BYTES:
        return output
    return encoded[: OUTPUT_BYTES - len(CUT)].decode(errors="ignore") + CUT
