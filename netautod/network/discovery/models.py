"""Results of polls: tables, status and history, and the network that they add up to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.json.values import optional_text, to_text

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DiscoveredTable:
    """A table of a device, all of it from one poll; `total` also counts rows behind a limit.

    A device that was never polled has no rows, and None for `collected_at`.
    """

    rows: Sequence[Row] = ()
    total: int = 0
    collected_at: datetime | None = None

    def to_json(self, plural: str) -> dict[str, Any]:
        """Return the answer of a table: `{<plural>: [...], total, collected_at}`."""
        return {
            plural: [dict(row) for row in self.rows],
            "total": self.total,
            "collected_at": optional_text(self.collected_at),
        }


@dataclass(frozen=True, kw_only=True)
class DeviceStatus:
    """The last known status of a device; what no poll has read is None."""

    device_id: str
    reachable: bool | None = None
    latency_ms: float | None = None
    sys_name: str | None = None
    sys_descr: str | None = None
    vendor: str | None = None
    model: str | None = None
    os_version: str | None = None
    serial_number: str | None = None
    uptime_seconds: int | None = None
    cpu_percent: float | None = None
    memory_percent: float | None = None
    last_poll_state: str | None = None
    last_poll_error: str | None = None
    last_success_at: datetime | None = None
    collected_at: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "device_id": self.device_id,
            "reachable": self.reachable,
            "latency_ms": self.latency_ms,
            "sys_name": self.sys_name,
            "sys_descr": self.sys_descr,
            "vendor": self.vendor,
            "model": self.model,
            "os_version": self.os_version,
            "serial_number": self.serial_number,
            "uptime_seconds": self.uptime_seconds,
            "cpu_percent": self.cpu_percent,
            "memory_percent": self.memory_percent,
            "last_poll_state": self.last_poll_state,
            "last_poll_error": self.last_poll_error,
            "last_success_at": optional_text(self.last_success_at),
            "collected_at": optional_text(self.collected_at),
        }


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The links between devices as neighbor tables show them; a device without such a table is no node."""

    nodes: Sequence[Row] = ()
    links: Sequence[Row] = ()
    generated_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "nodes": list(self.nodes),
            "links": list(self.links),
            "generated_at": to_text(self.generated_at),
        }
