"""The state of a device's backup, what lists of it can be narrowed to, and how many stand how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from netautod.network.devices.models import DeviceItem

Status = Literal["success", "failed", "never"]
Sorting = Literal["name", "last_backup_at", "status"]
SUCCESS: Status = "success"
FAILED: Status = "failed"
NEVER: Status = "never"
STALE = "stale"
STATUSES: tuple[Status, ...] = (SUCCESS, FAILED, NEVER)
SORTINGS: tuple[Sorting, ...] = ("name", "last_backup_at", "status")
# Of failures that were noted before their kind was.
UNKNOWN_KIND = "unknown"


@dataclass(frozen=True, kw_only=True)
class BackupFacts:
    """The stored facts of a backup. `last_at` is the end of the last capture, good or not; `error` and `kind`
    are its.

    `status` follows from the last capture, `never` before the first one.
    """

    status: Status = NEVER
    last_at: datetime | None = None
    error: str | None = None
    kind: str | None = None
    last_success_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class BackupFilter:
    """A filter by backup; None does not narrow. `status` is one of STATUSES or STALE, `error_kind` that of
    the last capture.

    `older_than_hours`: the last good capture is older than that; a device that never had one counts from its
    creation. STALE is the same with the hours of the setting `backups.stale_hours`.
    """

    status: str | None = None
    error_kind: str | None = None
    older_than_hours: float | None = None


@dataclass(frozen=True, kw_only=True)
class BackupCounts:
    """The number of devices in each state: each is one of `success`, `failed` and `never`, and may be `stale`
    besides.

    `by_kind`: the failed ones by the kind of the failure, the most frequent first.
    """

    success: int = 0
    failed: int = 0
    never: int = 0
    stale: int = 0
    by_kind: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.success + self.failed + self.never

    def to_json(self) -> dict[str, Any]:
        return {
            "success": self.success,
            "failed": self.failed,
            "never": self.never,
            "stale": self.stale,
            "by_kind": dict(self.by_kind),
        }


@dataclass(frozen=True, kw_only=True)
class DeviceWithBackup:
    device: DeviceItem
    facts: BackupFacts
