"""Stored facts of a device beside the rows of its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.errors import Conflict


class Superseded(Conflict):
    """Raised when another poll of the device has written its tables meanwhile."""


@dataclass(frozen=True, kw_only=True)
class PollNote:
    """The facts of a poll itself; `failures`: how many in a row had no answer, this one included.

    `last_success_at` is None where this poll is no success: the time of the last one stays.
    """

    state: str
    error: str | None
    reachable: bool | None
    latency_ms: float | None
    at: datetime
    failures: int = 0
    last_success_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Before:
    """The state of a device before a poll, None for a table that was never read."""

    neighbors: Sequence[Mapping[str, Any]] | None = None
    interfaces: Sequence[Mapping[str, Any]] | None = None
    reachable: bool | None = None
    failures: int = 0


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A sighting of an address, as a row of the answer of `find` without the device's name."""

    device_id: str
    interface: str | None
    vlan_id: int | None
    mac_address: str | None
    ip_address: str | None
    source: str
    last_seen_at: datetime


@dataclass(frozen=True, kw_only=True)
class DeviceTables:
    """The tables of a device as far as the topology needs them; `revision` changes with every write."""

    device_id: str
    revision: int
    sys_name: str | None = None
    chassis_ids: tuple[str, ...] = ()
    neighbors_at: datetime | None = None
    neighbors: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
