"""Chains of audit events for tests."""

from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.identity.caller import Caller, OrgId


def caller_of(**changes: Any) -> Caller:
    """Return a caller of an organization of its own, unless one is given."""
    fields = {"user_id": str(uuid4()), "org_id": OrgId(str(uuid4())), "username": "ada"}
    return Caller(**{**fields, "permissions": frozenset({"*"}), **changes})


async def record(log: AuditLog, caller: Caller, count: int, first: int = 0) -> None:
    """Record the events d0, d1, ... in that order."""
    named = [(f"d{number}", {"number": number}) for number in range(first, first + count)]
    await log.record_many(caller, "device.update", "device", named)
