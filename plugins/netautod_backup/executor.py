"""One attempt of a backup: captures each device that is not settled, then makes the snapshot."""

import time
from collections.abc import AsyncIterator
from typing import Any, ClassVar

from marshmallow import Schema

from netautod.plugin_api import (
    DeviceFailed,
    DeviceInfo,
    DeviceResult,
    ExecutionFailed,
    PermanentFailure,
    ResultTotals,
    RunContext,
    for_each,
)
from netautod_backup.parameters import BackupParameters

AT_ONCE = 130  # devices that wait for a session or hold one; the service bounds the sessions
PROGRESS_SECONDS = 1.0


class BackupExecutor:
    """The executor of backup tasks.

    It is idempotent: a further attempt of the execution visits only the devices that have neither succeeded
    nor failed for good.
    """

    task_type: ClassVar[str] = "backup"
    parameters_schema: ClassVar[type[Schema] | None] = BackupParameters
    idempotent: ClassVar[bool] = True

    async def run(self, context: RunContext) -> Any:
        """Back up the devices and return the output.

        Raises ExecutionFailed with it if devices failed that may yet succeed, PermanentFailure if all that
        failed would fail again.
        """
        backup = _Backup(context, settled=await context.results.settled())
        await backup.count()
        await for_each(backup.unsettled(), backup.visit, at_once=AT_ONCE)
        await backup.report_progress()
        totals = await context.results.totals()
        name = context.parameters.get("snapshot_name") or context.execution.task_name
        snapshot_id = await context.acting.create_snapshot(name, totals)
        output = _output(snapshot_id, name, totals)
        await context.log("info", f"{totals.succeeded} of {totals.devices_total} devices are stored")
        if totals.failed == 0:
            return output
        text = f"{totals.failed} of {totals.devices_total} devices failed"
        failure = ExecutionFailed if backup.worth_a_retry else PermanentFailure
        raise failure(text, output=output)


class _Backup:
    """The state of one attempt; of the devices it keeps only the ids of the settled ones."""

    def __init__(self, context: RunContext, *, settled: frozenset[str]) -> None:
        self._context = context
        self._settled = settled
        device_filter = context.parameters.get("device_filter") or {}
        self._filter = {key: device_filter.get(key) for key in ("site", "device_type")}
        credential_id = context.parameters.get("credential_id")
        self._credential_id = None if credential_id is None else str(credential_id)
        self._total = 0
        self._done = 0
        self._reported_at = 0.0
        self.worth_a_retry = False

    async def count(self) -> None:
        """Count the devices, so that the progress has a total."""
        async for _ in self._context.acting.devices(**self._filter):
            self._total += 1
        if self._settled:
            text = f"{len(self._settled)} devices are settled by an earlier attempt"
            await self._context.log("info", text)

    async def unsettled(self) -> AsyncIterator[DeviceInfo]:
        async for device in self._context.acting.devices(**self._filter):
            if device.id in self._settled:
                await self._advance()
            else:
                yield device

    async def visit(self, device: DeviceInfo) -> None:
        started = time.monotonic()
        try:
            outcome = await self._context.acting.capture_config(device.id, credential_id=self._credential_id)
        except DeviceFailed as failure:
            await self._failed(device, failure, _milliseconds(started))
        else:
            result = DeviceResult(
                device_id=device.id,
                device_name=device.name,
                success=True,
                duration_ms=_milliseconds(started),
                changed=outcome.changed,
                version=outcome.version,
                config_id=outcome.config_id,
                config_hash=outcome.config_hash,
                credential_id=outcome.credential_id,
            )
            await self._context.results.record(result)
            what = "changed, stored as version" if outcome.changed else "unchanged since version"
            notes = "".join(f"; {note}" for note in outcome.notes)
            await self._context.log("info", f"{device.name}: {what} {outcome.version}{notes}", device.id)
        await self._advance()

    async def _failed(self, device: DeviceInfo, failure: DeviceFailed, duration_ms: int) -> None:
        self.worth_a_retry = self.worth_a_retry or not failure.final
        result = DeviceResult(
            device_id=device.id,
            device_name=device.name,
            success=False,
            duration_ms=duration_ms,
            credential_id=failure.credential_id,
            error=failure.text,
            error_kind=failure.kind,
            final=failure.final,
        )
        await self._context.results.record(result)
        await self._context.log("warning", f"{device.name}: {failure.text}", device.id)

    async def _advance(self) -> None:
        """Report the progress once a second at most: each report costs a write."""
        self._done += 1
        now = time.monotonic()
        if now - self._reported_at >= PROGRESS_SECONDS:
            self._reported_at = now
            await self.report_progress()

    async def report_progress(self) -> None:
        self._total = max(self._total, self._done)  # it may have grown since it was counted
        await self._context.progress(self._done, self._total)


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _output(snapshot_id: str, name: str, totals: ResultTotals) -> dict[str, Any]:
    """Return the output; the service fills in `results` when the execution is read."""
    return {
        "snapshot_id": snapshot_id,
        "snapshot_name": name,
        "devices_total": totals.devices_total,
        "succeeded": totals.succeeded,
        "failed": totals.failed,
        "changed": totals.changed,
        "unchanged": totals.unchanged,
        "results": [],
    }
