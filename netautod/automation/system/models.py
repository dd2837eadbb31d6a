"""The parts of the system's status."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.disk import MIB, Space
from netautod.core.json.values import to_text
from netautod.core.settings.risks import Risk


@dataclass(frozen=True, kw_only=True)
class Node:
    """A process of the service.

    `running` of its `slots` are in use; the times are the database server's. `clock_ahead_seconds` is how far
    the process's own clock is ahead of them.
    """

    id: str
    host: str
    version: str
    started_at: datetime
    heartbeat_at: datetime
    running: int
    slots: int
    clock_ahead_seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "host": self.host,
            "version": self.version,
            "started_at": to_text(self.started_at),
            "heartbeat_at": to_text(self.heartbeat_at),
            "running": self.running,
            "slots": self.slots,
        }


@dataclass(frozen=True, kw_only=True)
class Pause:
    """The pause of an organization's automation: since when and why; `by` is a username."""

    reason: str
    by: str
    at: datetime

    def to_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "by": self.by, "at": to_text(self.at)}


@dataclass(frozen=True, kw_only=True)
class DiskStatus:
    """The disk of the embedded database; `full`: nothing is written that grows."""

    space: Space
    min_free_mb: int
    full: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "directory": str(self.space.directory),
            "free_mb": self.space.free // MIB,
            "total_mb": self.space.total // MIB,
            "min_free_mb": self.min_free_mb,
            "full": self.full,
        }


@dataclass(frozen=True, kw_only=True)
class DatabaseStatus:
    """The state of the database.

    `ok`: the primary takes writes. `disk` None: the database is not embedded, and its disk is unknown.
    """

    version: str
    replica_set: str | None
    ok: bool
    disk: DiskStatus | None

    def to_json(self) -> dict[str, Any]:
        disk = None if self.disk is None else self.disk.to_json()
        return {"version": self.version, "replica_set": self.replica_set, "ok": self.ok, "disk": disk}


@dataclass(frozen=True, kw_only=True)
class PluginStatus:
    """A plugin after loading; `error` says in one line why it is not `ok`."""

    name: str
    version: str | None
    ok: bool
    error: str | None


@dataclass(frozen=True, kw_only=True)
class SystemStatus:
    """The status of the system.

    `pending` counts the executions of the caller's organization that wait to run, `polls` its requested
    polls; `risks` are those that this node's settings take.
    """

    nodes: Sequence[Node]
    database: DatabaseStatus
    plugins: Sequence[PluginStatus]
    pending: int
    polls: int
    pause: Pause | None
    risks: Sequence[Risk]

    def to_json(self) -> dict[str, Any]:
        return {
            "nodes": [node.to_json() for node in self.nodes],
            "database": self.database.to_json(),
            "plugins": [
                {"name": one.name, "version": one.version, "ok": one.ok, "error": one.error}
                for one in self.plugins
            ],
            "queues": {"pending": self.pending, "polls": self.polls},
            "paused": None if self.pause is None else self.pause.to_json(),
            "risks": [risk.to_json() for risk in self.risks],
        }
