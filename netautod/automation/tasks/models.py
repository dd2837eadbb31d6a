"""Scheduled tasks as values, and the JSON form of tasks and agent schedules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.errors import Conflict
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import optional_text, to_text

AGENT_TASK = "agent_task"
TASK_TYPES = ("deployment", "backup", "health_check", "custom_script", AGENT_TASK)
DEFAULT_RETRIES, DEFAULT_RETRY_DELAY, DEFAULT_TIMEOUT = 3, 60, 3600


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    org_id: OrgId
    name: str
    description: str | None
    task_type: str
    cron_expression: str
    timezone: str
    parameters: Mapping[str, Any]
    enabled: bool
    max_retries: int
    retry_delay_seconds: int
    timeout_seconds: int
    next_run_at: datetime
    last_run_at: datetime | None
    owner_id: str
    created_at: datetime
    updated_at: datetime
    # The permissions of the API token that set what the task does: a run has no more. None: a session set it.
    scope: Sequence[str] | None = None
    # Who set what the task does, if the owner is another user; None: the owner did.
    set_by: str | None = None
    # Why no run can act for the owner, who is read with the task; it is not stored.
    blocked: str | None = None

    def require_unblocked(self) -> None:
        """Raise Conflict if no run can act for the owner."""
        if self.blocked is not None:
            raise Conflict(f"The task is blocked: {self.blocked}")

    def to_json(self) -> dict[str, Any]:
        """Return the full task."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "task_type": self.task_type,
            "cron_expression": self.cron_expression,
            "timezone": self.timezone,
            "parameters": self.parameters,
            "enabled": self.enabled,
            "max_retries": self.max_retries,
            "retry_delay_seconds": self.retry_delay_seconds,
            "timeout_seconds": self.timeout_seconds,
            "next_run_at": to_text(self.next_run_at),
            "last_run_at": optional_text(self.last_run_at),
            "owner_id": self.owner_id,
            "blocked": self.blocked,
            "created_at": to_text(self.created_at),
        }

    def to_list_item(self) -> dict[str, Any]:
        """Return the list view.

        Its last three numbers are constants of the API, not the values of the task.
        """
        return {
            "id": self.id,
            "name": self.name,
            "task_type": self.task_type,
            "cron_expression": self.cron_expression,
            "timezone": self.timezone,
            "enabled": self.enabled,
            "blocked": self.blocked,
            "last_run_at": optional_text(self.last_run_at),
            "next_run_at": to_text(self.next_run_at),
            "max_retries": 3,
            "retry_delay_seconds": 60,
            "timeout_seconds": 300,
        }

    def to_agent_schedule(self) -> dict[str, Any]:
        """Return the simplified view of an agent_task."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "prompt": self.parameters.get("prompt", ""),
            "cron_expression": self.cron_expression,
            "timezone": self.timezone,
            "enabled": self.enabled,
            "blocked": self.blocked,
            "last_run_at": optional_text(self.last_run_at),
            "next_run_at": to_text(self.next_run_at),
            "created_at": to_text(self.created_at),
        }
