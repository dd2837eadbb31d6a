"""Values of a synchronisation: its options, what it reads, and its result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import Caller, OrgId
from netautod.core.json.values import optional_text, to_text
from netautod.network.devices.bindings.models import BoundDevice, KnownDevice
from netautod.network.inventory.models import PARTIAL, SUCCESS, RemoteInventory, SavedSource
from netautod.network.inventory.sync.desired import DesiredDevice

MOST_ERRORS = 1000  # of an answer
KEPT_ERRORS = 100  # of an entry of the history

Progress = Callable[[str, int, int | None], None]
"""Called with a phase (`read` or `apply`), how many devices are done, and how many there are if known."""


@dataclass(frozen=True, kw_only=True)
class SyncOptions:
    """The options of a synchronisation. `confirm_removals` allows the removal of over half of a source's
    devices. `triggered_by`: manual or schedule.
    """

    dry_run: bool = False
    confirm_removals: bool = False
    triggered_by: str = "manual"


@dataclass(frozen=True, kw_only=True)
class SyncJob:
    """A synchronisation for a caller. `key`: that of the bindings. `source` is None if the request named the
    inventory.

    `vouched`: whether the user who named the inventory, by the request or by saving the source, may manage
    credentials; the one who runs the synchronisation of a saved source decides nothing.
    """

    caller: Caller
    key: str
    remote: RemoteInventory
    source: SavedSource | None
    vouched: bool
    options: SyncOptions
    progress: Progress

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    @property
    def source_id(self) -> str | None:
        return None if self.source is None else self.source.id


@dataclass(frozen=True, kw_only=True)
class SyncError:
    """The reason why a device is left as it is; without id and name it is about the whole synchronisation."""

    inventory_id: int | None
    name: str | None
    error: str

    def to_json(self) -> dict[str, Any]:
        return {"inventory_id": self.inventory_id, "name": self.name, "error": self.error}


def not_removed(device: KnownDevice, reason: str) -> SyncError:
    number = device.values["inventory_id"]
    return SyncError(inventory_id=number, name=device.name, error=f"not removed: {reason}")


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A walk through an inventory. `seen`: every external id, importable or not. `missing`: why the walk is
    not complete.

    `unchanged`: the devices here that are as the inventory describes them; they are not among `desired`.
    """

    desired: list[DesiredDevice] = field(default_factory=list)
    problems: list[SyncError] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    unchanged: list[BoundDevice] = field(default_factory=list)
    missing: str | None = None


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """The counts are of devices, and exact where `errors` is cut short. `plan` is there for a dry run
    only. `unconfirmed` devices would be removed, if a user confirmed it; None: the inventory was not seen
    whole, so that nobody knows.
    """

    added: int
    updated: int
    unchanged: int
    failed: int
    removed: int
    errors: Sequence[SyncError]
    duration_ms: int
    plan: Mapping[str, Any] | None = None
    unconfirmed: int | None = 0

    @property
    def status(self) -> str:
        return PARTIAL if self.errors else SUCCESS

    def to_json(self, most_errors: int = MOST_ERRORS) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "added": self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "removed": self.removed,
            "errors": [error.to_json() for error in shortened(self.errors, most_errors)],
            "duration_ms": self.duration_ms,
        }
        return answer if self.plan is None else {**answer, "plan": dict(self.plan)}


def shortened(errors: Sequence[SyncError], most: int) -> Sequence[SyncError]:
    """Return at most `most` of them; the last one then says how many more there are."""
    if len(errors) <= most:
        return errors
    rest = SyncError(inventory_id=None, name=None, error=f"and {len(errors) - most + 1} more errors")
    return [*errors[: most - 1], rest]


@dataclass(frozen=True, kw_only=True)
class SyncEntry:
    """A synchronisation in the history; `success` and `completed_at` are None while it runs."""

    id: str
    source_id: str | None
    source_name: str | None
    inventory_url: str
    triggered_by: str
    result: Mapping[str, Any]
    started_at: datetime
    completed_at: datetime | None = None
    success: bool | None = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "source_id": self.source_id,
            "source_name": self.source_name,
            "inventory_url": self.inventory_url,
            "triggered_by": self.triggered_by,
            **self.result,
            "started_at": to_text(self.started_at),
            "completed_at": optional_text(self.completed_at),
            "success": self.success,
            "error": self.error,
        }


@dataclass(frozen=True, kw_only=True)
class SourceTest:
    """The result of the test of an inventory; a failure is a result too. `version`: such as `NetBox
    4.2.1`.
    """

    success: bool
    message: str
    version: str | None
    device_count: int | None
    duration_ms: int

    def to_json(self) -> dict[str, Any]:
        return {
            "success": self.success,
            "message": self.message,
            "version": self.version,
            "device_count": self.device_count,
            "duration_ms": self.duration_ms,
        }
