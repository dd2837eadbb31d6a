"""Webhooks, their events and their deliveries, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid5

from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text, to_text

Status = Literal["waiting", "delivered", "failed", "expired"]


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A webhook of an organization.

    The URL may hold a secret of the receiver: it is in no repr, no log and no audit. `failures`: tries in a
    row that failed; nothing is sent before `resume_at`. `last_status` is the status of the delivery that was
    tried last.
    """

    id: str
    org_id: OrgId
    name: str
    url: str = field(repr=False)
    events: tuple[str, ...]
    enabled: bool
    disabled_reason: str | None
    sealed_secret: Mapping[str, Any] | None = field(repr=False)
    failures: int
    resume_at: datetime | None
    last_delivery_at: datetime | None
    last_status: Status | None
    created_at: datetime
    updated_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "url": self.url,
            "events": list(self.events),
            "enabled": self.enabled,
            "disabled_reason": self.disabled_reason,
            "has_secret": self.sealed_secret is not None,
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
            "last_delivery_at": optional_text(self.last_delivery_at),
            "last_status": self.last_status,
        }


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event for webhooks; `id` is the same however often it is collected.

    Events of one `subject` (a device, a task) reach a webhook in the order of `at`. `record` is the document
    that holds its mark.
    """

    id: str
    org_id: OrgId
    name: str
    subject: str
    at: datetime
    data: Mapping[str, Any]
    record: str = ""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A delivery of one event to one webhook. `body` is None once there is nothing left to send."""

    id: str
    org_id: OrgId
    webhook_id: str
    event: str
    subject: str
    at: datetime
    attempts: int
    status: Status
    next_at: datetime | None
    response_status: int | None
    error: str | None
    body: bytes | None = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "event": self.event,
            "at": to_text(self.at),
            "attempts": self.attempts,
            "status": self.status,
            "response_status": self.response_status,
            "error": self.error,
        }


@dataclass(frozen=True, kw_only=True)
class SendResult:
    """The result of one request; `error` is None exactly if the receiver has accepted it.

    `retry_after_seconds`: how long the receiver requests to be left alone.
    """

    response_status: int | None
    error: str | None
    retry_after_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TestOutcome:
    __test__ = False  # for pytest, which takes any class of such a name for tests

    tried: SendResult
    duration_ms: int

    def to_json(self) -> dict[str, Any]:
        return {
            "success": self.tried.error is None,
            "status": self.tried.response_status,
            "error": self.tried.error,
            "duration_ms": self.duration_ms,
        }


def delivery_id(webhook_id: str, event_id: str) -> str:
    """Return the id of a delivery.

    It is the same on every node and at every time: a second one is a duplicate key.
    """
    return str(uuid5(UUID(webhook_id), event_id))


def derived_event_id(record_id: str, name: str) -> str:
    """Return the id of an event that a record can have only once."""
    return str(uuid5(UUID(record_id), name))
