"""An audit event: who did what to which resource, when and from where."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text


@dataclass(frozen=True, kw_only=True)
class AuditEvent:
    """An audit event.

    `actor_id` None: there was no authenticated user (a failed login). `details` never holds a secret.
    """

    id: str
    org_id: OrgId
    at: datetime
    actor_id: str | None
    actor_name: str | None
    action: str
    resource_type: str
    resource_id: str | None
    ip_address: str | None
    request_id: str | None
    details: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "at": to_text(self.at),
            "actor_id": self.actor_id,
            "actor_name": self.actor_name,
            "action": self.action,
            "resource_type": self.resource_type,
            "resource_id": self.resource_id,
            "ip_address": self.ip_address,
            "request_id": self.request_id,
            "details": dict(self.details),
        }


@dataclass(frozen=True, kw_only=True)
class AuditFilter:
    """The conditions of a list, all of which must hold; None: no condition.

    `since` is included, `until` not.
    """

    action: str | None = None
    actor_id: str | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
