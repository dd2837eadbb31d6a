"""Results of operations on a device: a command, a test of a login, and the tests of many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netautod.plugin_api.acting import CommandOutcome
from netautod.transport.ssh.failures import FailureKind

SHORTEST_SECONDS, LONGEST_SECONDS = 1, 300  # that an operation on a device may take


@dataclass(frozen=True, kw_only=True)
class CommandReport:
    """The result of a command. `kind` is None for a success; else `error` begins with it. `output` is what
    came, at most 1 MiB.
    """

    output: str
    kind: FailureKind | None
    error: str | None
    credential_id: str | None
    execution_time_ms: int

    @property
    def success(self) -> bool:
        return self.kind is None

    @property
    def outcome(self) -> CommandOutcome:
        """Return the result as the executors of plugins see it."""
        return CommandOutcome(
            success=self.success,
            output=self.output,
            error=self.error,
            error_kind=self.kind,
            duration_ms=self.execution_time_ms,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "success": self.success,
            "output": self.output,
            "error": self.error,
            "execution_time_ms": self.execution_time_ms,
        }


@dataclass(frozen=True, kw_only=True)
class LoginTest:
    """The test of one device; all but its id is None when there is no such device.

    `credential_id` is the credential that was tested, None if there is none that may be used.
    """

    device_id: str
    device_name: str | None
    host: str | None
    port: int | None
    credential_id: str | None
    success: bool
    message: str
    duration_ms: int

    def to_json(self) -> dict[str, Any]:
        return {
            "device_id": self.device_id,
            "device_name": self.device_name,
            "host": self.host,
            "port": self.port,
            "credential_id": self.credential_id,
            "success": self.success,
            "message": self.message,
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, kw_only=True)
class LoginTests:
    """The tests of many devices, in the order in which they were named."""

    results: Sequence[LoginTest]
    succeeded: int
    duration_ms: int

    def totals(self) -> dict[str, Any]:
        """Return all but the results."""
        total = len(self.results)
        return {
            "total": total,
            "succeeded": self.succeeded,
            "failed": total - self.succeeded,
            "duration_ms": self.duration_ms,
        }
