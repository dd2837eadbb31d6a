"""Saved inventory sources, and where an external inventory is reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.json.values import optional_text, to_text

SUCCESS, PARTIAL, FAILED = "success", "partial", "failed"


@dataclass(frozen=True, kw_only=True)
class RemoteInventory:
    """An external inventory, and which of its devices to read. `named_now`: the URL comes from the request
    itself, so that a refused address is the caller's mistake."""

    org_id: str
    url: str
    token: str = field(repr=False)
    verify_ssl: bool
    filters: Mapping[str, Any]
    named_now: bool


@dataclass(frozen=True, kw_only=True)
class SavedSource:
    """A saved source. `last_sync_result` is JSON as it was answered. `revision` grows with each change by a
    user.

    `vouched`: what it reads was saved by a user who may manage credentials, so that its devices are vouched
    for (devices/vouching). `unconfirmed_removals`: how many devices its inventory had no more at the last
    synchronisation, and wait for a user who confirms that they are removed.
    """

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
    vouched: bool
    created_at: datetime
    updated_at: datetime
    sealed_token: Mapping[str, Any] | None = field(repr=False)
    unconfirmed_removals: int = 0

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
