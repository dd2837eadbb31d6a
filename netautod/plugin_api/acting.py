"""The services of the product in the name of a user: of who sends a request, or of who owns a task."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True, kw_only=True)
class DeviceInfo:
    """A device as a plugin sees it."""

    id: str
    name: str
    host: str
    device_type: str
    site: str | None


@dataclass(frozen=True, kw_only=True)
class BackupState:
    """A backup state of a device: the end of its last capture, good or not, and the newest version.

    `status` tells how the last capture went (`never`: there was none), `error` why it failed. `changed_at` is
    when the newest version was stored. Moments are in UTC.
    """

    device: DeviceInfo
    status: Literal["success", "failed", "never"]
    last_backup_at: datetime | None
    last_success_at: datetime | None
    error: str | None
    version: int | None
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class CaptureOutcome:
    """A stored capture; `changed` is false if the newest version already had this content.

    `config_hash` is that of the redacted text; empty where the text of the version is lost.
    `notes` are sentences for the log, such as which file the device does not have.
    """

    config_id: str
    version: int
    config_hash: str
    changed: bool
    credential_id: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    """The output of a command (at most 1 MiB, marked when cut); `output` is what came when it failed.

    `error` is a sentence and `error_kind` one of the typed device failures (`auth`, `refused_command`, ...),
    or `not_found`; both are None for a success.
    """

    success: bool
    output: str
    error: str | None
    error_kind: str | None
    duration_ms: int


class UserServices(Protocol):
    """The product's services behind the same permission checks as HTTP, in the organization of the user.

    A call without the permission raises Forbidden; let it pass.
    """

    def devices(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[DeviceInfo]:
        """Yield all devices that match exactly, in the order of their ids; needs devices.access."""
        ...

    def backups(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[BackupState]:
        """Yield the backup state of each of these devices, in the same order; needs devices.access."""
        ...

    async def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome:
        """Read the device's config and store it if it changed; needs devices.access.

        `credential_id`: instead of the device's own credential. Raises `DeviceFailed`.
        """
        ...

    async def run_command(
        self, device_id: str, command: str, *, timeout_seconds: float = 30.0
    ) -> CommandOutcome:
        """Run one line on the device (1 to 300 seconds); needs devices.manage, and is audited.

        A device that fails or asks a question is an outcome; ValueError for a command of several lines.
        """
        ...
