"""Executions that wait for an approval, as lists show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.automation.executions.models import Execution
from netautod.core.json.values import optional_text


@dataclass(frozen=True, kw_only=True)
class WaitingApproval:
    """An execution that waits for a decision.

    `requester` is the user who started the run, else the owner of its task: `{id, username}`.
    """

    execution: Execution
    requester: Mapping[str, str | None]

    @property
    def requested_at(self) -> datetime | None:
        """Return when the run was parked, which is the end of its last attempt."""
        attempts = self.execution.attempts
        return attempts[-1].completed_at if attempts else None

    @property
    def request(self) -> Mapping[str, Any]:
        return self.execution.approval_request or {}

    @property
    def lines(self) -> Sequence[str]:
        return _texts(self.request.get("lines"))

    @property
    def devices(self) -> Sequence[Mapping[str, str]]:
        """Return `{id, name}` of each device."""
        return _devices(self.request.get("devices"))

    def to_json(self) -> dict[str, Any]:
        return {
            "execution_id": self.execution.id,
            "task_id": self.execution.of_task,
            "task_name": self.execution.task_name,
            "requested_by": dict(self.requester),
            "requested_at": optional_text(self.requested_at),
            "expires_at": optional_text(self.execution.approval_expires_at),
            "request": self.execution.approval_request,
            "lines": self.lines,
            "devices": self.devices,
        }


def _texts(lines: Any) -> Sequence[str]:
    """Return the texts of a list, or none: an executor's request may hold anything."""
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def _devices(devices: Any) -> Sequence[Mapping[str, str]]:
    found = [one for one in devices if isinstance(one, Mapping)] if isinstance(devices, list) else []
    return [
        {"id": one["id"], "name": one["name"]}
        for one in found
        if isinstance(one.get("id"), str) and isinstance(one.get("name"), str)
    ]
