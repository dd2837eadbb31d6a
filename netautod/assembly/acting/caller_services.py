"""The product's services as plugins see them: in the name of a user, behind the same checks as HTTP."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from netautod.activity.audit.service import AuditLog
from netautod.assembly.base import Base
from netautod.assembly.network.device_services import DeviceServices
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import Caller
from netautod.core.schema.bases import uuid_or_none
from netautod.core.work.context import Work
from netautod.network.configs.backups.info import BackupInfo, BackupInfos
from netautod.network.configs.capture.captures import ConfigCapture
from netautod.network.configs.models import Captured
from netautod.network.devices.models import Device
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.models import LONGEST_SECONDS, SHORTEST_SECONDS
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.plugin_api import BackupState, CaptureOutcome, CommandOutcome, DeviceFailed, DeviceInfo
from netautod.transport.outbound.client import GuardedClient

READ = "devices.access"
COMMAND = "devices.manage"


@dataclass(frozen=True, kw_only=True)
class SharedServices:
    """The services that the `CallerServices` of all callers share."""

    devices: DeviceService
    backups: BackupInfos
    captures: ConfigCapture
    sessions: DeviceSessions
    commands: CommandRunner
    audit: AuditLog
    http: GuardedClient


class CallerServices:
    """The `UserServices` of the caller of `work`. Every call checks the permission as HTTP does."""

    def __init__(self, *, work: Work, shared: SharedServices) -> None:
        self.work = work
        self._shared = shared
        self._sessions = shared.sessions.scope(work)

    async def devices(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[DeviceInfo]:
        async for batch in self._batches(site, device_type):
            for device in batch:
                yield _info(device)

    async def backups(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[BackupState]:
        async for batch in self._batches(site, device_type):
            ids = [device.id for device in batch]
            known = await self.work.persist(partial(self._shared.backups.of, self.work.org_id, ids))
            for device in batch:
                yield _state(device, known[device.id])

    async def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome:
        """Capture the config of the device and record the capture.

        Raises DeviceFailed (kinds: transport/ssh/failures.py); `not_found`: the device was deleted meanwhile.
        """
        self.work.caller.require(READ)
        # `str`: a schema's UUID field gives a UUID.
        override = None if credential_id is None else uuid_or_none(str(credential_id)) or str(credential_id)
        via = "api" if self.work.execution_id is None else "task"
        try:
            # Asked again only for what went wrong before the device was read: the rest is kept by `take`.
            name, captured = await self.work.persist(
                partial(
                    self._shared.captures.take, self._sessions, device_id, via=via, credential_id=override
                )
            )
        except NotFound as exc:
            raise DeviceFailed(exc.text, kind="not_found") from exc
        self.work.guard()
        await self.captured(device_id, name, captured)
        config = captured.config
        return CaptureOutcome(
            config_id=config.id,
            version=config.version,
            config_hash=config.shown.config_hash or "",
            changed=captured.changed,
            credential_id=captured.credential_id,
            notes=captured.notes,
        )

    async def captured(self, device_id: str, name: str, captured: Captured) -> None:
        """Record a capture: that of a request is an audit event of its own."""
        details = {"version": captured.config.version, "changed": captured.changed}
        await self._shared.audit.record(self.work.caller, "config.pull", "device", device_id, details)

    async def run_command(
        self, device_id: str, command: str, *, timeout_seconds: float = 30.0
    ) -> CommandOutcome:
        """Run the command on the device and return its output, also if the device fails.

        A run uses a background session, which tries no suspended logins and takes no person's place in the
        queue.
        """
        self.work.caller.require(COMMAND)
        self.work.guard()
        try:
            ran = await self._shared.commands.run(
                self.work,
                device_id,
                command,
                seconds=max(SHORTEST_SECONDS, min(LONGEST_SECONDS, timeout_seconds)),
            )
        except InvalidInput as exc:
            raise ValueError(exc.text) from exc
        except NotFound as exc:
            return CommandOutcome(
                success=False, output="", error=exc.text, error_kind="not_found", duration_ms=0
            )
        return ran.outcome

    async def _batches(self, site: str | None, device_type: str | None) -> AsyncIterator[list[Device]]:
        self.work.caller.require(READ)
        async for batch in self.matching(site, device_type):
            self.work.guard()
            yield batch

    def matching(self, site: str | None, device_type: str | None) -> AsyncIterator[list[Device]]:
        """Yield the devices that the caller may work with; the subclass of a run may narrow them."""
        return self._shared.devices.matching(
            self.work.org_id, site=site, device_type=device_type, persist=self.work.persist
        )


def share_services(base: Base, devices: DeviceServices) -> SharedServices:
    return SharedServices(
        devices=devices.devices.devices,
        backups=devices.configs.backups,
        captures=devices.configs.captures,
        sessions=devices.operations.sessions,
        commands=devices.operations.commands,
        audit=base.audit,
        http=base.http,
    )


def caller_services(shared: SharedServices, caller: Caller) -> CallerServices:
    """Build the services of one request, or of one command."""
    return CallerServices(work=Work(caller=caller), shared=shared)


def _info(device: Device) -> DeviceInfo:
    return DeviceInfo(
        id=device.id,
        name=device.name,
        host=device.host,
        device_type=device.device_type,
        site=device.site,
    )


def _state(device: Device, backup: BackupInfo) -> BackupState:
    newest = backup.newest
    return BackupState(
        device=_info(device),
        status=backup.status,
        last_backup_at=backup.last_backup_at,
        last_success_at=backup.last_success_at,
        error=backup.error,
        version=None if newest is None else newest.version,
        changed_at=None if newest is None else newest.created_at,
    )
