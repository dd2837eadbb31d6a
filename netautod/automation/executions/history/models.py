"""The run of an agent as the desktop client shows it."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from netautod.core.json.values import optional_text


class UsageCounts(Protocol):
    """The turns and tool calls that an agent has used."""

    @property
    def turns(self) -> int: ...

    @property
    def tool_calls(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """A run of an agent.

    `answer`, `iterations` and `tool_calls` are what the executor reported; None, 0 and 0 until then.
    """

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

    def used(self, usage: UsageCounts) -> "AgentRun":
        """Return the run with the counts of the transcript, until the executor reports its own."""
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
