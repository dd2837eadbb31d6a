"""A poll of one device: requested by a user or due, running, ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text
from netautod.plugin_api import TABLES, Table

State = Literal["queued", "running", "completed", "partial", "failed"]
QUEUED: State = "queued"
RUNNING: State = "running"
COMPLETED: State = "completed"
PARTIAL: State = "partial"
FAILED: State = "failed"
MANUAL, SCHEDULE = "manual", "schedule"


@dataclass(frozen=True, kw_only=True)
class Poll:
    """A poll. `sources`: the transport that gave each table. `method` is the one that gave most, or `both`.

    `attempt`: how often it was started; more than once if a node was lost. `detect`: whether `generic`
    becomes the recognised platform. `requested_by`: the name of the user who requested it.
    """

    id: str
    org_id: OrgId
    device_id: str
    state: State
    triggered_by: str
    queued_at: datetime
    method: str | None = None
    sources: Mapping[Table, str] = field(default_factory=dict)
    error: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: int | None = None
    detect: bool = False
    requested_by: str | None = None
    attempt: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "device_id": self.device_id,
            "state": self.state,
            "method": self.method,
            "sources": {table: self.sources.get(table) for table in TABLES},
            "triggered_by": self.triggered_by,
            "error": self.error,
            "counts": dict(self.counts),
            "started_at": optional_text(self.started_at),
            "completed_at": optional_text(self.completed_at),
            "duration_ms": self.duration_ms,
        }
