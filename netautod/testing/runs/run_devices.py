"""The devices of a run without a server: what the executor sees of them, and how they answer."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4, uuid5

from netautod.automation.executions.models import Execution
from netautod.core.work.context import Work
from netautod.network.devices.operations.commands import OpenedSession, report_of
from netautod.network.devices.operations.models import LONGEST_SECONDS, SHORTEST_SECONDS
from netautod.plugin_api import (
    AgentTool,
    BackupState,
    CaptureOutcome,
    CommandOutcome,
    DeviceFailed,
    DeviceInfo,
    ModelBackend,
    ResultTotals,
)
from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.reading import opened_device, reading_of
from netautod.testing.runs.agent_desk import KeptTranscripts, desk_of
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.session import CliSession
from netautod.transport.ssh.shell.terminal import is_one_line

READ, COMMAND = "devices.access", "devices.manage"  # what the service requires of the task's owner
_DEVICES = UUID("5b0f6f0e-3f0b-4a53-9d1c-52f0a4c1e6a0")
_SNAPSHOTS = UUID("9c0d9a52-6a5e-4b0b-8f0a-6f3b1f9a7d11")  # one snapshot for each execution


@dataclass(kw_only=True, eq=False)
class RunDevice:
    """A device of a run, and how it answers.

    `config` is what a capture reads, `responses` what commands print; in both a DeviceFailed is raised, or
    made an outcome, as by a real device. A `simulated` one is contacted over SSH instead, by the platform
    that its `platform` names or that `platform_file` defines. `captured_at`, `captured_well_at`, `changed_at`
    and `capture_error` say how its last captures went. What happened: `versions` (the texts captured that
    said something new, oldest first) and `commands`. The next run with the same object goes on with them.
    """

    name: str = "sw1"
    host: str = "192.0.2.1"
    device_type: str = "cisco_ios"
    site: str | None = None
    config: str | DeviceFailed = "hostname sw1\n"
    responses: Mapping[str, str | DeviceFailed] = field(default_factory=dict)
    simulated: SimulatedDevice | None = None
    platform_file: Path | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    credential_id: str = field(default_factory=lambda: str(uuid4()))
    captured_at: datetime | None = None
    captured_well_at: datetime | None = None
    changed_at: datetime | None = None
    capture_error: str | None = None
    versions: list[str] = field(default_factory=list, init=False)
    commands: list[str] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, device: "RunDevice | SimulatedDevice") -> "RunDevice":
        if isinstance(device, RunDevice):
            return device
        return cls(
            id=str(uuid5(_DEVICES, f"{device.hostname} {id(device)}")),  # the same in the next attempt
            name=device.hostname,
            host=device.host,
            device_type=device.platform,
            simulated=device,
        )

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(
            id=self.id, name=self.name, host=self.host, device_type=self.device_type, site=self.site
        )

    @property
    def backup(self) -> BackupState:
        """Return the state of the backup as captures have left it."""
        version = len(self.versions)
        good = self.captured_at if self.capture_error is None else None
        return BackupState(
            device=self.info,
            status="never" if self.captured_at is None else "success" if good else "failed",
            last_backup_at=self.captured_at,
            last_success_at=self.captured_well_at,
            error=self.capture_error,
            version=version or None,
            changed_at=self.changed_at,
        )

    async def captured(self, credential_id: str) -> CaptureOutcome:
        """Capture the device and add a version if it differs; raises DeviceFailed."""
        self.captured_at = datetime.now(UTC)
        try:
            outcome = await self._captured(credential_id)
        except DeviceFailed as failure:
            self.capture_error = f"{failure.kind}: {failure.text}"
            raise
        self.capture_error, self.captured_well_at = None, self.captured_at
        self.changed_at = self.captured_at if outcome.changed else self.changed_at
        return outcome

    async def _captured(self, credential_id: str) -> CaptureOutcome:
        if self.simulated is None:
            compared, notes = _text_or_raise(self.config), tuple[str, ...]()
        else:
            async with self._opened(self.simulated) as session:
                reading = await reading_of(session)
            compared, notes = reading.compared, reading.notes
        changed = not self.versions or self.versions[-1] != compared
        if changed:
            self.versions.append(compared)
        version = len(self.versions)
        return CaptureOutcome(
            config_id=f"{self.id}:{version}",
            version=version,
            config_hash=sha256(compared.encode()).hexdigest(),
            changed=changed,
            credential_id=credential_id,
            notes=notes,
        )

    async def ran(self, command: str, seconds: float) -> CommandOutcome:
        self.commands.append(command)
        if self.simulated is not None:
            report = await report_of(self._session(self.simulated, seconds), command)
            return report.outcome
        unknown = DeviceFailed(f"unknown command: {command}", kind="refused_command")
        try:
            output = _text_or_raise(self.responses.get(command, unknown))
        except DeviceFailed as failure:
            return CommandOutcome(
                success=False,
                output=failure.partial,
                error=f"{failure.kind}: {failure.text}",
                error_kind=failure.kind,
                duration_ms=1,
            )
        return CommandOutcome(success=True, output=output, error=None, error_kind=None, duration_ms=1)

    @asynccontextmanager
    async def _session(self, device: SimulatedDevice, seconds: float) -> AsyncIterator[OpenedSession]:
        async with self._opened(device) as session:
            yield _Opened(session=session, credential_id=self.credential_id, seconds=seconds)

    def _opened(self, device: SimulatedDevice) -> AbstractAsyncContextManager[CliSession]:
        return opened_device(device, self.platform_file, enable_secret=device.enable_password)


@dataclass(frozen=True, kw_only=True)
class _Opened:
    session: CliSession
    credential_id: str
    seconds: float

    def seconds_left(self) -> float:
        return self.seconds


def _text_or_raise(answer: str | DeviceFailed) -> str:
    if isinstance(answer, DeviceFailed):
        raise answer
    return answer


class RunServices:
    """The `acting` of a run without a server, with the same permission checks; and its `http`."""

    def __init__(
        self,
        *,
        work: Work,
        execution: Execution,
        devices: Iterable[RunDevice],
        http: GuardedClient,
        model: ModelBackend | None = None,
        tools: Iterable[AgentTool] = (),
        transcripts: KeptTranscripts,
    ) -> None:
        self._work = work
        self._execution = execution
        self._devices = {device.id: device for device in devices}
        self.http = http.under(work.guard)
        self.snapshots: dict[str, str] = {}
        self.agent = desk_of(
            work,
            execution,
            model=model,
            tools=tools,
            transcripts=transcripts,
            acting=lambda work: self,
            http=http,
        )

    @property
    def repeatable(self) -> bool:
        return not self.agent.has_written

    @property
    def unclear(self) -> bool:
        return self.agent.is_writing

    async def devices(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[DeviceInfo]:
        self._work.caller.require(READ)
        for _, device in sorted(self._devices.items()):
            self._work.guard()
            if site in (None, device.site) and device_type in (None, device.device_type):
                yield device.info

    async def backups(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[BackupState]:
        async for info in self.devices(site=site, device_type=device_type):
            yield self._devices[info.id].backup

    async def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome:
        self._work.caller.require(READ)
        self._work.guard()
        await asyncio.sleep(0)  # as with a real device, others go on meanwhile
        device = self._devices.get(device_id)
        if device is None:
            raise DeviceFailed("Device not found", kind="not_found")
        return await device.captured(str(credential_id or device.credential_id))

    async def run_command(
        self, device_id: str, command: str, *, timeout_seconds: float = 30.0
    ) -> CommandOutcome:
        self._work.caller.require(COMMAND)
        self._work.guard()
        await asyncio.sleep(0)
        if not command.strip() or not is_one_line(command):
            raise ValueError("command: it must be one line without control characters")
        device = self._devices.get(device_id)
        if device is None:
            return CommandOutcome(
                success=False, output="", error="Device not found", error_kind="not_found", duration_ms=0
            )
        return await device.ran(command, max(SHORTEST_SECONDS, min(LONGEST_SECONDS, timeout_seconds)))

    async def create_snapshot(self, name: str, totals: ResultTotals) -> str:
        self._work.caller.require(READ)
        self._work.guard()
        snapshot_id = str(uuid5(_SNAPSHOTS, self._execution.id))
        self.snapshots[snapshot_id] = name
        return snapshot_id
