"""Saved inventory sources, the results of synchronisations and tests, and the entries of the history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.clock import optional_text, to_text

SUCCESS, PARTIAL, FAILED = "success", "partial", "failed"
MOST_ERRORS = 1000  # of an answer
KEPT_ERRORS = 100  # of an entry of the history


@dataclass(frozen=True, kw_only=True)
class SyncError:
    """A device that is left as it is. Both None: a sentence about the whole synchronisation."""

    inventory_id: int | None
    name: str | None
    error: str

    def to_json(self) -> dict[str, Any]:
        return {"inventory_id": self.inventory_id, "name": self.name, "error": self.error}


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """`failed` counts devices, also where `errors` is cut short. `plan`: of a dry run, see preview.py."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    removed: int = 0
    errors: Sequence[SyncError] = ()
    duration_ms: int = 0
    plan: Mapping[str, Any] | None = None

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
    """At most so many; the last one then tells how many there are besides."""
    if len(errors) <= most:
        return errors
    rest = SyncError(inventory_id=None, name=None, error=f"and {len(errors) - most + 1} more errors")
    return [*errors[: most - 1], rest]


@dataclass(frozen=True, kw_only=True)
class SavedSource:
    """`last_result` is a result as JSON. `revision` grows with each change of what a user sets."""

    id: str
    org_id: str
    name: str
    url: str
    verify_ssl: bool
    device_filters: Mapping[str, Any]
    auto_sync_enabled: bool
    sync_interval_hours: int
    last_sync_at: datetime | None
    last_sync_status: str | None
    last_sync_result: Mapping[str, Any] | None
    next_sync_at: datetime | None
    revision: int
    created_at: datetime
    updated_at: datetime
    sealed_token: Mapping[str, Any] | None = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "org_id": self.org_id,
            "name": self.name,
            "url": self.url,
            "verify_ssl": self.verify_ssl,
            "device_filters": dict(self.device_filters),
            "auto_sync_enabled": self.auto_sync_enabled,
            "sync_interval_hours": self.sync_interval_hours,
            "has_token": self.sealed_token is not None,
            "last_sync_at": optional_text(self.last_sync_at),
            "last_sync_status": self.last_sync_status,
            "last_sync_result": None if self.last_sync_result is None else dict(self.last_sync_result),
            "next_sync_at": optional_text(self.next_sync_at),
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
        }


@dataclass(frozen=True, kw_only=True)
class SyncEntry:
    """One synchronisation in the history; `success` and `completed_at` None: it is not over."""

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
    """What a test of a far end found; a failure is a result too. `version`: `NetBox 4.2.1`."""

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
