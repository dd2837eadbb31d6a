"""The run of an agent as the desktop client shows it."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from netautod.core.json.values import optional_text


class Used(Protocol):
    """How far an agent has come."""

    @property
    def turns(self) -> int: ...

    @property
    def tool_calls(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """`answer`, `iterations` and `tool_calls` are what the executor said of it; None, 0 and 0 until then."""

    id: str
    task_id: str
    state: str
    prompt: str
    answer: str | None
    iterations: int
    tool_calls: int
    error_message: str | None
    started_at: datetime | None
    completed_at: datetime | None

    def used(self, usage: Used) -> "AgentRun":
        """As the transcript counts it, while the executor has said nothing."""
        return replace(
            self,
            iterations=max(self.iterations, usage.turns),
            tool_calls=max(self.tool_calls, usage.tool_calls),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "agent_id": self.task_id,
            "state": self.state,
            "input_task": self.prompt,
            "final_answer": self.answer,
            "iterations_used": self.iterations,
            "tool_calls_made": self.tool_calls,
            "error_message": self.error_message,
            "started_at": optional_text(self.started_at),
            "completed_at": optional_text(self.completed_at),
        }
